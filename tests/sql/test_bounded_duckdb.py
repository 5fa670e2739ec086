"""Static tables, VALUES and series by themselves and in joins: the last revisions are DuckDB's."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlwin

NUMBER = st.none() | st.integers(-2, 3)
WORD = st.none() | st.sampled_from(["a", "b", "c"])
ROWS = st.lists(st.tuples(NUMBER, WORD), min_size=1, max_size=8)

QUERIES = (
    "SELECT id, name FROM {values} WHERE id > 0",
    "SELECT name, COUNT(*) AS n, SUM(id) AS total FROM {values} GROUP BY name",
    "SELECT name, COUNT(*) AS n FROM {values} GROUP BY name HAVING COUNT(*) > 1",
    "SELECT DISTINCT name FROM {values}",
    "SELECT v.id, w.name FROM {values} JOIN {others} ON v.id = w.id",
    "SELECT v.id, w.name FROM {values} LEFT JOIN {others} ON v.id = w.id AND w.name <> 'a'",
    "SELECT v.id FROM {values} WHERE (v.id, v.name) IN (SELECT w.id, w.name FROM {others})",
    "SELECT v.id FROM {values} WHERE v.id = ANY (SELECT w.id FROM {others})",
    "SELECT v.id FROM {values} WHERE v.id <> ALL (SELECT w.id FROM {others} WHERE w.name = 'b')",
    "SELECT v.name, n FROM {values} JOIN {series} ON n <= v.id",
    "SELECT n, COUNT(*) AS many FROM {series} JOIN {values} ON n = v.id GROUP BY n",
    "SELECT id FROM {values} UNION ALL SELECT n FROM {series}",
)


@pytest.mark.parametrize("query", QUERIES)
@given(rows=ROWS, others=ROWS, first=st.integers(-3, 3), last=st.integers(-3, 3))
def test_rows_of_the_text(query: str, rows: Any, others: Any, first: int, last: int) -> None:
    named = {"values": _values(rows, "v"), "others": _values(others, "w")}
    ours = query.format(**named, series=f"GENERATE_SERIES({first}, {last}) AS g(n)")
    theirs = query.format(**named, series=f"generate_series({first}, {last}) AS g(n)")
    assert _answer(sqlwin.query(ours)) == _duckdb(theirs)


@pytest.mark.parametrize("query", [each for each in QUERIES if "{series}" not in each])
@given(rows=ROWS, others=ROWS)
def test_static_tables(query: str, rows: Any, others: Any) -> None:
    tables = "CREATE TABLE v (id BIGINT, name STRING); CREATE TABLE w (id BIGINT, name STRING);"
    running = sqlwin.query(tables + query.format(values="v", others="w"))
    for name, own in (("w", others), ("v", rows)):
        if name in running.streams:
            running.push(name, [{"id": id_, "name": word} for id_, word in own])
    named = {"values": _values(rows, "v"), "others": _values(others, "w")}
    assert _answer(running) == _duckdb(query.format(**named))


def _values(rows: Any, name: str) -> str:
    listed = ", ".join(f"({_text(id_, 'BIGINT')}, {_text(word, 'STRING')})" for id_, word in rows)
    return f"(VALUES {listed}) AS {name}(id, name)"


def _text(value: Any, type_: str) -> str:
    return f"CAST({'NULL' if value is None else repr(value)} AS {type_})"


def _answer(query: Any) -> Counter[tuple[Any, ...]]:
    query.drain()
    kept = ("op", "emit", "revision", "row_key")
    rows = query.table().to_pylist()
    return Counter(tuple(v for name, v in row.items() if name not in kept) for row in rows)


def _duckdb(query: str) -> Counter[tuple[Any, ...]]:
    return Counter(duckdb.connect().execute(query).fetchall())
