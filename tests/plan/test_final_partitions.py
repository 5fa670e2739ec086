"""Which partitions of a first n are of one instant."""

from __future__ import annotations

import pytest

from sqlwin.plan.ir.nodes import TopN
from sqlwin.plan.properties.facts import operator_of
from sqlwin.plan.properties.final_partitions import becomes_final
from tests.support.sql.joins import query

MINUTES = """SELECT product, window_start, window_end, window_time, COUNT(*) AS n
FROM {}(TABLE orders, DESCRIPTOR(ts), {}) GROUP BY product, window_start, window_end, window_time"""
MINUTE = MINUTES.format("TUMBLE", "INTERVAL '1' MINUTE")
HOUR = MINUTES.format("TUMBLE", "INTERVAL '1' HOUR")
CUMULATED = MINUTES.format("CUMULATE", "INTERVAL '1' MINUTE, INTERVAL '1' HOUR")


def top(rows: str, partition: str, retain: str = "RETAIN 1 HOUR") -> TopN:
    rank = f"ROW_NUMBER() OVER (PARTITION BY {partition} ORDER BY n DESC)"
    found = operator_of(query(f"SELECT * FROM ({rows}) QUALIFY {rank} <= 2 {retain}").plan)
    assert isinstance(found, TopN)
    return found


def twice(rows: str) -> str:
    """A rank over it is none within its windows."""
    return f"{rows} UNION ALL {rows.replace('COUNT(*)', '0')}"


@pytest.mark.parametrize(
    ("rows", "partition", "final"),
    [
        (MINUTE, "window_time", True),
        (twice(MINUTE), "product, window_end", True),
        (twice(MINUTE), "window_start", True),
        (twice(MINUTE), "product", False),
        (twice(CUMULATED), "window_end", True),
        (twice(CUMULATED), "window_start", False),
        (f"{MINUTE} UNION ALL {HOUR}", "window_start", False),
        (f"{MINUTE} UNION ALL {HOUR}", "product, window_end, window_time", True),
        ("SELECT product, ts, value AS n FROM orders", "product", False),
        ("SELECT product, ts, value AS n FROM orders", "ts", True),
    ],
)
def test_an_edge_of_the_window_gives_the_instant(rows: str, partition: str, final: bool) -> None:
    assert becomes_final(top(rows, partition)) is final


def test_without_a_retain_nothing_is_settled() -> None:
    assert not becomes_final(top("SELECT product, ts, value AS n FROM orders", "ts", ""))
