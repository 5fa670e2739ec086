"""Rows for a stream `s`, and what a query over it emits of them, push by push."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pyarrow as pa

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.instants import SECOND, format_instant
from sqlwin.sql import script
from tests.properties.deliveries import START
from tests.properties.hosts import Host

DELAY = 3
STREAM = """CREATE STREAM s (id BIGINT, k STRING, v BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '3' SECOND);
"""
Row = tuple[str | None, int, int]
Push = list[Row]
Answers = Counter[tuple[Any, ...]]
"""Rows, each as often as it is there."""


TABLE = "CREATE TABLE names (id BIGINT, k STRING, v BIGINT);\n"


def emitted(
    text: str, pushes: list[Push], host: Host, names: list[dict[str, Any]] | None = None
) -> list[Answers]:
    """After each push, and after the end of input: what it emitted. names: of a static table."""
    declared = STREAM if names is None else STREAM + TABLE
    lives, out, first = host(script(declared + text)), [], 0
    if names is not None:
        next(lives).push("names", names)
    for push in pushes:
        query = next(lives)
        query.push("s", rows_of(push, first))
        first += len(push)
        out.append(_values(query))
    query = next(lives)
    query.drain()
    return [*out, _values(query)]


def rows_of(push: Push, first: int) -> list[dict[str, Any]]:
    return [
        {"id": first + at, "k": k, "v": v, "ts": format_instant(START + ts * SECOND)}
        for at, (k, v, ts) in enumerate(push)
    ]


def _values(query: EmbeddedQuery) -> Answers:
    found = pl.DataFrame(pl.from_arrow(query.results()))
    assert query.expired().num_rows == 0
    assert set(found["op"]) <= {"+I"}
    return Counter(found.drop("op", "emit", "revision", "row_key").rows())


def table(rows: Push) -> pa.Table:
    """For DuckDB: `ts` in seconds."""
    columns = {"id": list(range(len(rows)))}
    named = {name: [row[at] for row in rows] for at, name in enumerate(("k", "v", "ts"))}
    schema = pa.schema([("id", pa.int64()), ("k", pa.string()), ("v", pa.int64())])
    return pa.table(columns | named, schema.append(pa.field("ts", pa.int64())))
