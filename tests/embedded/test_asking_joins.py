"""The messages that a join keeps, asked for by time, offset and the columns it joins by."""

from __future__ import annotations

from typing import Any

import pytest

import sqlwin
from sqlwin.errors import InputError, QueryError

STREAMS = """
CREATE STREAM orders (id BIGINT, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM shipments (cost BIGINT, id BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
"""
BY_TIME = "SELECT o.id, value, cost FROM orders o JOIN shipments s WITHIN 2 MINUTES ON o.id = s.id"
BY_MESSAGES = "SELECT o.id, value, cost FROM orders o [ROWS 2] JOIN shipments s ON o.id = s.id"
ASOF = """SELECT o.id, cost FROM orders o ASOF JOIN shipments s MATCH_CONDITION (o.ts >= s.ts)
ON o.id = s.id RETAIN INTERVAL '1' HOUR"""
GROUPED = "SELECT COUNT(*) AS n FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"


def asked(query: str) -> Any:
    q = sqlwin.query(STREAMS + query)
    q.push("orders", [row(1, 10, "09:00:10"), row(2, 20, "09:00:50")])
    q.push("shipments", [{"cost": 7, "id": 1, "ts": "2024-01-01T09:00:30Z"}])
    return q


def row(id_: int, value: int, at: str) -> dict[str, Any]:
    return {"id": id_, "value": value, "ts": f"2024-01-01T{at}Z"}


def told(found: Any) -> list[tuple[Any, ...]]:
    return [tuple(r.values()) for r in found.select(["side", "value", "cost"]).to_pylist()]


def test_both_sides_in_the_order_of_positions() -> None:
    found = asked(BY_TIME).messages()
    assert found.column_names[0] == "side"
    assert told(found) == [("left", 10, None), ("right", None, 7), ("left", 20, None)]


def test_from_an_instant_to_another_both_included() -> None:
    found = asked(BY_TIME).messages(
        start_time="2024-01-01T09:00:30Z", end_time="2024-01-01T09:00:50Z"
    )
    assert told(found) == [("right", None, 7), ("left", 20, None)]


@pytest.mark.parametrize("query", [BY_TIME, ASOF])
def test_of_one_key(query: str) -> None:
    q = asked(query)
    assert [r["side"] for r in q.messages(join_keys=1).to_pylist()] == ["left", "right"]
    assert q.messages(join_keys=3).num_rows == 0


def test_messages_that_are_counted_are_asked_for_by_offset() -> None:
    found = asked(BY_MESSAGES).messages(start_offset=1)
    assert told(found) == [("left", 20, None)]


def test_what_a_join_does_not_know_is_refused_by_name() -> None:
    q = asked(BY_TIME)
    with pytest.raises(QueryError, match="the windows of a join slide"):
        q.windows()
    with pytest.raises(QueryError, match="have join_keys, and no key of a window"):
        q.messages(key=1)
    with pytest.raises(InputError, match="is no key"):
        q.messages(join_keys="one")
    with pytest.raises(QueryError, match="the query joins nothing"):
        sqlwin.query(STREAMS + GROUPED).messages(join_keys=1)
