from __future__ import annotations

import pytest

from sqlwin.instants import MINUTE, SECOND
from sqlwin.policies import Early, Late
from tests.support.operators.aggregators import HOPPING, Fed, aggregator

EVERY_20 = {"early": Early.EVERY, "early_period": 20 * SECOND}


def test_a_window_goes_out_once_when_it_is_full() -> None:
    fed = Fed(aggregator())
    assert fed(("tea", 1, 0.1), ("tea", 2, 0.2), ("milk", 5, 1.1), watermark=0.9) == []
    assert fed(watermark=1) == [("+I", "full", 0, "tea", 1, 3)]
    assert fed(watermark=1.5, now=100) == []
    assert (fed.deadline, fed.records()) == (None, 0)


def test_what_is_in_order_leaves_no_record() -> None:
    fed = Fed(aggregator(HOPPING, timeout=MINUTE))
    for minute in range(20):
        fed(("tea", 1, minute), watermark=minute)
    assert fed.records() == 0


# Early.


def test_early_every_ends_at_multiples_of_its_length_whatever_changed_first() -> None:
    fed = Fed(aggregator(**EVERY_20))
    assert fed(("tea", 1, 0.1), now=5) == []
    assert fed(("tea", 2, 0.2), ("milk", 7, 0.1), now=10) == []
    assert fed.deadline == 20
    assert fed(now=20) == [("+I", "early", 0, "milk", 1, 7), ("+I", "early", 0, "tea", 1, 3)]
    assert fed.deadline is None
    assert fed(("tea", 4, 0.3), now=60) == []
    assert fed(now=80) == [("+U", "early", 1, "tea", 1, 7)]
    assert fed(watermark=1) == [("+U", "full", 1, "milk", 1, 7), ("+U", "full", 2, "tea", 1, 7)]


def test_early_on_update_emits_each_batch() -> None:
    fed = Fed(aggregator(HOPPING, early=Early.ON_UPDATE))
    assert fed(("tea", 1, 1.5)) == [
        ("+I", "early", 0, "tea", 2, 1),
        ("+I", "early", 0, "tea", 3, 1),
    ]
    assert fed(("tea", 2, 0.5), ("tea", 3, 2.5), watermark=1) == [
        ("+I", "full", 0, "tea", 1, 2),
        ("+U", "early", 1, "tea", 2, 3),
        ("+U", "early", 1, "tea", 3, 4),
        ("+I", "early", 0, "tea", 4, 3),
    ]


def test_early_rows_counts_those_of_the_window_not_emitted_yet() -> None:
    fed = Fed(aggregator(early=Early.ROWS, early_rows=3))
    assert fed(("tea", 1, 0.1), ("tea", 1, 0.2), ("milk", 1, 0.2)) == []
    assert fed.deadline is None
    assert fed(("tea", 1, 0.3), ("tea", 1, 0.4)) == [("+I", "early", 0, "tea", 1, 4)]
    assert fed(("tea", 1, 0.5), ("tea", 1, 0.6)) == []
    assert fed(("tea", 1, 0.5)) == [("+U", "early", 1, "tea", 1, 7)]
    assert fed(("milk", 1, 0.5), watermark=1) == [
        ("+I", "full", 0, "milk", 1, 2),
        ("+U", "full", 2, "tea", 1, 7),
    ]


def test_full_clears_what_waited_early() -> None:
    fed = Fed(aggregator(**EVERY_20))
    fed(("tea", 1, 0.1), now=5)
    assert fed(watermark=1, now=10) == [("+I", "full", 0, "tea", 1, 1)]
    assert fed.deadline is None
    assert fed(now=100) == []


def test_a_row_behind_the_watermark_in_an_open_window_is_early() -> None:
    fed = Fed(aggregator(early=Early.ON_UPDATE))
    fed(watermark=0.5)
    assert fed(("tea", 1, 0.1)) == [("+I", "early", 0, "tea", 1, 1)]


# Late.


def test_late_every_ends_at_multiples_of_its_length_whatever_changed_first() -> None:
    fed = Fed(aggregator(late_period=10 * SECOND))
    fed(("tea", 1, 0.1), watermark=5)
    assert fed(("tea", 2, 0.2), now=103) == []
    assert fed(("tea", 4, 0.2), ("milk", 8, 0.2), now=109) == []
    assert fed.deadline == 110
    assert fed(now=110) == [("+I", "late", 0, "milk", 1, 8), ("+U", "late", 1, "tea", 1, 7)]
    assert fed.deadline is None
    assert fed(("tea", 8, 0.2), now=110) == []
    assert fed.deadline == 120


def test_late_on_update_emits_every_window_that_holds_the_row_and_only_those() -> None:
    fed = Fed(aggregator(HOPPING, late=Late.ON_UPDATE))
    fed(("tea", 1, 0.5), ("tea", 2, 1.5), ("tea", 4, 2.5), ("milk", 1, 1.5), watermark=3)
    assert fed(("tea", 8, 1.2)) == [
        ("+U", "late", 1, "tea", 2, 11),
        ("+U", "late", 1, "tea", 3, 14),
    ]


def test_a_late_row_of_an_open_window_corrects_only_full_ones() -> None:
    fed = Fed(aggregator(HOPPING, late=Late.ON_UPDATE))
    fed(("tea", 1, 0.5), watermark=1)
    assert fed(("tea", 2, 0.7)) == [("+U", "late", 1, "tea", 1, 3)]
    assert fed(watermark=2) == [("+I", "full", 0, "tea", 2, 3)]


def test_late_never_emits_nothing() -> None:
    fed = Fed(aggregator(late=Late.NEVER))
    fed(("tea", 1, 0.5), watermark=1)
    assert fed(("tea", 2, 0.7), ("milk", 2, 0.7), now=0) == []
    assert fed(now=1000, end=True) == []
    assert fed.records() == 0


# Silence and end.


def test_timeout_emits_open_windows_and_later_rows_are_late() -> None:
    fed = Fed(aggregator(timeout=MINUTE))
    fed(("tea", 1, 0.5), ("milk", 1, 5.5), now=10)
    assert fed.deadline == 70
    assert fed(now=69) == []
    assert fed(now=70) == [("+I", "full", 0, "tea", 1, 1), ("+I", "full", 0, "milk", 6, 1)]
    assert fed.deadline is None
    assert fed(("tea", 2, 0.6), now=80) == []
    assert fed.deadline == 90
    assert fed(now=90) == [("+U", "late", 1, "tea", 1, 3)]
    assert fed(watermark=6) == []


def test_timeout_begins_anew_with_rows_and_spares_forced_windows() -> None:
    fed = Fed(aggregator(timeout=MINUTE, late_period=90 * SECOND))
    fed(("tea", 1, 0.5), now=0)
    fed(now=60)
    fed(("tea", 2, 0.6), ("milk", 7, 0.6), now=100)
    assert fed.deadline == 160
    assert fed(now=160) == [("+I", "full", 0, "milk", 1, 7)]
    assert fed(now=180) == [("+U", "late", 1, "tea", 1, 3)]


def test_timeout_comes_before_what_is_due_early() -> None:
    fed = Fed(aggregator(timeout=20 * SECOND, **EVERY_20))
    fed(("tea", 1, 0.5), now=0)
    assert fed(now=20) == [("+I", "full", 0, "tea", 1, 1)]


def test_what_is_pending_in_a_forced_window_keeps_its_due_time_when_it_is_full() -> None:
    fed = Fed(aggregator())
    fed(("tea", 1, 0.5), end=True)
    assert fed(("tea", 2, 0.6), now=5) == []
    assert fed(watermark=1, now=6) == []
    assert fed(now=9) == []
    assert fed(now=10) == [("+U", "late", 1, "tea", 1, 3)]


def test_late_never_emits_a_forced_window_that_changed_when_it_closes() -> None:
    fed = Fed(aggregator(late=Late.NEVER))
    fed(("tea", 1, 0.5), ("milk", 1, 0.5), end=True)
    assert fed(("tea", 2, 0.6), now=100) == []
    assert fed(watermark=1) == [("+U", "late", 1, "tea", 1, 3)]
    assert fed(("tea", 2, 0.6), now=200, end=True) == []


@pytest.mark.parametrize("late", [Late.EVERY, Late.NEVER])
def test_an_end_emits_what_waits_late_then_open_windows(late: Late) -> None:
    fed = Fed(aggregator(late=late))
    assert fed(("tea", 1, 0.5), end=True) == [("+I", "full", 0, "tea", 1, 1)]
    assert fed(("tea", 2, 0.5), ("tea", 4, 1.5), end=True) == [
        ("+U", "late", 1, "tea", 1, 3),
        ("+I", "full", 0, "tea", 2, 4),
    ]
    assert fed(end=True) == []


# All at once.


@pytest.mark.parametrize("restarts", [False, True])
def test_early_full_late_timeout_and_retractions(restarts: bool) -> None:
    operator = aggregator(
        update_before=True, timeout=MINUTE, retain=MINUTE, late_period=10 * SECOND, **EVERY_20
    )
    fed = Fed(operator, restarts)
    assert fed(("tea", 1, 0.1), now=0) == []
    assert fed(now=20) == [("+I", "early", 0, "tea", 1, 1)]
    assert fed(("tea", 2, 0.2), now=25) == []
    assert fed(now=40) == [("-U", "early", 0, "tea", 1, 1), ("+U", "early", 1, "tea", 1, 3)]
    assert fed(now=85) == [("-U", "full", 1, "tea", 1, 3), ("+U", "full", 2, "tea", 1, 3)]
    assert fed(("tea", 4, 0.3), ("milk", 9, 1.5), now=90) == []
    assert fed.deadline == 100
    assert fed(now=100) == [
        ("-U", "late", 2, "tea", 1, 3),
        ("+U", "late", 3, "tea", 1, 7),
        ("+I", "early", 0, "milk", 2, 9),
    ]
    assert fed(("tea", 8, 0.4), watermark=2, now=105) == [
        ("-U", "full", 0, "milk", 2, 9),
        ("+U", "full", 1, "milk", 2, 9),
        # retention of the first minute is over: what waits there goes out before
        ("-U", "late", 3, "tea", 1, 7),
        ("+U", "late", 4, "tea", 1, 15),
    ]
    assert fed(("milk", 1, 1.6), now=110, end=True) == [
        ("-U", "late", 1, "milk", 2, 9),
        ("+U", "late", 2, "milk", 2, 10),
    ]


def test_a_first_late_row_retracts_nothing_the_next_one_what_it_emitted() -> None:
    fed = Fed(aggregator(update_before=True, late=Late.ON_UPDATE))
    fed(watermark=2)
    assert fed(("tea", 1, 0.1)) == [("+I", "late", 0, "tea", 1, 1)]
    assert fed(("tea", 2, 0.1)) == [
        ("-U", "late", 0, "tea", 1, 1),
        ("+U", "late", 1, "tea", 1, 3),
    ]
