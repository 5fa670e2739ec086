"""SAMZA-552's joins word for word: outputs in its order, also in one emission."""

from __future__ import annotations

from typing import Any

import pytest

import sqlwin

STREAMS = """
CREATE STREAM Orders (offset BIGINT, value BIGINT, id BIGINT, time TIMESTAMP,
  WATERMARK FOR time AS time, OFFSET offset);
CREATE STREAM Shipments (offset BIGINT, cost BIGINT, id BIGINT, time TIMESTAMP,
  WATERMARK FOR time AS time, OFFSET offset);
"""
ROWS = """SELECT id, value, cost FROM Shipments JOIN Orders OVER (ROWS 3 PRECEDING)
ON Orders.id = Shipments.id EMIT EARLY EVERY 1 MINUTE"""
TIME = """SELECT id, value, cost FROM Shipments JOIN Orders OVER (ORDER BY time
RANGE '2' min PRECEDING) ON Orders.id = Shipments.id EMIT EARLY EVERY 2 MINUTE"""
ORDERS = [  # arrives, offset, value, id, time
    ("09:00:00", 1, 0, 1, "08:59:10"),
    ("09:00:59", 2, 5, 3, "09:00:00"),
    ("09:02:01", 3, 9, 9, "08:59:30"),
]
SHIPMENTS = [  # arrives, offset, cost, id, time
    ("09:00:00", 1000, 0, 3, "09:00:10"),
    ("09:00:10", 1001, 2, 1, "09:00:10"),
    ("09:01:01", 1002, 3, 1, "09:01:10"),
    ("09:01:01", 1003, 1, 9, "09:01:20"),
]


def instant(clock: str) -> str:
    return f"2015-02-01T{clock}Z"


def arrived(rows: list[tuple[Any, ...]], clock: str, value: str) -> list[dict[str, Any]]:
    return [
        {"offset": offset, value: number, "id": id_, "time": instant(time)}
        for at, offset, number, id_, time in rows
        if at == clock
    ]


@pytest.mark.parametrize("text", [ROWS, TIME])
def test_pairs_go_out_in_the_order_of_the_design(text: str) -> None:
    query = sqlwin.query(STREAMS + text)
    for clock in sorted({at for at, *_ in ORDERS + SHIPMENTS}):
        query.advance(now=instant(clock))
        query.push("Orders", arrived(ORDERS, clock, "value"))
        query.push("Shipments", arrived(SHIPMENTS, clock, "cost"))
    query.advance(now=instant("09:04:00"))
    emissions = query.results().select(["id", "value", "cost"]).to_pylist()
    pairs = [tuple(row.values()) for row in emissions]
    assert pairs == [(3, 5, 0), (1, 0, 2), (1, 0, 3), (9, 9, 1)]
