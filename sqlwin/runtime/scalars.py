"""Scalar SQL over columns: DuckDB evaluates what the planner printed.

One engine evaluates scalars on every host, so a query cannot mean two things.
Plain column picks never reach it. A row whose expression fails (a cast of
'abc' to a number) is found by halving and handed back with the reason; the
other rows go on.

>>> frame = pl.DataFrame({"a": ["1", "x", "3"]})
>>> twice = Scalar("2 * CAST(a AS INT)", '2 * CAST("a" AS INTEGER)', pa.int32(), ("a",))
>>> done = evaluate(frame, (("b", twice),))
>>> done.frame["b"].to_list(), [at for at, _ in done.rejected]
([2, 6], [1])
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import duckdb
import polars as pl
import pyarrow as pa

from sqlwin.plan.nodes import Scalar, quoted
from sqlwin.schema import polars_type

AT = "__at"
Columns = tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True)
class Evaluated:
    """frame: the computed columns, and those kept. rejected: (row number, reason)."""

    frame: pl.DataFrame
    rejected: list[tuple[int, str]]


def evaluate(
    frame: pl.DataFrame,
    columns: Columns,
    where: Scalar | None = None,
    keep: tuple[str, ...] = (),
) -> Evaluated:
    """Compute `columns` over the rows where `where` is true; `keep` columns come along."""
    if where is None and all(scalar.is_column for _, scalar in columns):
        picked = [pl.col(scalar.inputs[0]).alias(name) for name, scalar in columns]
        return Evaluated(frame.select(*picked, *keep), [])
    rejected: list[tuple[int, str]] = []
    numbered = frame.with_row_index(AT)
    parts = _halving(numbered, _select(columns, where, keep), rejected)
    typed = [pl.col(name).cast(polars_type(scalar.type)) for name, scalar in columns]
    return Evaluated(pl.concat(parts).select(*typed, *keep), rejected)


def _select(columns: Columns, where: Scalar | None, keep: tuple[str, ...]) -> str:
    computed = [f"{scalar.duckdb} AS {quoted(name)}" for name, scalar in columns]
    picked = ", ".join([*computed, *(quoted(name) for name in keep)])
    return f"SELECT {picked} FROM rows" + (f" WHERE {where.duckdb}" if where else "")


def _halving(
    frame: pl.DataFrame, query: str, rejected: list[tuple[int, str]]
) -> list[pl.DataFrame]:
    try:
        return [_run(frame, query)]
    except duckdb.Error as error:
        if len(frame) == 0:
            raise
        if len(frame) == 1:
            rejected.append((int(frame[AT][0]), _reason(error)))
            return [_run(frame.head(0), query)]
    middle = len(frame) // 2
    halves = (frame[:middle], frame[middle:])
    return [part for half in halves for part in _halving(half, query, rejected)]


def _reason(error: duckdb.Error) -> str:
    return str(error).splitlines()[0]


_local = threading.local()


def connection() -> duckdb.DuckDBPyConnection:
    """This thread's own DuckDB: one thread, UTC."""
    if not hasattr(_local, "connection"):
        _local.connection = duckdb.connect(config={"threads": 1})
        _local.connection.execute("SET TimeZone = 'UTC'")
    return _local.connection  # type: ignore[no-any-return]


def _run(frame: pl.DataFrame, query: str) -> pl.DataFrame:
    con = connection()
    con.register("rows", frame.to_arrow())
    try:
        table: pa.Table = con.sql(query).to_arrow_table()
    finally:
        con.unregister("rows")
    return pl.from_arrow(table)  # type: ignore[return-value]
