"""Queries in expressions and behind LATERAL over static tables: however the rows come, what is
emitted is DuckDB's answer to the same text."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlwin

DECLARED = """
CREATE STREAM l (id BIGINT, k BIGINT, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE TABLE r (k BIGINT, w BIGINT);
"""
QUERIES = (
    "SELECT id, (SELECT MAX(w) FROM r) AS a, (SELECT COUNT(*) FROM r WHERE r.k = l.k) AS b FROM l",
    "SELECT id FROM l WHERE v > (SELECT AVG(w) FROM r WHERE r.k = l.k)",
    "SELECT id FROM l WHERE v < (SELECT COUNT(w) + COALESCE(SUM(w), 0) FROM r WHERE r.k = l.k)",
    "SELECT id, (SELECT w FROM r WHERE r.k = l.k ORDER BY w DESC NULLS LAST LIMIT 1) AS a FROM l",
    "SELECT id, CASE WHEN EXISTS (SELECT 1 FROM r WHERE r.k = l.k) THEN 1 ELSE 0 END AS a FROM l",
    "SELECT k, SUM(v * (SELECT MIN(w) FROM r WHERE r.k = l.k)) AS a, COUNT(*) AS n FROM l "
    "GROUP BY k HAVING COUNT(*) >= (SELECT COUNT(*) FROM r WHERE r.k = l.k)",
    "SELECT id, n, m FROM l, LATERAL (SELECT COUNT(*) AS n, MAX(w) AS m FROM r WHERE r.k = l.k) t",
    "SELECT id, n FROM l JOIN (SELECT k, COUNT(*) AS n FROM r GROUP BY k) g ON g.k = l.k",
    "SELECT id, v FROM l LEFT JOIN (SELECT DISTINCT k FROM r) g ON g.k = l.k WHERE g.k IS NULL",
    "SELECT id, w, y FROM l LEFT JOIN "
    "(r LEFT JOIN (VALUES (1, 'a'), (2, 'b'), (2, 'c')) AS x(k, y) ON r.k = x.k) ON l.k = r.k",
    "SELECT id, (SELECT MAX(w) FROM r JOIN (VALUES (1), (2)) AS x(j) ON w >= j WHERE r.k = l.k) "
    "AS a FROM l",
    "SELECT id, a FROM l, (SELECT MAX(s) AS a FROM (SELECT SUM(w) AS s FROM r GROUP BY k) x) g",
)
SMALL = st.one_of(st.none(), st.integers(0, 3))
TABLE = st.lists(st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=4), min_size=1, max_size=3)
STREAM = st.lists(st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=3), min_size=1, max_size=3)


@pytest.mark.parametrize("text", QUERIES)
@given(table=TABLE, stream=STREAM)
def test_what_is_emitted_is_the_answer_of_all_rows(
    text: str, table: list[list[tuple[Any, Any]]], stream: list[list[tuple[Any, Any]]]
) -> None:
    """The table comes in pieces, which correct its groups, before the stream."""
    query = sqlwin.query(DECLARED + text)
    for piece in table:
        query.push("r", [{"k": k, "w": w} for k, w in piece])
    rows: list[dict[str, Any]] = []
    for piece in stream:
        came = [
            {"id": len(rows) + at, "k": k, "v": v, "ts": f"2024-01-01T09:00:{len(rows) + at:02}Z"}
            for at, (k, v) in enumerate(piece)
        ]
        rows += came
        query.push("l", came)
    query.drain()
    every = [pair for piece in table for pair in piece]
    assert _emitted(query.results().to_pylist()) == _answer(text, rows, every)


def _emitted(changes: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """The last revisions."""
    last: dict[str, dict[str, Any]] = {change["row_key"]: change for change in changes}
    present = (change for change in last.values() if change["op"] not in ("-D", "-U"))
    own = ("op", "emit", "revision", "row_key")
    return Counter(tuple(v for n, v in row.items() if n not in own) for row in present)


def _answer(
    text: str, rows: list[dict[str, Any]], table: list[tuple[Any, Any]]
) -> Counter[tuple[Any, ...]]:
    types = pa.schema({"id": pa.int64(), "k": pa.int64(), "v": pa.int64(), "ts": pa.string()})
    pairs = [{"k": k, "w": w} for k, w in table]
    with duckdb.connect() as connection:
        connection.register("l", pa.Table.from_pylist(rows, types))
        connection.register(
            "r", pa.Table.from_pylist(pairs, pa.schema({"k": pa.int64(), "w": pa.int64()}))
        )
        return Counter(connection.execute(text).fetchall())
