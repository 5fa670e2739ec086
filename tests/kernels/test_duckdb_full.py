"""Percentiles, modes, distinct sums and collections by DuckDB, over groups and frames."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.aggregates import signature
from sqlwin.kernels.folds import Fold, fold
from sqlwin.kernels.frames import Frames, frames_of
from sqlwin.schema import Order
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from tests.support.draws import one_in
from tests.support.kernels.brute import VALUES, Row, frame_of, same, size, tables
from tests.support.kernels.duck import SPAN, answers

pytestmark = pytest.mark.drawn

ORDERED = ("i8", "i64", "f64", "d5", "d26", "s", "date", "t", "b")
AS_DOUBLE = dict.fromkeys(("i8", "i64", "f64", "d5", "d26"), "::DOUBLE")
"""A discrete percentile of numbers is one."""
PLACE = 'ORDER BY "__ts", "__part", "__seq"'
Call = tuple[str, str, dict[str, Any], str]
# (function, column, of the fold, in DuckDB); its median of decimals is a decimal
CALLS: list[Call] = [
    *(("median", c, {}, f"median({c}::DOUBLE)") for c in ("i8", "f32", "f64", "d5")),
    *(
        ("percentile_cont", c, {"params": (p,)}, f"quantile_cont({c}::DOUBLE, {p})")
        for c in ("i8", "f64", "d26")
        for p in (0.0, 0.07, 0.25, 0.9, 1.0)
    ),
    *(
        ("percentile_disc", c, {"params": (p,)}, f"quantile_disc({c}{AS_DOUBLE.get(c, '')}, {p})")
        for c in ORDERED
        for p in (0.0, 0.07, 0.25, 0.9, 1.0)
    ),
    *(("count", c, {"distinct": True}, f"count(DISTINCT {c})") for c in ORDERED),
    *(("sum", c, {"distinct": True}, f"sum(DISTINCT {c})") for c in ("i8", "f64", "d5")),
    *(("avg", c, {"distinct": True}, f"avg(DISTINCT {c})") for c in ("i8", "f64")),
]
GROUPED: list[Call] = [
    ("percentile_cont", "i8", {"params": (0.3,), "order": (Order("i8", descending=True),)},
     "percentile_cont(0.3) WITHIN GROUP (ORDER BY i8 DESC)"),
    ("percentile_disc", "s", {"params": (0.3,), "order": (Order("s", descending=True),)},
     "percentile_disc(0.3) WITHIN GROUP (ORDER BY s DESC)"),
    *(("mode", c, {}, f"mode({c} {PLACE})") for c in ORDERED),
    ("collect_list", "s", {}, f"coalesce(list(s {PLACE}) FILTER (w AND s IS NOT NULL), [])"),
    ("string_agg", "s", {"params": ("-",)}, f"string_agg(s, '-' {PLACE})"),
    ("covar_samp", "i8", {"args": ("i8", "f64")}, "covar_samp(i8, f64)"),
    ("covar_pop", "i8", {"args": ("i8", "f64")}, "covar_pop(i8, f64)"),
]  # fmt: skip
EACH = one_in(4)


def bound(call: Call, where: str | None) -> Fold:
    function, column, more, _ = call
    args = more.get("args", (column,))
    types = tuple(VALUES[arg][0] for arg in args)
    known = signature(function)
    assert known is not None
    rest = {name: value for name, value in more.items() if name != "args"}
    return fold("out", function, args, types, known.result(types), where, **rest)


def tame(call: Call, rows: list[Row]) -> bool:
    """DuckDB adds floats in another order, refuses infinite covariances, mixes -0.0 in.

    Between values whose difference is infinite Spark's percentile is NaN or infinite, DuckDB's not.
    """
    if call[0] in ("median", "percentile_cont"):
        known = [float(row[call[1]]) for row in rows if row.get(call[1]) is not None]
        return all(value != value or abs(value) < 8e307 for value in known)
    if call[0] not in ("sum", "avg", "covar_samp", "covar_pop"):
        return True
    values = [row[arg] for row in rows for arg in ("f64",) if row.get(arg) is not None]
    return all(math.isfinite(value) and abs(value) < 1e17 for value in values)


def slides(call: Call, rows: list[Row]) -> bool:
    """DuckDB keeps the values of a frame in order for percentiles, and ends with `std::exception`
    where NaN is among them; over groups it takes NaN, so there each frame is a group."""
    if call[0] not in ("median", "percentile_cont", "percentile_disc"):
        return True
    values = [row.get(call[1]) for row in rows]
    return not any(isinstance(value, float) and math.isnan(value) for value in values)


def apart(table: pl.DataFrame, frames: Frames) -> pl.DataFrame:
    """The rows of each frame, under its number."""
    spans = zip(frames.lo.tolist(), frames.hi.tolist(), strict=True)
    held = [table[lo:hi].with_columns(frame=pl.lit(at)) for at, (lo, hi) in enumerate(spans)]
    return pl.concat(held) if held else table.with_columns(frame=pl.lit(0))


def agree(got: list[Any], expected: list[Any], scale: float) -> None:
    assert len(got) == len(expected)
    for mine, theirs in zip(got, expected, strict=True):
        if isinstance(mine, float) and mine == 0 and isinstance(theirs, float):
            mine = abs(mine)
        if isinstance(mine, int) and isinstance(theirs, int):
            assert mine == theirs
        else:
            assert same(mine, theirs, scale), (mine, theirs)


def named(call: Call) -> str:
    return call[3].replace(" ", "")


@pytest.mark.parametrize("call", [*CALLS, *GROUPED], ids=named)
def test_groups(con: duckdb.DuckDBPyConnection, call: Call) -> None:
    folded = bound(call, "w")
    expression = call[3] if "FILTER" in call[3] else f"{call[3]} FILTER (w)"
    query = f"SELECT {expression} FROM given GROUP BY key ORDER BY key"

    @EACH
    @given(tables(folded.call.args))
    def check(rows: list[Row]) -> None:
        table = frame_of(rows, folded.call.args)
        got = folded.finish(table.group_by("key", maintain_order=True).agg(folded.lift()))
        if tame(call, rows):
            scale = math.prod(max(size(rows, arg), 1.0) for arg in folded.call.args)
            agree(got.to_list(), answers(con, table, query), scale)

    check()


@pytest.mark.parametrize("call", CALLS, ids=named)
def test_frames(con: duckdb.DuckDBPyConnection, call: Call) -> None:
    folded = bound(call, None)

    @EACH
    @given(
        tables(folded.call.args),
        st.sampled_from([Unit.RANGE, Unit.ROWS, Unit.GROUPS]),
        st.integers(0, 9),
    )
    def check(rows: list[Row], unit: Unit, preceding: int) -> None:
        table = frame_of(rows, folded.call.args)
        runs, ts = table["key"].to_numpy(), table["__ts"].to_numpy()
        frames = frames_of(runs, ts, Frame(unit, preceding))
        span = f"PARTITION BY key {SPAN[unit].format(preceding)}"
        query = f"SELECT {call[3]} OVER ({span}) FROM given"
        query += ' ORDER BY key, "__ts", "__part", "__seq"'
        if not tame(call, rows):
            return
        if slides(call, rows):
            expected = answers(con, table, query)
        else:
            query = f"SELECT {call[3]} FROM given GROUP BY frame ORDER BY frame"
            expected = answers(con, apart(table, frames), query)
        agree(folded.slide(table, frames).to_list(), expected, size(rows, call[1]))

    check()
