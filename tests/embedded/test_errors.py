"""The error stream of the embedded host: every row that is not processed, whole, and counted."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

import sqlwin
from tests.support.embedded.orders import MEDIANS, STREAM, Row, emissions, order

AT = datetime(2024, 1, 1, 9, 10, tzinfo=timezone.utc)
BAD: list[Row] = [
    order(1, "10:00"),
    {"id": 2, "value": "two", "ts": "2024-01-01T09:10:00Z"},
    {"id": 3, "value": 3, "ts": None},
    {"id": None, "value": 4, "ts": "2024-01-01T09:10:00Z"},
]
REASONS = {"malformed": 1, "no event time": 1, "no position": 1, "expired": 2}


def fed(sql: str) -> Any:
    query = sqlwin.query(sql)
    query.push("orders", BAD)
    query.push("orders", [order(5, "00:00", 5), order(6, "00:01", 6)])
    return query


@pytest.mark.parametrize("policy", ["", "EXPIRED INTO late_orders"])
def test_every_row_that_is_not_processed_is_reported_whole(policy: str) -> None:
    query = fed(MEDIANS + policy)
    errors = query.expired().to_pylist()
    assert list(errors[0]) == ["stream", "reason", "ts", "watermark", "position", "row"]
    assert [(r["reason"], r["position"], r["ts"], r["watermark"]) for r in errors] == [
        ("malformed: value is 'two', not a BIGINT", "0:1", None, None),
        ("no position: id is NULL", "0:3", AT, None),
        ("no event time: ts is NULL", "0:3", None, None),
        ("expired", "0:5", AT.replace(minute=0), AT),
        ("expired", "0:6", AT.replace(minute=0, second=1), AT),
    ]
    assert {r["stream"] for r in errors} == {"orders"}
    assert [r["row"] for r in errors] == [
        '{"id": 2, "value": "two", "ts": "2024-01-01T09:10:00Z"}',
        '{"id": null, "value": 4, "ts": "2024-01-01T09:10:00Z"}',
        '{"id": 3, "value": 3, "ts": null}',
        '{"id": 5, "value": 5, "ts": "2024-01-01T09:00:00Z"}',
        '{"id": 6, "value": 6, "ts": "2024-01-01T09:00:01Z"}',
    ]
    assert query.refused() == REASONS


def test_expired_count_counts_them_only() -> None:
    query = fed(MEDIANS + "EXPIRED COUNT")
    assert "expired" not in query.expired()["reason"].to_pylist()
    assert query.expired().num_rows == 3
    assert query.refused() == REASONS


def test_what_is_beyond_the_count_is_expired_too() -> None:
    query = sqlwin.query(MEDIANS + "RETAIN 1 ROWS")
    query.push("orders", [order(1, "00:10"), order(2, "05:00"), order(3, "06:00")])
    query.push("orders", [order(4, "00:20", 4)])
    (row,) = query.expired().to_pylist()
    assert (row["reason"], row["position"]) == ("expired", "0:4")
    assert row["row"] == '{"id": 4, "value": 4, "ts": "2024-01-01T09:00:20Z"}'


def test_errors_are_dropped_once_read_and_counts_stay() -> None:
    query = fed(MEDIANS)
    assert query.expired(clear=True).num_rows == 5
    assert query.expired().num_rows == 0
    query.push("orders", [order(7, "00:01")])
    assert query.expired().num_rows == 1
    assert query.refused() == {**REASONS, "expired": 3}


def test_a_replay_is_no_error() -> None:
    query = sqlwin.query(MEDIANS + "RETAIN INTERVAL '1' HOUR")
    for _ in range(2):
        query.push("orders", [order(1, "00:10"), order(2, "01:10")])
    assert query.refused() == {}
    assert emissions(query) == [(1.0, "full", 0)]


def test_a_query_without_a_window_has_errors_too() -> None:
    query = sqlwin.query(STREAM + "SELECT id, value FROM orders")
    query.push("orders", BAD)
    assert query.results()["id"].to_pylist() == [1, 3]
    assert query.refused() == {"malformed": 1, "no position": 1}


def test_what_the_host_raises_is_at_hand() -> None:
    for name in ("InputDisabled", "Incomplete", "FunctionError"):
        error = getattr(sqlwin, name)
        assert issubclass(error, sqlwin.RunError)
        assert issubclass(error, sqlwin.SqlwinError)
