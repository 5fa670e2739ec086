"""Windows in ROWS over results are queried by the numbers of rows, and rows by their event time."""

from __future__ import annotations

import pytest

import sqlwin
from sqlwin.embedded.query import EmbeddedQuery

DECLARED = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE VIEW minutes AS
SELECT product, window_end AS at, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end EMIT LATE ON UPDATE RETAIN INTERVAL '10' MINUTE;
"""
HOPS = """
SELECT product, window_start, window_end, SUM(total) AS total
FROM minutes OVER (PARTITION BY product ROWS 2 PRECEDING ADVANCE BY 2 ROWS) GROUP BY product
"""
SESSIONS = """
SELECT product, window_start, window_end, SUM(total) AS total
FROM minutes OVER (PARTITION BY product SESSION 1 ROWS GAP) GROUP BY product
"""


def _fed(select: str) -> EmbeddedQuery:
    q = sqlwin.query(DECLARED + select)
    for minute, value in ((0, 1), (2, 2), (3, 4), (20, 8), (1, 16)):
        if minute == 20:
            q.advance(watermark={"orders": "2024-01-01T09:05:00Z"})
        at = f"2024-01-01T09:{minute:02d}:10Z"
        if minute < 20:
            q.push("orders", [{"product": "tea", "value": value, "ts": at}])
    return q


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        (HOPS, [(1, 3, 17, "full"), (3, 5, 6, "full")]),
        (SESSIONS, [(1, 5, 23, "open")]),
    ],
)
def test_windows(select: str, expected: list[tuple[int, int, int, str]]) -> None:
    q = _fed(select)
    names = ("window_start", "window_end", "total", "state")
    assert [tuple(row[n] for n in names) for row in q.windows().to_pylist()] == expected
    assert [tuple(row[n] for n in names) for row in q.windows(3, 4).to_pylist()] == expected[-1:]
    assert len(q.fetch("tea")) == len(expected) and len(q.fetch("milk")) == 0


@pytest.mark.parametrize("select", [HOPS, SESSIONS])
def test_messages_are_rows_by_their_time(select: str) -> None:
    q = _fed(select)
    assert q.messages()["total"].to_pylist() == [1, 16, 2, 4]
    some = q.messages("2024-01-01T09:02:00Z", end_time="2024-01-01T09:03:00Z")
    assert some["total"].to_pylist() == [16, 2]
