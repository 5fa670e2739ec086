"""Automatic use: outputs are sent; one that is refused stops the sending and the input."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sqlwin
from sqlwin.embedded.host import EmbeddedQuery
from tests.embedded.orders import A_MINUTE_EACH, MEDIANS, order, push, stored, told, watched

KEPT = MEDIANS + "RETAIN INTERVAL '1' DAY"


class Taker:
    """A callback that takes so many outputs, and refuses those after."""

    def __init__(self, room: int = 10**9) -> None:
        self.room = room
        self.taken: list[float] = []

    def __call__(self, output: dict[str, Any]) -> bool:
        if len(self.taken) == self.room:
            return False
        self.taken.append(output["middle"])
        return True


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "orders.state"


def test_each_output_is_sent_as_it_comes() -> None:
    query, sent = sqlwin.query(KEPT), []
    query.on_output(sent.append)  # None is no refusal
    push(query, A_MINUTE_EACH[:3])
    assert [row["middle"] for row in sent] == [0.0, 1.0]
    columns = ["window_start", "middle", "op", "emit", "revision", "row_key"]
    assert list(sent[0]) == columns
    assert query.results().num_rows == 0


def test_what_waits_is_sent_first() -> None:
    query, taker = sqlwin.query(KEPT), Taker()
    push(query, A_MINUTE_EACH[:3])
    query.on_output(taker)
    push(query, A_MINUTE_EACH[3:])
    assert taker.taken == [0, 1, 2, 3]


def test_a_refusal_stops_where_it_was_and_disables_input(caplog: pytest.LogCaptureFixture) -> None:
    query, taker = sqlwin.query(KEPT), Taker(1)
    push(query, A_MINUTE_EACH[:1])
    query.on_output(taker)
    query.push("orders", A_MINUTE_EACH[1:])  # no error: these rows were taken
    assert taker.taken == [0]
    why = "an output was refused and 3 wait: input is disabled until timeout"
    with caplog.at_level(logging.WARNING), pytest.raises(sqlwin.InputDisabled, match=why):
        query.push("orders", [])
    assert caplog.records[-1].name == "sqlwin"
    assert caplog.records[-1].levelno == logging.WARNING
    assert why in caplog.text
    assert told(query, clear=False) == [(1.0, "full", 0), (2.0, "full", 0), (3.0, "full", 0)]


def test_all_that_moves_the_query_is_disabled() -> None:
    query = sqlwin.query(KEPT)
    push(query, A_MINUTE_EACH[:2])
    query.on_output(Taker(0))
    calls: list[Callable[[], object]] = [
        query.drain,
        query.flush,
        lambda: query.advance(now=1),
        lambda: query.advance(watermark={"orders": 1}),
    ]
    for call in calls:
        with pytest.raises(sqlwin.InputDisabled):
            call()
    assert told(query, clear=False) == [(0.0, "full", 0)]


def test_timeout_sends_from_where_it_stopped_and_enables_input() -> None:
    query, taker = sqlwin.query(KEPT), Taker(1)
    query.on_output(taker)
    query.push("orders", A_MINUTE_EACH[:1])
    query.push("orders", A_MINUTE_EACH[1:])
    taker.room = 2
    query.timeout(1)
    assert taker.taken == [0, 1]
    with pytest.raises(sqlwin.InputDisabled, match="2 wait"):
        query.push("orders", [])
    taker.room = 9
    query.timeout(2)
    assert taker.taken == [0, 1, 2, 3]
    query.push("orders", [order(9, "09:00")])
    assert taker.taken == [0, 1, 2, 3, 4]


def test_timeout_looks_at_the_policies_when_all_is_out() -> None:
    query, taker = sqlwin.query(KEPT), Taker(1)
    query.on_output(taker)
    query.push("orders", A_MINUTE_EACH[:2])
    query.push("orders", [order(9, "00:30", 8), A_MINUTE_EACH[2]])  # late: due at 10 s
    query.timeout(10_000_000)
    assert taker.taken == [0]
    taker.room = 9
    query.timeout(10_000_000)
    assert taker.taken == [0, 1, 4]


def test_a_silent_stream_times_out() -> None:
    query, taker = sqlwin.query(MEDIANS + "EMIT ON CLOSE TIMEOUT INTERVAL '5' MINUTE"), Taker()
    query.on_output(taker)
    push(query, A_MINUTE_EACH[:1])
    query.timeout(299_999_999)
    assert taker.taken == []
    query.timeout(300_000_000)
    assert taker.taken == [0]


def test_to_raise_is_to_refuse(caplog: pytest.LogCaptureFixture) -> None:
    query = sqlwin.query(KEPT)

    def broken(output: dict[str, Any]) -> None:
        raise ConnectionError("nobody is there")

    query.on_output(broken)
    query.push("orders", A_MINUTE_EACH[:2])
    assert "an output is refused: the callback raised" in caplog.text
    assert "nobody is there" in caplog.text
    with pytest.raises(sqlwin.InputDisabled) as disabled:
        query.push("orders", [])
    assert isinstance(disabled.value.__cause__, ConnectionError)
    taker = Taker()
    query.on_output(taker)
    assert taker.taken == [0]
    query.push("orders", [])


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


def test_a_callback_may_look_but_not_move() -> None:
    query, seen, refused = sqlwin.query(KEPT), [], []

    def looking(output: dict[str, Any]) -> None:
        seen.append((query.offsets(), query.table().num_rows, told(query, clear=False)))
        for call in moving(query):
            with pytest.raises(sqlwin.InputError, match="within the callback of on_output; return"):
                call()
            refused.append(call)

    query.on_output(looking)
    push(query, A_MINUTE_EACH[:2])
    assert seen == [({"orders": {0: 2}}, 1, [(0.0, "full", 0)])]
    assert len(refused) == 8
    push(query, A_MINUTE_EACH[2:3])
    assert len(seen) == 2


def moving(query: EmbeddedQuery) -> list[Callable[[], object]]:
    return [
        lambda: query.push("orders", []),
        lambda: query.advance(now=1),
        lambda: query.timeout(1),
        query.drain,
        query.results,
        query.flush,
        query.commit,
        lambda: query.on_output(print),
    ]


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
    assert len(told(stored(file, MEDIANS + "RETAIN INTERVAL '1' MINUTE"))) == 0


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
        assert len(told(again, clear=False)) == 4 - known
        taker.room += 1
        if known % 2:
            again.on_output(taker)
        else:
            query = stored(file, KEPT)
            query.on_output(Taker(0))
            query._sending.callback = taker
            query.timeout(1)
    assert taker.taken == [0, 1, 2, 3]
    assert told(stored(file, KEPT)) == []


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
