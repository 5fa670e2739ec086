"""The in-process host: what its calls take, refuse and return."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timezone
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sqlwin
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.schema import TIMESTAMP

STREAM = """
CREATE STREAM orders (
  product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
);
"""
PER_MINUTE = """
SELECT product, window_start, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start
"""


def row(ts: str, value: int | None = 1, product: str = "tea") -> dict[str, object]:
    return {"product": product, "value": value, "ts": f"2024-01-01T{ts}Z"}


def totals(table: pa.Table) -> list[tuple[object, ...]]:
    return [
        tuple(r.values()) for r in table.select(["total", "op", "emit", "revision"]).to_pylist()
    ]


@pytest.fixture
def query() -> EmbeddedQuery:
    return sqlwin.query(STREAM + PER_MINUTE)


def test_results_are_what_came_since_the_last_call(query: EmbeddedQuery) -> None:
    query.push("orders", [row("09:00:10"), row("09:00:20", 2)])
    assert query.results().num_rows == 0
    query.push("orders", [row("09:01:05")])
    assert totals(query.results()) == [(3, "+I", "full", 0)]
    assert query.results().num_rows == 0
    assert query.results().column_names[-4:] == ["op", "emit", "revision", "row_key"]


def test_a_late_row_corrects_after_ten_seconds(query: EmbeddedQuery) -> None:
    query.advance(now=0)
    query.push("orders", [row("09:00:10")])
    query.push("orders", [row("09:01:10")])
    query.push("orders", [row("09:00:50", 5)])
    query.advance(now="1970-01-01T00:00:09.999999Z")
    assert totals(query.results()) == [(1, "+I", "full", 0)]
    query.advance(now=datetime(1970, 1, 1, 0, 0, 10, tzinfo=timezone.utc))
    assert totals(query.results()) == [(6, "+U", "late", 1)]
    assert query.table()["total"].to_pylist() == [6]


def test_time_never_goes_back(query: EmbeddedQuery) -> None:
    query.push("orders", [row("09:00:10")])
    query.advance(watermark={"orders": "2024-01-01T09:01:00Z"})
    query.advance(watermark={"orders": "2024-01-01T08:00:00Z"})
    query.advance(now=50)
    query.advance(now=10)
    assert totals(query.results()) == [(1, "+I", "full", 0)]


def test_what_could_not_be_processed_is_reported(query: EmbeddedQuery) -> None:
    query.push("orders", [{"product": "tea", "value": "two", "ts": "2024-01-01T09:00:00Z"}])
    query.push("orders", [{"product": "tea", "value": 2, "ts": None}, row("10:00:00")])
    query.push("orders", [row("08:00:00", 7)])
    errors = query.expired().to_pylist()
    assert [r["reason"] for r in errors] == [
        "malformed: value is 'two', not a BIGINT",
        "no event time: ts is NULL",
        "expired",
    ]
    assert errors[2]["ts"] == datetime(2024, 1, 1, 8, tzinfo=timezone.utc)
    assert errors[2]["watermark"] == datetime(2024, 1, 1, 9, 59, 55, tzinfo=timezone.utc)
    assert [r["position"] for r in errors] == ["0:0", "0:1", "0:3"]
    assert errors[2]["row"] == '{"product": "tea", "value": 7, "ts": "2024-01-01T08:00:00Z"}'


def test_rows_of_every_form(query: EmbeddedQuery) -> None:
    frame = pl.DataFrame([row("09:00:10")])
    for rows in (frame, frame.to_arrow(), frame.to_arrow().to_batches()[0], frame.to_pandas()):
        query.push("orders", rows)
    query.push("orders", pd.DataFrame({"ts": pd.to_datetime(["2024-01-01T09:00:10Z"])}))
    query.drain()
    found = query.table().to_pylist()
    assert {(r["product"], r["total"]) for r in found} == {("tea", 4), (None, None)}


def test_calls_that_cannot_be_taken(query: EmbeddedQuery) -> None:
    with pytest.raises(sqlwin.InputError, match="no stream 'payments'; the query reads 'orders'"):
        query.push("payments", [])
    with pytest.raises(sqlwin.InputError, match="has no column colour"):
        query.push("orders", [{"colour": "red"}])
    with pytest.raises(sqlwin.InputError, match="'noon' is not an ISO 8601 instant"):
        query.advance(now="noon")
    with pytest.raises(sqlwin.InputError, match="one SELECT"):
        sqlwin.query(STREAM)


def test_a_query_that_failed_says_so_and_takes_nothing(query: EmbeddedQuery) -> None:
    query.push("orders", [row("09:00:10", 2**62), row("09:00:11", 2**62)])
    with pytest.raises(sqlwin.RunError, match=r"total leaves the range .* orders at position 1"):
        query.drain()
    with pytest.raises(sqlwin.RunError, match="takes nothing more"):
        query.push("orders", [row("09:00:12")])


def test_streams_from_python() -> None:
    schema = pa.schema([("product", pa.string()), ("value", pa.int64()), ("ts", TIMESTAMP)])
    query = sqlwin.query(PER_MINUTE, streams={"orders": schema})
    query.push("orders", [row("09:00:10"), row("09:01:00")])
    assert totals(query.results()) == [(1, "+I", "full", 0)]
    delayed = sqlwin.stream(schema, ts="ts", delay="1 minute")
    query = sqlwin.query(PER_MINUTE, streams={"orders": delayed})
    query.push("orders", [row("09:00:10"), row("09:01:00")])
    assert query.results().num_rows == 0
    query.push("orders", [row("09:02:00")])
    assert totals(query.results()) == [(1, "+I", "full", 0)]


def test_a_declared_offset_is_the_position() -> None:
    text = STREAM.replace("(\n", "(id BIGINT, OFFSET id,\n", 1)
    query = sqlwin.query(
        text + "SELECT id, COUNT(*) OVER (ORDER BY ts ROWS 1 PRECEDING) AS n FROM orders"
    )
    query.push("orders", [{**row("09:00:10"), "id": 7}, {**row("09:00:10"), "id": 3}])
    query.push("orders", [{**row("09:00:10"), "id": None}])
    query.drain()
    found = {r["id"]: (r["n"], r["row_key"]) for r in query.table().to_pylist()}
    assert found == {3: (1, '["orders",0,3]'), 7: (2, '["orders",0,7]')}
    assert query.expired()["reason"].to_pylist() == ["no position: id is NULL"]


def test_a_query_without_a_window_passes_rows_on() -> None:
    query = sqlwin.query(STREAM + "SELECT product, value * 2 AS twice FROM orders WHERE value > 1")
    query.push("orders", [row("09:00:10", 1), row("09:00:10", 2)])
    [found] = query.results().to_pylist()
    assert (found["twice"], found["op"], found["row_key"]) == (4, "+I", '["orders",0,1]')


def test_a_drained_window_that_goes_on_is_revised(query: EmbeddedQuery) -> None:
    query.push("orders", [row("09:00:10")])
    query.drain()
    query.push("orders", [row("09:00:20", 2)])
    query.push("orders", [row("09:02:00")])
    query.timeout(10_000_000)  # what came after an end goes by the late policy
    assert totals(query.results()) == [(1, "+I", "full", 0), (3, "+U", "late", 1)]


@pytest.mark.parametrize("instant", [1.5, True, None, date(2024, 1, 1)])
def test_what_is_no_instant(query: EmbeddedQuery, instant: Any) -> None:
    with pytest.raises(sqlwin.InputError, match="is no instant; legal is"):
        query.advance(watermark={"orders": instant})


def test_a_stream_from_python_keeps_its_options() -> None:
    known = sqlwin.stream(pa.schema([("a", pa.int64())]))
    partitioned = replace(known, options=(("partitions", "4"),))
    with pytest.raises(sqlwin.QueryError, match="s has 4 partitions"):
        sqlwin.query("SELECT SUM(a) FROM s OVER (ROWS 2 PRECEDING)", streams={"s": partitioned})


@pytest.mark.parametrize("delay", ["5 min", "5min", "4 minutes 60 s", "0.5 m, 270 seconds"])
def test_a_delay_is_a_duration_as_in_a_query(delay: str) -> None:
    assert sqlwin.stream(pa.schema([("a", pa.int64())]), delay=delay).delay == 300_000_000


@pytest.mark.parametrize("delay", ["5 secondsss", "-5 seconds", "5", "", "1 month"])
def test_what_is_no_delay(delay: str) -> None:
    with pytest.raises(sqlwin.InputError, match="legal is '5 seconds', '1 hour'"):
        sqlwin.stream(pa.schema([("a", pa.int64())]), delay=delay)


def test_streams_from_python_are_checked() -> None:
    number = pa.int64()
    with pytest.raises(sqlwin.InputError, match="sqlwin's own: __a"):
        sqlwin.stream(pa.schema([("__a", number)]))
    with pytest.raises(sqlwin.InputError, match="the column a is there twice"):
        sqlwin.stream(pa.schema([("a", number), ("A", number)]))
    with pytest.raises(sqlwin.InputError, match="no column 'b'; there are a"):
        sqlwin.stream(pa.schema([("a", number)]), offset="b")
    with pytest.raises(sqlwin.InputError, match=r"stream 's' is a pyarrow\.Schema or"):
        sqlwin.query("SELECT a FROM s", streams={"s": 5})  # type: ignore[dict-item]
