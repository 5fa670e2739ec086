"""A session is found with its place among the sessions of its window that a drain would emit."""

from __future__ import annotations

from typing import Any

import sqlwin

QUERY = """
CREATE STREAM s (k STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts);
SELECT k, n, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS place
FROM (SELECT k, window_start, window_end, COUNT(*) AS n
      FROM s OVER (PARTITION BY k ORDER BY ts SESSION INTERVAL '2' SECOND GAP)
      GROUP BY k, window_start, window_end RETAIN 1 ROWS)
"""


def rows(*listed: tuple[str, int]) -> list[dict[str, Any]]:
    return [{"k": k, "ts": f"2024-01-01T09:00:{second:02}Z"} for k, second in listed]


def test_one_that_is_retired_keeps_its_place() -> None:
    q = sqlwin.query(QUERY)
    q.push("s", rows(("a", 0), ("a", 0), ("c", 7)))
    assert [(r["k"], r["place"]) for r in q.results().to_pylist()] == [("a", 1)]
    q.push("s", rows(("a", 7), ("b", 0)))  # the session of a has one row newer, and goes
    parsed = {r["k"]: r["place"] for r in q.windows(end="2024-01-01T09:00:01Z").to_pylist()}
    q.drain()
    listed = {r["k"]: r["place"] for r in q.results().to_pylist() if r["k"] == "b"}
    assert listed == {"b": 2}
    assert parsed["b"] == 2
