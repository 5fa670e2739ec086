"""The messages that a join keeps, queried by time, offset and the columns it joins by."""

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


def opened(query: str) -> Any:
    q = sqlwin.query(STREAMS + query)
    q.push("orders", [row(1, 10, "09:00:10"), row(2, 20, "09:00:50")])
    q.push("shipments", [{"cost": 7, "id": 1, "ts": "2024-01-01T09:00:30Z"}])
    return q


def row(id_: int, value: int, at: str) -> dict[str, Any]:
    return {"id": id_, "value": value, "ts": f"2024-01-01T{at}Z"}


def listed(found: Any) -> list[tuple[Any, ...]]:
    return [tuple(r.values()) for r in found.select(["side", "value", "cost"]).to_pylist()]


def test_both_sides_in_the_order_of_positions() -> None:
    found = opened(BY_TIME).messages()
    assert found.column_names[0] == "side"
    assert listed(found) == [("left", 10, None), ("right", None, 7), ("left", 20, None)]


def test_from_an_instant_to_another_both_included() -> None:
    found = opened(BY_TIME).messages(
        start_time="2024-01-01T09:00:30Z", end_time="2024-01-01T09:00:50Z"
    )
    assert listed(found) == [("right", None, 7), ("left", 20, None)]


@pytest.mark.parametrize("query", [BY_TIME, ASOF])
def test_of_one_key(query: str) -> None:
    q = opened(query)
    assert [r["side"] for r in q.messages(join_keys=1).to_pylist()] == ["left", "right"]
    assert q.messages(join_keys=3).num_rows == 0


def test_messages_that_are_counted_are_queried_by_offset() -> None:
    found = opened(BY_MESSAGES).messages(start_offset=1)
    assert listed(found) == [("left", 20, None)]


def test_the_window_of_a_row_is_where_its_partners_lie() -> None:
    q = opened(BY_TIME)
    names = ["side", "value", "window_start", "window_end", "state", "first_offset", "rows"]
    left, right, other = q.windows().select(names).to_pylist()
    assert [str(left[name])[11:19] for name in ("window_start", "window_end")] == [
        "08:58:10",
        "09:02:10",
    ]
    assert (left["side"], left["value"], left["state"], left["first_offset"], left["rows"]) == (
        "left",
        10,
        "open",
        0,
        1,
    )
    assert (right["side"], right["value"], right["rows"]) == ("right", None, 1)
    assert (other["value"], other["first_offset"], other["rows"]) == (20, None, 0)


def test_a_window_is_full_when_no_partner_is_to_come() -> None:
    q = opened(BY_TIME)
    q.push("orders", [row(3, 30, "09:02:40")])
    q.push("shipments", [{"cost": 8, "id": 9, "ts": "2024-01-01T09:02:40Z"}])
    found = q.windows(end="2024-01-01T08:58:30Z").select(["side", "value", "state"]).to_pylist()
    assert [tuple(each.values()) for each in found] == [
        ("left", 10, "full"),
        ("right", None, "full"),
    ]
    assert q.fetch(3)["state"].to_pylist() == ["open"]


def test_windows_of_messages_are_numbered() -> None:
    found = opened(BY_MESSAGES).windows(1, 1).select(["side", "window_start", "window_end", "rows"])
    assert [tuple(each.values()) for each in found.to_pylist()] == [
        ("left", None, 2, 1),
        ("right", 0, None, 1),
        ("left", None, 3, 0),
    ]


def test_the_windows_of_a_session_join_are_the_sessions_of_both_sides() -> None:
    q = sqlwin.query(
        STREAMS
        + """SELECT value, cost FROM orders OVER (PARTITION BY id ORDER BY ts SESSION INTERVAL
        '1' MINUTE GAP) JOIN shipments OVER (PARTITION BY id ORDER BY ts SESSION INTERVAL
        '2' MINUTE GAP) ON orders.id = shipments.id"""
    )
    q.push("orders", [row(1, 10, "09:00:00"), row(1, 20, "09:00:40"), row(2, 5, "09:00:00")])
    q.push("shipments", [{"cost": 7, "id": 1, "ts": "2024-01-01T09:01:00Z"}])
    found = q.fetch(1).to_pylist()
    assert [
        (r["side"], str(r["window_start"])[14:19], str(r["window_end"])[14:19], r["rows"])
        for r in found
    ] == [("left", "00:00", "01:40", 2), ("right", "01:00", "03:00", 1)]
    assert q.windows("2024-01-01T09:01:40Z").num_rows == 1


def test_a_row_in_no_session_has_its_instant_for_a_window() -> None:
    q = sqlwin.query(
        STREAMS
        + """SELECT value, cost FROM orders OVER (PARTITION BY id ORDER BY ts SESSION INTERVAL
        '1' MINUTE GAP) JOIN shipments ON orders.id = shipments.id"""
    )
    q.push("orders", [row(1, 10, "09:00:00"), row(1, 20, "09:00:40"), row(2, 5, "09:00:00")])
    q.push("shipments", [{"cost": 7, "id": 1, "ts": "2024-01-01T09:01:00Z"}])
    found = q.fetch(1).to_pylist()
    assert [(r["side"], str(r["window_end"])[14:26], r["rows"]) for r in found] == [
        ("right", "01:00.000001", 1),
        ("left", "01:40+00:00", 2),
    ]
    instant, after = "2024-01-01T09:01:00Z", "2024-01-01T09:01:00.000001Z"
    assert [q.windows(at, at, key=1).num_rows for at in (instant, after)] == [2, 1]
    assert q.messages(key=1)["cost"].to_pylist() == [None, None, 7]


def test_sessions_of_a_result_are_those_of_the_rows_that_are_there() -> None:
    q = sqlwin.query(
        STREAMS
        + """CREATE VIEW minutes AS SELECT id, window_time AS at, SUM(value) AS total
        FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
        GROUP BY id, window_start, window_end, window_time HAVING COUNT(*) < 2;
        SELECT total, cost
        FROM minutes OVER (PARTITION BY id ORDER BY at SESSION INTERVAL '90' SECOND GAP)
        JOIN shipments OVER (PARTITION BY id ORDER BY ts SESSION INTERVAL '1' MINUTE GAP)
        ON minutes.id = shipments.id RETAIN INTERVAL '1' HOUR"""
    )
    q.push("orders", [row(1, n, f"09:0{n}:10") for n in range(4)])
    assert [(r["side"], r["rows"]) for r in q.fetch(1).to_pylist()] == [("left", 3)]
    q.push("orders", [row(1, 9, "09:01:20")])
    assert [r["rows"] for r in q.fetch(1).to_pylist()] == [1, 1]
    assert q.messages(key=1)["total"].to_pylist() == [0, 2]


KEYED = """SELECT value, cost
FROM orders OVER (PARTITION BY id ORDER BY ts SESSION INTERVAL '1' MINUTE GAP)
JOIN shipments OVER (PARTITION BY id ORDER BY ts SESSION INTERVAL '1' MINUTE GAP)
ON orders.id = shipments.id AND value = cost"""


def test_a_session_join_is_queried_by_its_session_key() -> None:
    q = sqlwin.query(STREAMS + KEYED)
    q.push("orders", [row(1, 7, "09:00:00"), row(1, 8, "09:00:10"), row(2, 7, "09:00:00")])
    q.push("shipments", [{"cost": 7, "id": 1, "ts": "2024-01-01T09:00:30Z"}])
    assert [r["rows"] for r in q.fetch(1).to_pylist()] == [2, 1]
    assert q.messages(key=1)["value"].to_pylist() == [7, 8, None]
    assert q.messages(join_keys=(1, 7))["value"].to_pylist() == [7, None]
    with pytest.raises(InputError, match=r"legal is a value for orders\.id BIGINT"):
        q.fetch((1, 7))
    for join_keys in (7, (7,), {"value": 7}, (1, 7), {"orders.id": 1, "value": 7}):
        assert q.messages(key=1, join_keys=join_keys)["value"].to_pylist() == [7, None]
    assert q.messages(key=2, join_keys=7)["value"].to_pylist() == [7]
    with pytest.raises(InputError, match=r"key and join_keys differ in orders\.id"):
        q.messages(key=2, join_keys=(1, 7))


def test_of_a_join_with_a_table_the_rows_of_the_table_are_kept() -> None:
    table = "CREATE TABLE items (id BIGINT, name STRING);"
    q = sqlwin.query(
        STREAMS + table + "SELECT value, name FROM orders o JOIN items i ON o.id = i.id"
    )
    q.push("items", [{"id": 1, "name": "tea"}, {"id": 2, "name": "milk"}])
    q.push("orders", [row(1, 7, "09:00:00")])
    assert q.messages()["name"].to_pylist() == ["tea", "milk"]
    assert q.messages(join_keys=2)["name"].to_pylist() == ["milk"]
    with pytest.raises(QueryError, match="a table has no time"):
        q.windows()


def test_what_a_join_does_not_know_is_refused_by_name() -> None:
    with pytest.raises(QueryError, match="a row finds one partner, however far"):
        opened(ASOF).windows()
    q = opened(BY_TIME)
    with pytest.raises(QueryError, match="have join_keys, and no key of a window"):
        q.messages(key=1)
    with pytest.raises(InputError, match="is no key"):
        q.messages(join_keys="one")
    with pytest.raises(QueryError, match="the query joins nothing"):
        sqlwin.query(STREAMS + GROUPED).messages(join_keys=1)


COUNTED = """
CREATE STREAM a (k STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM b (id BIGINT, k STRING, at TIMESTAMP, WATERMARK FOR at AS at);
CREATE VIEW w AS SELECT k, window_start, window_end, COUNT(*) AS rows
  FROM TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '10' SECOND)
  GROUP BY k, window_start, window_end;
SELECT b.id, w.rows FROM b JOIN w ON b.k = w.k AND b.at BETWEEN w.window_start AND w.window_end
"""


def test_names_that_the_rows_have_are_theirs() -> None:
    q = sqlwin.query(COUNTED)
    q.push("a", [{"k": "x", "ts": f"2024-01-01T09:00:{s}Z"} for s in ("01", "30")])
    q.push("b", [{"id": 7, "k": "x", "at": "2024-01-01T09:00:05Z"}])
    found = q.windows()
    assert found.equals(q.fetch("x"))
    names = ["side", "id", "window_start", "window_start_", "rows", "rows_"]
    left, right = found.select(names).to_pylist()
    assert (left["side"], left["id"], left["window_start"], left["rows_"]) == ("left", 7, None, 1)
    assert (right["side"], right["rows"], right["window_start_"]) == ("right", 1, None)
    starts = left["window_start_"], right["window_start"]
    assert [str(at)[11:19] for at in starts] == ["09:00:05", "09:00:00"]
    assert q.messages().num_rows == 2
