"""What joins have pending: it goes out when it is due, once, and the rest stays where it is."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from sqlwin.instants import END, START
from sqlwin.operators.joins.changes.pending import CHANGES, VOID
from sqlwin.policies import Early, Late
from tests.support.operators.driving import emissions
from tests.support.operators.joins import LEFT, RIGHT, Joined, join, rows_of, window

PERIODS: dict[str, Any] = {
    "early": Early.EVERY,
    "early_period": 5,
    "late": Late.EVERY,
    "late_period": 100,
    "retain": None,
}


def left(v: int, ts: int, seq: int = 0, weight: int = 1) -> tuple[Any, ...]:
    return ("a", 1, v, ts, seq, ts, weight)


def both(at: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A left row and a right one of an instant, with their values: 1 and that."""
    return rows_of(LEFT, left(1, at, seq=at)), rows_of(RIGHT, left(at, at, seq=at))


def pending(driven: Joined) -> list[tuple[int, bool]]:
    """When what is stored is due, and whether it is void."""
    return driven.stores[CHANGES].scan(START, END).select("__due", VOID).rows()


@pytest.mark.parametrize("restarts", [False, True])
def test_what_is_due_goes_and_the_rest_is_not_written_again(restarts: bool) -> None:
    driven = Joined(join(window(0, 5), **PERIODS), restarts)
    driven.step(watermark=30, now=1)
    driven.step(*both(10), now=1)
    driven.step(*both(40), now=2)
    assert pending(driven) == [(5, False), (100, False)]
    assert emissions(driven.step(now=5), "w") == [("+I", "full", 0, 40)]
    assert pending(driven) == [(100, False)]
    assert driven.operator.next_deadline(driven.stores) == 100
    assert emissions(driven.step(now=100), "w") == [("+I", "late", 0, 10)]
    assert pending(driven) == []


@pytest.mark.parametrize("restarts", [False, True])
def test_an_end_of_input_emits_what_is_due_later_and_only_then(restarts: bool) -> None:
    driven = Joined(join(window(0, 5), **PERIODS), restarts)
    driven.step(watermark=30, now=1)
    driven.step(*both(10), now=1)
    assert emissions(driven.step(now=2, end=True), "w") == [("+I", "late", 0, 10)]
    assert driven.operator.next_deadline(driven.stores) is None
    driven.step(*both(40), now=3)
    assert driven.operator.next_deadline(driven.stores) == 5
    assert emissions(driven.step(now=200), "w") == [("+I", "full", 0, 40)]


def test_what_is_undone_before_it_was_due_is_void() -> None:
    driven = Joined(join(window(0, 5), weighted=True, **PERIODS))
    rows = both(10)
    driven.step(*rows, now=1)
    driven.step(rows_of(LEFT, left(1, 10, seq=10, weight=-1)), now=2)
    assert pending(driven) == [(5, True)]
    assert driven.operator.next_deadline(driven.stores) is None
    assert driven.step(now=5).is_empty()


def test_after_the_clock_went_back_nothing_is_lost() -> None:
    driven = Joined(join(window(0, 5), **PERIODS))
    driven.step(*both(10), now=103)
    assert emissions(driven.step(now=105), "w") == [("+I", "full", 0, 10)]
    driven.step(*both(40), now=50)
    assert driven.operator.next_deadline(driven.stores) == 106
    assert emissions(driven.step(now=106), "w") == [("+I", "full", 0, 40)]


@pytest.mark.parametrize("pairs", [False, True])
def test_a_result_whose_row_comes_at_another_instant_has_one_revision_more(pairs: bool) -> None:
    driven = Joined(join(window(-5, 5), weighted=True, update_before=pairs, retain=None))
    driven.step(rows_of(LEFT, left(1, 10)), rows_of(RIGHT, left(9, 12)))
    for n, (was, now) in enumerate([(10, 11), (11, 14), (14, 8)], 1):
        moved = driven.step(rows_of(LEFT, left(n, was, weight=-1), left(n + 1, now)))
        expected = [("-U", "full", n - 1, n), ("+U", "full", n, n + 1)]
        assert emissions(moved, "v") == expected[not pairs :]
