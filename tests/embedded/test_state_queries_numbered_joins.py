"""Joins in ROWS of results, queried: partners by numbers, rows of results by their time."""

from __future__ import annotations

import sqlwin
from sqlwin.embedded.query import EmbeddedQuery

QUERY = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM prices (product STRING, price BIGINT);
CREATE VIEW minutes AS SELECT product, SUM(value) AS total, window_end
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_end EMIT LATE ON UPDATE RETAIN INTERVAL '10' MINUTE;
SELECT minutes.product, total, price FROM minutes OVER (ROWS 1 PRECEDING)
  LEFT JOIN prices OVER (ROWS 1 PRECEDING) ON minutes.product = prices.product
"""


def _fed() -> EmbeddedQuery:
    q = sqlwin.query(QUERY)
    q.push("prices", [{"product": "tea", "price": n} for n in (1, 2)])
    for minute, value in ((0, 1), (2, 2), (3, 4), (1, 16)):
        if minute == 1:
            q.advance(watermark={"orders": "2024-01-01T09:05:00Z"})
        at = f"2024-01-01T09:{minute:02d}:10Z"
        q.push("orders", [{"product": "tea", "value": value, "ts": at}])
    return q


def test_windows_are_of_numbers() -> None:
    q = _fed()
    rows = q.windows().to_pylist()
    found = [(r["side"], r["window_start"], r["window_end"], r["rows"], r["state"]) for r in rows]
    assert found == [
        ("right", 1, 1, 1, "full"),
        ("right", 2, 2, 1, "full"),
        ("left", 1, 1, 1, "full"),
        ("left", 2, 2, 1, "full"),
        ("left", 3, 3, 0, "open"),
        ("left", 4, 4, 0, "open"),
    ]
    assert q.windows(3, 4).num_rows == 2


def test_messages_of_a_stream_have_no_time() -> None:
    q = _fed()
    rows = q.messages().to_pylist()
    assert [r["price"] for r in rows if r["event_time"] is None] == [1, 2]
    assert [r["total"] for r in rows if r["event_time"] is not None] == [1, 16, 2, 4]
    some = q.messages("2024-01-01T09:02:00Z", end_time="2024-01-01T09:03:00Z")
    assert some["total"].to_pylist() == [16, 2]
