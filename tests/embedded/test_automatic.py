"""Automatic use: outputs are sent; one that is refused stops the sending and the input."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

import sqlwin
from sqlwin.embedded.query import EmbeddedQuery
from tests.support.embedded.orders import (
    A_MINUTE_EACH,
    MEDIANS,
    Taker,
    emissions,
    order,
    push,
)

KEPT = MEDIANS + "RETAIN INTERVAL '1' DAY"


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
    assert emissions(query, clear=False) == [(1.0, "full", 0), (2.0, "full", 0), (3.0, "full", 0)]


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
    assert emissions(query, clear=False) == [(0.0, "full", 0)]


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


def test_a_callback_may_look_but_not_move() -> None:
    query, seen, refused = sqlwin.query(KEPT), [], []

    def looking(output: dict[str, Any]) -> None:
        seen.append((query.offsets(), query.table().num_rows, emissions(query, clear=False)))
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
