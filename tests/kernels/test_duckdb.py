"""The same aggregates by DuckDB, over groups and over frames."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.kernels.folds import Fold
from sqlwin.kernels.frames import frames_of
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from tests.support.draws import one_in
from tests.support.kernels.brute import Row, bound, frame_of, same, size, tables
from tests.support.kernels.duck import SPAN, answers

pytestmark = pytest.mark.drawn

# DuckDB refuses infinities in its variances, its AVG of decimals is a double, and the
# sum of BIGINTs is 128 bits wide: those are left to the plain version
FINITE = ("i8", "i16", "i32", "f64", "d5", "s", "y", "b", "date", "t")
CALLS: list[tuple[str, str]] = [
    *((name, column) for name in ("count", "min", "max", "first", "last") for column in FINITE),
    *(("sum", column) for column in ("i8", "i16", "i32", "f64", "d5")),
    *(("avg", column) for column in ("i8", "i16", "i32", "f64")),
    *((name, "i32") for name in ("stddev_samp", "stddev_pop", "var_samp", "var_pop")),
    *((name, "b") for name in ("bool_and", "bool_or")),
]
NAMES = ["-".join(call) for call in CALLS]
IN_DUCKDB = {"first": "first_value", "last": "last_value"}


def close(got: pl.Series, expected: list[Any], scale: float) -> None:
    assert len(got) == len(expected)
    for mine, theirs in zip(got.to_list(), expected, strict=True):
        assert same(mine, theirs, scale), (mine, theirs)


def comparable(fold: Fold, rows: list[Row]) -> bool:
    """Without infinities, NaN and 1e18 in sums of floats, where rounding goes its own way."""
    if fold.call.function not in ("sum", "avg"):
        return True
    values = [row[fold.call.args[0]] for row in rows if row[fold.call.args[0]] is not None]
    return all(math.isfinite(value) for value in values)


@pytest.mark.parametrize(("function", "column"), CALLS, ids=NAMES)
def test_groups(con: duckdb.DuckDBPyConnection, function: str, column: str) -> None:
    fold = bound(function, (column,), "w")
    order = ' ORDER BY "__ts", "__part", "__seq"' if function in ("first", "last") else ""
    query = f"SELECT {function}({column}{order}) FILTER (w) FROM given GROUP BY key ORDER BY key"

    @one_in(6)
    @given(tables((column,)))
    def check(rows: list[Row]) -> None:
        table = frame_of(rows, (column,))
        got = fold.finish(table.group_by("key", maintain_order=True).agg(fold.lift()))
        if comparable(fold, rows):
            close(got, answers(con, table, query), size(rows, column))

    check()


@pytest.mark.parametrize(("function", "column"), CALLS, ids=NAMES)
def test_frames(con: duckdb.DuckDBPyConnection, function: str, column: str) -> None:
    fold = bound(function, (column,), None)
    name = IN_DUCKDB.get(function, function)

    @one_in(6)
    @given(
        tables((column,)), st.sampled_from([Unit.RANGE, Unit.ROWS, Unit.GROUPS]), st.integers(0, 9)
    )
    def check(rows: list[Row], unit: Unit, preceding: int) -> None:
        if unit is not Unit.ROWS and function in ("first", "last"):
            return  # which of several peers is first, DuckDB does not say
        table = frame_of(rows, (column,))
        frames = frames_of(
            table["key"].to_numpy(), table["__ts"].to_numpy(), Frame(unit, preceding)
        )
        span = f"PARTITION BY key {SPAN[unit].format(preceding)}"
        query = f"SELECT {name}({column}) OVER ({span}) FROM given"
        query += ' ORDER BY key, "__ts", "__part", "__seq"'
        if comparable(fold, rows):
            close(fold.slide(table, frames), answers(con, table, query), size(rows, column))

    check()


def test_arg_extremes(con: duckdb.DuckDBPyConnection) -> None:
    values = {"v": list(range(8)), "y": [3.0, None, 1.0, math.nan, -2.0, 7.5, None, 0.5]}
    table = pl.DataFrame(values | {"__ts": range(8), "__part": [0] * 8, "__seq": range(8)})
    table = table.with_columns(pl.col("v").cast(pl.Int8).alias("i8"), pl.col("y").alias("f64"))
    for function in ("arg_min", "arg_max"):
        fold = bound(function, ("i8", "f64"), None)
        got = fold.finish(table.select(fold.lift())).to_list()
        assert got == answers(con, table, f"SELECT {function}(i8, f64) FROM given")
