"""Aggregates over a relation: after each step DuckDB's answer over the rows in the window now."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import duckdb
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import sqlwin

STREAM = "CREATE STREAM s (k STRING, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
COUNTED = "SELECT k, COUNT(*) AS n, SUM(v) AS total, MAX(v) AS most"
START = datetime(2024, 1, 1, tzinfo=timezone.utc)
WINDOWS = {
    "[RANGE 3 SECONDS]": "WHERE sec BETWEEN {now} - 3 AND {now}",
    "[NOW]": "WHERE sec = {now}",
    "[ROWS 3]": "QUALIFY ROW_NUMBER() OVER (ORDER BY seq DESC) <= 3",
    "[PARTITION BY k ROWS 2]": "QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY seq DESC) <= 2",
}
ROWS = st.lists(st.tuples(st.sampled_from([None, "a", "b"]), st.integers(0, 8)), max_size=4)


@given(st.sampled_from(list(WINDOWS)), st.lists(st.tuples(ROWS, st.integers(0, 4)), max_size=4))
def test_the_result_is_of_the_rows_in_the_window_now(
    window: str, steps: list[tuple[list[tuple[str | None, int]], int]]
) -> None:
    retain = "" if "ROWS" in window else "RETAIN 1 HOUR"
    query = sqlwin.query(
        f"{STREAM} {COUNTED} FROM s {window} GROUP BY k EMIT CHANGES AS RELATION {retain}"
    )
    taken: list[dict[str, Any]] = []
    now = 0
    for rows, further in steps:
        new = [{"k": k, "v": len(taken) + n, "sec": at} for n, (k, at) in enumerate(rows)]
        taken += new
        query.push("s", [{"k": r["k"], "v": r["v"], "ts": _instant(r["sec"])} for r in new])
        now = max([now + further, *(row["sec"] for row in taken)])
        query.advance(watermark={"s": _instant(now)})
        found = [tuple(row.values())[:4] for row in query.table().to_pylist()]
        assert sorted(found, key=str) == _batch(taken, WINDOWS[window].format(now=now))


def _batch(taken: list[dict[str, Any]], there: str) -> list[tuple[Any, ...]]:
    types = pa.schema([("k", pa.string()), ("v", pa.int64()), ("sec", pa.int64())])
    with duckdb.connect() as connection:
        connection.register("taken", pa.Table.from_pylist(taken, schema=types))
        rows = f"(SELECT * FROM (SELECT *, v AS seq FROM taken) {there})"
        found = connection.sql(f"{COUNTED} FROM {rows} GROUP BY k").fetchall()
    return sorted(found, key=str)


def _instant(seconds: int) -> str:
    return (START + timedelta(seconds=seconds)).isoformat()
