"""When automatic use writes its state, and how a new process goes on from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sqlwin
from tests.support.embedded.orders import (
    A_MINUTE_EACH,
    MEDIANS,
    Taker,
    emissions,
    order,
    push,
    stored,
    watched,
)

KEPT = MEDIANS + "RETAIN INTERVAL '1' DAY"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "orders.state"


def test_an_interrupt_is_no_refusal_and_loses_nothing(file: Path) -> None:
    query, taker = stored(file, KEPT), Taker()

    def interrupted(output: dict[str, Any]) -> None:
        if len(taker.taken) == 2:
            raise KeyboardInterrupt
        taker(output)

    query.on_output(interrupted)
    with pytest.raises(KeyboardInterrupt):
        query.push("orders", A_MINUTE_EACH[:4])
    again = stored(file, KEPT)
    again.on_output(taker)
    push(again, A_MINUTE_EACH)
    assert taker.taken == [0, 1, 2, 3]


def test_flush_points_are_each_send_each_new_window_and_each_purge(file: Path) -> None:
    query, store = watched(file, MEDIANS + "RETAIN INTERVAL '1' MINUTE")
    query.on_output(Taker())

    def wrote(*rows: dict[str, Any]) -> int:
        before = store.commits
        query.push("orders", list(rows))
        return store.commits - before

    assert wrote(order(1, "00:10")) == 1, "a new window"
    assert wrote(order(2, "00:10")) == 0
    assert wrote(order(3, "00:20"), order(4, "00:05")) == 0
    assert wrote(order(5, "01:05")) == 1, "a new window, and a send"
    assert wrote(order(6, "01:20")) == 0
    assert wrote() == 0
    assert wrote(order(7, "01:30")) == 1, "a purge: positions of the first half minute"
    assert wrote(order(8, "01:31")) == 0
    assert wrote(order(9, "02:00")) == 1
    assert len(emissions(stored(file, MEDIANS + "RETAIN INTERVAL '1' MINUTE"))) == 0


def test_rows_that_are_windows_are_flush_points(file: Path) -> None:
    sql = MEDIANS.split("SELECT")[0] + (
        "SELECT id, SUM(value) OVER (ORDER BY ts RANGE INTERVAL '1' MINUTE PRECEDING) AS middle"
        " FROM orders"
    )
    query, store = watched(file, sql)
    query.on_output(Taker())
    push(query, [order(1, "00:10"), order(2, "00:10")])
    assert store.commits == 2
    query.push("orders", [order(2, "00:10")])  # a replay opens nothing
    assert store.commits == 2


def test_each_send_is_written_wherever_it_comes_from(file: Path) -> None:
    query, taker = stored(file, KEPT), Taker(0)
    query.on_output(taker)
    query.push("orders", A_MINUTE_EACH)  # written, as windows opened: all four wait
    for known in range(4):
        again = stored(file, KEPT)
        assert len(emissions(again, clear=False)) == 4 - known
        taker.room += 1
        if known % 2:
            again.on_output(taker)
        else:
            query = stored(file, KEPT)
            query.on_output(Taker(0))
            query._delivery.callback = taker
            query.timeout(1)
    assert taker.taken == [0, 1, 2, 3]
    assert emissions(stored(file, KEPT)) == []


def test_a_stream_without_offset_counts_what_was_written_with_its_rows(file: Path) -> None:
    sql = KEPT.replace(", OFFSET id", "")
    rows = [{"value": row["value"], "ts": row["ts"]} for row in A_MINUTE_EACH]
    taker = Taker()
    for n in range(5):  # each in a process of its own
        query = stored(file, sql)
        assert query.offsets() == {"orders": {0: n}}
        query.on_output(taker)
        query.push("orders", rows[n : n + 1])
    assert taker.taken == [0, 1, 2, 3]


def test_aggregates_in_python_go_on_in_a_new_process(file: Path) -> None:
    longest = sqlwin.aggregate("most", ["BIGINT"], reducer=max)
    sql = KEPT.replace("MEDIAN(", "most(")
    taker = Taker()
    for row in [
        order(1, "00:10", 3),
        order(2, "00:20", 8),
        order(3, "00:30", 5),
        order(4, "01:00"),
    ]:
        query = sqlwin.query(sql, store=file, functions=[longest])
        query.on_output(taker)
        query.push("orders", [row])
        query.commit()
    assert taker.taken == [8]


@pytest.mark.parametrize("offset", [", OFFSET id", ""])
def test_an_aggregate_that_raises_fails_the_query(file: Path, offset: str) -> None:
    broken = sqlwin.aggregate("broken", ["BIGINT"], reducer=lambda a, b: a // 0)
    sql = KEPT.replace("MEDIAN(", "broken(").replace(", OFFSET id", offset)
    query = sqlwin.query(sql, store=file, functions=[broken])
    push(query, A_MINUTE_EACH[:1])
    query.flush()
    with pytest.raises(sqlwin.FunctionError, match="broken"):
        query.push("orders", [order(7, "00:10"), order(8, "00:10"), order(9, "02:00")])
    with pytest.raises(sqlwin.RunError, match="takes nothing more"):
        query.timeout(1)
    assert sqlwin.query(sql, store=file, functions=[broken]).offsets() == {"orders": {0: 1}}
