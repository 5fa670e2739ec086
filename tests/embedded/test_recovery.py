"""A message store that was deleted: a replay fills it again, and nothing is sent twice."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlwin
from tests.support.embedded.losses import BEFORE, KEPT, OVERS, lost
from tests.support.embedded.orders import (
    MEDIANS,
    STREAM,
    content,
    emissions,
    order,
    push,
    stored,
    without,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "orders.state"


@pytest.mark.parametrize("lazy", [False, True])
def test_a_replay_restores_and_sends_nothing_twice(file: Path, lazy: bool) -> None:
    query = lost(file, KEPT, lazy)
    assert query.offsets() == {"orders": {0: 1}}, "the first message of the earliest window"
    push(query, BEFORE)
    assert emissions(query) == []
    assert query.offsets() == {"orders": {0: 6}}
    push(query, [order(6, "02:00")])
    assert emissions(query) == [(20.0, "full", 0)]


@pytest.mark.parametrize("lazy", [False, True])
def test_a_replay_in_one_batch_with_what_is_new(file: Path, lazy: bool) -> None:
    query = lost(file, KEPT, lazy)
    query.push("orders", [*BEFORE, order(6, "02:00")])
    assert emissions(query) == [(20.0, "full", 0)]


def test_messages_of_sessions_are_all_put_back_before_any_goes_on(file: Path) -> None:
    sql = KEPT.replace("TUMBLE", "SESSION").replace("'1' MINUTE", "'30' SECOND")
    query = lost(file, sql)
    assert query.offsets() == {"orders": {0: 1}}
    with pytest.raises(sqlwin.Incomplete):
        query.push("orders", [order(6, "02:30")])
    push(query, BEFORE)
    assert emissions(query) == []
    query.push("orders", [order(6, "00:45", 2), order(7, "02:30")])  # makes one of both
    assert emissions(query) == [(2.0, "full", 1), (6.5, "full", 0)]


def test_messages_of_expired_windows_are_not_requested(file: Path) -> None:
    sql = MEDIANS + "RETAIN INTERVAL '0' MINUTE"
    query = lost(file, sql)
    assert query.offsets() == {"orders": {0: 3}}
    push(query, BEFORE[2:])
    push(query, [order(6, "02:00")])
    assert emissions(query) == [(20.0, "full", 0)]


def test_messages_older_than_retention_are_taken_for_the_windows_that_hold_them(
    file: Path,
) -> None:
    sql = MEDIANS.replace("INTERVAL '1' MINUTE", "INTERVAL '1' HOUR") + "RETAIN INTERVAL '1' SECOND"
    query = lost(file, sql)
    assert query.offsets() == {"orders": {0: 1}}
    push(query, BEFORE)
    assert query.refused() == {}
    query.advance(watermark={"orders": "2024-01-01T10:00:00Z"})
    assert emissions(query) == [(10.0, "full", 0)]


def test_strict_refuses_what_is_new_until_all_is_back(file: Path) -> None:
    query = lost(file, KEPT)
    why = (
        "the message store of orders was lost and lacks 3 messages still: replay from "
        "position 3 of partition 0, or open the query with lazy=True"
    )
    with pytest.raises(sqlwin.Incomplete) as early:
        query.push("orders", [*BEFORE[:2], order(6, "02:00")])  # the first two are put back
    assert str(early.value) == why
    with pytest.raises(sqlwin.Incomplete):
        query.drain()
    assert emissions(query) == []
    push(query, [*BEFORE[2:], order(6, "02:00")])
    assert emissions(query) == [(20.0, "full", 0)]


def test_strict_emits_nothing_before_all_is_back(file: Path) -> None:
    query = lost(file, KEPT)
    query.advance(watermark={"orders": "2024-01-01T09:02:00Z"})
    push(query, BEFORE[:4])
    assert emissions(query) == []
    push(query, BEFORE[4:])
    assert emissions(query) == [(20.0, "full", 0)]


def test_a_drain_waits_for_what_is_lost(file: Path) -> None:
    query = lost(file, KEPT, lazy=True)
    with pytest.raises(
        sqlwin.Incomplete, match="lacks 5 messages still: replay from position 1 of"
    ):
        query.drain()
    push(query, BEFORE)
    query.drain()
    assert emissions(query) == [(20.0, "full", 0)]


def test_a_part_of_the_messages_is_lost_as_all_are(file: Path) -> None:
    query = stored(file, KEPT)
    for row in BEFORE:
        push(query, [row])
        query.flush()
    names = list(content(file)["messages"])
    without(file, f"messages WHERE name = '{names[-1]}'")
    query = stored(file, KEPT)
    assert query.offsets() == {"orders": {0: 1}}
    push(query, BEFORE)
    push(query, [order(6, "02:00")])
    assert emissions(query) == [(20.0, "full", 0)]
    query.flush()
    query.flush()
    assert not set(names) & set(content(file)["messages"]), "what was left of it is cleared away"


@pytest.mark.parametrize("lazy", [False, True])
def test_frames_are_restored_too(file: Path, lazy: bool) -> None:
    query = lost(file, OVERS, lazy)
    push(query, BEFORE)
    assert emissions(query) == []
    push(query, [order(6, "02:00", 30)])
    assert emissions(query) == [(20.0, "full", 0)]


@pytest.mark.parametrize("declared", ["", ", OFFSET id TRUSTED"])
def test_without_positions_a_loss_is_reported_at_once(file: Path, declared: str) -> None:
    sql = KEPT.replace(", OFFSET id", declared)
    if not declared:
        sql = sql.replace("id BIGINT, ", "")
    query = stored(file, sql)
    query.push(
        "orders", [{"value": 1, "ts": "2024-01-01T09:00:00Z"} | ({"id": 1} if declared else {})]
    )
    query.flush()
    without(file)
    why = "the message store of orders is lost, and a replay cannot fill it: the stream declares no"
    with pytest.raises(sqlwin.RunError, match=why):
        stored(file, sql)


def test_a_loss_below_or_above_another_query_is_reported_at_once(file: Path) -> None:
    for outer in ("SUM(middle)", "MEDIAN(middle)"):
        own = file.with_suffix(f".{outer[:3]}")
        chain = f"WITH m AS ({MEDIANS.removeprefix(STREAM)}) SELECT {outer} AS o FROM m"
        query = stored(own, STREAM + chain)
        push(query, BEFORE)
        query.flush()
        without(own)
        with pytest.raises(sqlwin.RunError, match="over the results of others is lost"):
            stored(own, STREAM + chain)


def test_what_the_count_had_expired_expires_again_and_stops_no_replay(file: Path) -> None:
    sql = STREAM + (
        "SELECT value, window_start, MEDIAN(id) AS middle FROM TUMBLE(TABLE orders,"
        " DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY value, window_start RETAIN 1 ROWS"
    )
    before = [
        order(1, "00:10", 7),
        order(2, "00:20", 8),  # behind the newest of 8, so forgotten
        order(3, "05:00", 8),
        order(4, "05:30", 8),
    ]
    query = stored(file, sql)
    push(query, before)
    query.flush()
    without(file)
    query = stored(file, sql)
    assert query.offsets() == {"orders": {0: 1}}
    push(query, before)
    assert query.refused() == {"expired": 1}
    push(query, [order(5, "06:00", 7)])
    assert emissions(query) == [(3.5, "full", 0)]
