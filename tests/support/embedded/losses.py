"""Queries whose message store is deleted, for the tests of recovery."""

from __future__ import annotations

from pathlib import Path

from sqlwin.embedded.query import EmbeddedQuery
from tests.support.embedded.orders import MEDIANS, STREAM, order, push, stored, without

KEPT = MEDIANS + "RETAIN INTERVAL '1' DAY"
SOON = MEDIANS + "EMIT LATE ON UPDATE RETAIN INTERVAL '1' DAY"
OVERS = (
    STREAM
    + """
SELECT id, MEDIAN(value) OVER (ORDER BY ts RANGE INTERVAL '1' MINUTE PRECEDING) AS middle
FROM orders EMIT LATE ON UPDATE RETAIN INTERVAL '1' DAY
"""
)
SESSIONS = (
    STREAM
    + """
SELECT window_start, MEDIAN(value) AS middle
FROM orders OVER (ORDER BY ts SESSION INTERVAL '30' SECOND GAP)
GROUP BY window_start, window_end EMIT LATE ON UPDATE RETAIN INTERVAL '1' DAY
"""
)
RANKED = SESSIONS.replace(
    "AS middle",
    "AS middle, RANK() OVER (PARTITION BY window_start, window_end ORDER BY MEDIAN(value)) AS r",
)
BEFORE = [
    order(1, "00:10", 1),
    order(2, "00:20", 3),
    order(3, "01:10", 10),
    order(4, "01:20", 20),
    order(5, "01:30", 60),
]
"""The minute of 0 is emitted (2.0); that of 1 is open."""


def lost(file: Path, sql: str, lazy: bool = False) -> EmbeddedQuery:
    """After BEFORE, a flush and the loss of all messages."""
    query = stored(file, sql)
    push(query, BEFORE)
    query.flush()
    without(file)
    return stored(file, sql, lazy)
