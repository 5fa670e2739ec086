"""When rows with other frames than the plain ones go out, by examples."""

from __future__ import annotations

from typing import Any

import pytest

from sqlwin.policies import Early, Late
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from tests.support.operators.driving import Driven, emissions, rows_of
from tests.support.operators.overs import COLUMNS, over

K = ("k",)
LAG, LEAD = Frame(Unit.ROWS, 1, -1), Frame(Unit.ROWS, -1, 1)
EVER = Frame(Unit.ROWS, None, 0)


def rows(*each: tuple[str, int, int]) -> Any:
    """(k, instant, and seq, which is the value too)."""
    return rows_of(COLUMNS, *((k, None, seq, at, 0, seq) for k, at, seq in each))


@pytest.fixture(params=[False, True], ids=["memory", "restarts"])
def restarts(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_a_row_waits_for_its_follower_however_long(restarts: bool) -> None:
    driven = Driven(
        over(("first", K, LEAD), ("sum", K, Frame(Unit.RANGE, 2, 0)), retain=0), restarts
    )
    out = driven.step(rows(("a", 1, 1), ("a", 2, 2), ("b", 2, 3)), watermark=3)
    assert emissions(out, "v", "a0", "a1") == [("+I", "full", 0, 1, 2, 1)]
    assert driven.step(None, watermark=500).is_empty()
    assert len(driven.stores["rows"]) == 0  # both wait in the history
    out = driven.step(rows(("a", 600, 4)), watermark=601)
    assert emissions(out, "v", "a0", "a1") == [("+I", "full", 0, 2, 4, 3)]


def test_a_range_that_follows_waits_for_the_watermark() -> None:
    driven = Driven(over(("sum", K, Frame(Unit.RANGE, 0, 5))))
    assert driven.step(rows(("a", 10, 1)), watermark=15).is_empty()
    out = driven.step(rows(("a", 15, 2)), watermark=16)
    assert emissions(out, "a0") == [("+I", "full", 0, 3)]


def test_an_unbounded_frame_counts_what_no_store_holds(restarts: bool) -> None:
    driven = Driven(over(("count", K, EVER), ("sum", K, EVER), retain=0, slice_width=4), restarts)
    for at in range(0, 40, 2):
        driven.step(rows(("a", at, at)), watermark=at + 1)
    assert len(driven.stores["rows"]) <= 2
    assert len(driven.stores["past0"]) == 1
    out = driven.step(rows(("a", 40, 40)), watermark=41)
    assert emissions(out, "a0", "a1") == [("+I", "full", 0, 21, sum(range(0, 41, 2)))]


def test_a_late_row_goes_into_unbounded_frames_once(restarts: bool) -> None:
    operator = over(("count", K, EVER), retain=20, late=Late.ON_UPDATE)
    driven = Driven(operator, restarts)
    driven.step(rows(("a", 1, 1), ("a", 9, 2), ("b", 9, 3)), watermark=12)
    out = driven.step(rows(("a", 5, 4)), watermark=12)
    assert emissions(out, "v", "a0") == [("+I", "late", 0, 4, 2), ("+U", "late", 1, 2, 3)]
    out = driven.step(rows(("a", 14, 5)), watermark=15)
    assert emissions(out, "v", "a0") == [("+I", "full", 0, 5, 4)]


def test_a_row_pushed_out_of_a_frame_touches_it() -> None:
    two_before = Frame(Unit.ROWS, 2, -2)
    driven = Driven(over(("first", K, two_before), retain=20, late=Late.ON_UPDATE))
    driven.step(rows(("a", 1, 1), ("a", 2, 2), ("a", 4, 3), ("a", 6, 4)), watermark=9)
    out = driven.step(rows(("a", 3, 5)), watermark=9)  # between 2 and 3, whose frame was {1}
    assert emissions(out, "v", "a0") == [
        ("+I", "late", 0, 5, 1),
        ("+U", "late", 1, 3, 2),
        ("+U", "late", 1, 4, 5),
    ]


def test_lag_of_the_next_row_alone_changes() -> None:
    driven = Driven(over(("first", K, LAG), retain=20, late=Late.ON_UPDATE))
    driven.step(rows(("a", 1, 1), ("a", 4, 2), ("a", 6, 3)), watermark=9)
    out = driven.step(rows(("a", 3, 4)), watermark=9)
    assert emissions(out, "v", "a0") == [("+I", "late", 0, 4, 1), ("+U", "late", 1, 2, 4)]


def test_a_frame_without_end_is_full_at_the_end() -> None:
    whole = Frame(Unit.RANGE, None, None)
    driven = Driven(over(("count", (), whole), early=Early.ON_UPDATE, retain=0))
    out = driven.step(rows(("a", 1, 1)), watermark=50)
    assert emissions(out, "a0") == [("+I", "early", 0, 1)]
    out = driven.step(rows(("a", 60, 2)), watermark=99)
    assert emissions(out, "a0") == [("+U", "early", 1, 2), ("+I", "early", 0, 2)]
    assert emissions(driven.step(end=True), "a0") == [("+U", "full", 2, 2), ("+U", "full", 1, 2)]


def test_a_silent_stream_is_emitted_early_and_corrected() -> None:
    driven = Driven(over(("first", K, LEAD), timeout=5, late=Late.ON_UPDATE))
    driven.step(rows(("a", 1, 1)), now=0, watermark=1)
    assert driven.deadline == 5
    assert emissions(driven.step(now=5), "a0") == [("+I", "full", 0, None)]
    assert emissions(driven.step(rows(("a", 3, 2)), now=6), "a0") == [("+U", "late", 1, 2)]


def test_the_newest_rows_of_each_key_are_kept_however_old(restarts: bool) -> None:
    frame = Frame(Unit.RANGE, 3, 0)
    operator = over(("sum", K, frame), retain=None, retain_rows=2, slice_width=1)
    driven = Driven(operator, restarts)
    driven.step(rows(*(("a", at, at) for at in range(1, 30)), ("b", 1, 50)), watermark=30)
    horizons = dict(operator.horizons(driven.stores).rows())
    assert horizons == {"a": 28}  # b has but one
    kept = driven.stores["rows"].scan(-(2**63), 2**63 - 1)
    assert kept["__ts"].to_list() == [1, 25, 26, 27, 28, 29]
