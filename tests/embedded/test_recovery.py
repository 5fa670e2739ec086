"""A message store that was deleted: a replay fills it again, and nothing is sent twice."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlwin
from sqlwin.embedded.host import EmbeddedQuery
from tests.embedded.orders import MEDIANS, STREAM, content, order, push, stored, told, without

KEPT = MEDIANS + "RETAIN INTERVAL '1' DAY"
SOON = MEDIANS + "EMIT LATE ON UPDATE RETAIN INTERVAL '1' DAY"
OVERS = (
    STREAM
    + """
SELECT id, MEDIAN(value) OVER (ORDER BY ts RANGE INTERVAL '1' MINUTE PRECEDING) AS middle
FROM orders EMIT LATE ON UPDATE RETAIN INTERVAL '1' DAY
"""
)
BEFORE = [
    order(1, "00:10", 1),
    order(2, "00:20", 3),
    order(3, "01:10", 10),
    order(4, "01:20", 20),
    order(5, "01:30", 60),
]
"""The minute of 0 is told (2.0); that of 1 is open."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "orders.state"


def lost(file: Path, sql: str, lazy: bool = False) -> EmbeddedQuery:
    """After BEFORE, a flush and the loss of all messages."""
    query = stored(file, sql)
    push(query, BEFORE)
    query.flush()
    without(file)
    return stored(file, sql, lazy)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_replay_restores_and_sends_nothing_twice(file: Path, lazy: bool) -> None:
    query = lost(file, KEPT, lazy)
    assert query.offsets() == {"orders": {0: 1}}, "the first message of the earliest window"
    push(query, BEFORE)
    assert told(query) == []
    assert query.offsets() == {"orders": {0: 6}}
    push(query, [order(6, "02:00")])
    assert told(query) == [(20.0, "full", 0)]


@pytest.mark.parametrize("lazy", [False, True])
def test_a_replay_in_one_batch_with_what_is_new(file: Path, lazy: bool) -> None:
    query = lost(file, KEPT, lazy)
    query.push("orders", [*BEFORE, order(6, "02:00")])
    assert told(query) == [(20.0, "full", 0)]


def test_messages_of_windows_long_gone_are_not_asked_for(file: Path) -> None:
    sql = MEDIANS + "RETAIN INTERVAL '0' MINUTE"
    query = lost(file, sql)
    assert query.offsets() == {"orders": {0: 3}}
    push(query, BEFORE[2:])
    push(query, [order(6, "02:00")])
    assert told(query) == [(20.0, "full", 0)]


def test_messages_older_than_retention_are_taken_for_the_windows_that_hold_them(
    file: Path,
) -> None:
    sql = MEDIANS.replace("INTERVAL '1' MINUTE", "INTERVAL '1' HOUR") + "RETAIN INTERVAL '1' SECOND"
    query = lost(file, sql)
    assert query.offsets() == {"orders": {0: 1}}
    push(query, BEFORE)
    assert query.refused() == {}
    query.advance(watermark={"orders": "2024-01-01T10:00:00Z"})
    assert told(query) == [(10.0, "full", 0)]


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
    assert told(query) == []
    push(query, [*BEFORE[2:], order(6, "02:00")])
    assert told(query) == [(20.0, "full", 0)]


def test_strict_emits_nothing_before_all_is_back(file: Path) -> None:
    query = lost(file, KEPT)
    query.advance(watermark={"orders": "2024-01-01T09:02:00Z"})
    push(query, BEFORE[:4])
    assert told(query) == []
    push(query, BEFORE[4:])
    assert told(query) == [(20.0, "full", 0)]


def test_lazy_works_before_all_is_back_and_corrects_as_it_fills(file: Path) -> None:
    query = lost(file, SOON, lazy=True)
    push(query, [order(6, "02:00", 7), order(7, "03:00", 7)])
    assert told(query) == [(None, "full", 0), (7.0, "full", 0)]
    push(query, BEFORE[2:3])
    assert told(query) == [(10.0, "late", 1)]
    push(query, BEFORE[3:])
    assert told(query) == [(15.0, "late", 2), (20.0, "late", 3)]
    assert query.offsets() == {"orders": {0: 1}}
    push(query, BEFORE[:2])
    assert told(query) == [], "what was told before the loss is not told again"
    assert query.offsets() == {"orders": {0: 8}}


def test_lazily_a_correction_of_before_the_loss_waits_until_all_is_back(file: Path) -> None:
    query = lost(file, SOON, lazy=True)
    push(query, [order(6, "00:30", 5), *BEFORE[2:], BEFORE[0]])
    query.timeout(10**9)
    assert told(query) == []
    push(query, BEFORE[1:2])
    assert told(query) == [(3.0, "late", 1)]


def test_lazily_nothing_retires_that_is_not_whole(file: Path) -> None:
    sql = MEDIANS + "EMIT LATE EVERY INTERVAL '1' HOUR RETAIN INTERVAL '1' MINUTE"
    query = stored(file, sql)
    push(query, [*BEFORE, order(6, "00:30", 5)])
    assert told(query) == [(2.0, "full", 0)]
    query.flush()
    without(file)
    query = stored(file, sql, lazy=True)
    push(query, [order(7, "09:00", 8)])  # both minutes would be out of retention
    assert told(query) == [(None, "full", 0)]
    push(query, [*BEFORE, order(6, "00:30", 5)])
    push(query, [order(8, "09:01", 8)])
    assert told(query) == [(3.0, "late", 1), (20.0, "late", 1)]
    assert query.refused() == {}


def test_a_drain_waits_for_what_is_lost(file: Path) -> None:
    query = lost(file, KEPT, lazy=True)
    with pytest.raises(
        sqlwin.Incomplete, match="lacks 5 messages still: replay from position 1 of"
    ):
        query.drain()
    push(query, BEFORE)
    query.drain()
    assert told(query) == [(20.0, "full", 0)]


@pytest.mark.parametrize("again_lazy", [False, True])
def test_a_recovery_goes_on_in_a_new_process(file: Path, again_lazy: bool) -> None:
    query = lost(file, SOON, lazy=True)
    push(query, [order(6, "02:00", 7), *BEFORE[2:4]])
    assert told(query)[-1] == (15.0, "late", 2)
    query.flush()
    query = stored(file, SOON, again_lazy)
    assert query.offsets() == {"orders": {0: 1}}
    push(query, BEFORE)
    assert told(query) == [(20.0, "late", 3)]


def test_a_second_loss_while_the_first_is_mended(file: Path) -> None:
    query = lost(file, SOON, lazy=True)
    push(query, [order(6, "02:00", 7), *BEFORE[2:4]])
    query.flush()
    without(file)
    query = stored(file, SOON, lazy=True)
    push(query, [*BEFORE, order(6, "02:00", 7)])
    assert told(query)[-1] == (20.0, "late", 5)
    query.flush()
    assert stored(file, SOON).offsets() == {"orders": {0: 7}}


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
    assert told(query) == [(20.0, "full", 0)]
    query.flush()
    query.flush()
    assert not set(names) & set(content(file)["messages"]), "what was left of it is cleared away"


@pytest.mark.parametrize("lazy", [False, True])
def test_frames_are_restored_too(file: Path, lazy: bool) -> None:
    query = lost(file, OVERS, lazy)
    push(query, BEFORE)
    assert told(query) == []
    push(query, [order(6, "02:00", 30)])
    assert told(query) == [(20.0, "full", 0)]


def test_lazily_frames_are_corrected_as_they_fill(file: Path) -> None:
    query = lost(file, OVERS, lazy=True)
    push(query, [order(6, "02:00", 30), order(7, "09:00", 0)])
    assert told(query) == [(30.0, "full", 0)]
    with pytest.raises(sqlwin.Incomplete):
        query.push("orders", [order(8, "00:30", 2)])  # which lost rows hold in their frames
    push(query, BEFORE)
    assert told(query) == [
        (20.0, "late", 1),  # of 6, as 3 is back
        (20.0, "late", 2),  # as 4 is
        (20.0, "late", 0),  # 5 itself, which was lost before its time came
        (25.0, "late", 3),
    ]
    push(query, [order(8, "01:59", 2)])
    assert told(query) == [(15.0, "late", 0), (20.0, "late", 4)]


@pytest.mark.parametrize(
    "sql",
    [
        MEDIANS + "EMIT LATE NEVER RETAIN INTERVAL '1' DAY",
        MEDIANS + "RETAIN 100 ROWS",
        MEDIANS + "HAVING MEDIAN(value) > 0 RETAIN INTERVAL '1' DAY",
        OVERS.replace(
            "RANGE INTERVAL '1' MINUTE PRECEDING", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING"
        ),
    ],
    ids=["late never", "retain rows", "having", "following"],
)
def test_what_could_not_be_corrected_is_filled_strictly(file: Path, sql: str) -> None:
    query = lost(file, sql, lazy=True)
    with pytest.raises(sqlwin.Incomplete) as early:
        query.push("orders", [order(6, "02:00")])
    assert "lazy" not in str(early.value)
    push(query, [*BEFORE, order(6, "02:00"), order(7, "03:00")])
    known = told(query)
    assert known
    undisturbed = sqlwin.query(sql)
    push(undisturbed, BEFORE)
    undisturbed.results()
    push(undisturbed, [order(6, "02:00"), order(7, "03:00")])
    assert known == told(undisturbed)


@pytest.mark.parametrize("declared", ["", ", OFFSET id TRUSTED"])
def test_without_positions_a_loss_is_told_at_once(file: Path, declared: str) -> None:
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
