"""Frames in DuckDB's words, and its answers as lists."""

from __future__ import annotations

from typing import Any

import duckdb
import polars as pl

from sqlwin.windows import Unit

SPAN = {
    Unit.ROWS: 'ORDER BY "__ts", "__part", "__seq" ROWS BETWEEN {} PRECEDING AND CURRENT ROW',
    Unit.RANGE: 'ORDER BY "__ts" RANGE BETWEEN {} PRECEDING AND CURRENT ROW',
    Unit.GROUPS: 'ORDER BY "__ts" GROUPS BETWEEN {} PRECEDING AND CURRENT ROW',
}


def answers(con: duckdb.DuckDBPyConnection, table: pl.DataFrame, query: str) -> list[Any]:
    con.register("given", table.to_arrow())
    return [value for (value,) in con.sql(query).fetchall()]
