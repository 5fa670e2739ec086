"""A session in ROWS that is full takes no message any more, and is not found by state queries."""

from __future__ import annotations

import pytest

import sqlwin

QUERY = """
CREATE STREAM s (k STRING, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
SELECT k, window_start, MODE(v) AS most FROM s OVER (PARTITION BY k SESSION 2 ROWS GAP)
GROUP BY k, window_start, window_end
"""


@pytest.mark.parametrize("others", range(3, 7))
def test_only_open_sessions_are_found(others: int) -> None:
    q = sqlwin.query(QUERY)
    at = "2024-01-01T09:00:00Z"
    q.push("s", [{"k": k, "v": 1, "ts": at} for k in ["a", *"b" * others]])
    assert q.results()["k"].to_pylist() == ["a"]
    assert q.windows().select(["k", "state"]).to_pylist() == [{"k": "b", "state": "open"}]
