"""What a session is, and what goes out when it turns out to be another one."""

from __future__ import annotations

import pytest

from sqlwin.instants import MICROSECOND, SECOND
from sqlwin.plan.properties.facts import bucket_keys
from sqlwin.policies import Early, Expired, Late
from sqlwin.schema import TS
from sqlwin.windows import Unit
from sqlwin.windows.session import Session
from tests.reference.kernels.sessions import sessions_of, spans_of
from tests.support.operators.sessions import Fed, plan, row, session

MICRO = MICROSECOND / SECOND
ROWS = Unit.ROWS


def cut(window: Session, *rows: int | tuple[int, dict[str, object]]) -> list[tuple[int, int, int]]:
    """(start, end, how many rows) of each session; a row is its instant, and what else it has."""
    given = [r if isinstance(r, tuple) else (r, {}) for r in rows]
    taken = [{"wait": None, "login": None, "logout": None, **more, TS: at} for at, more in given]
    sessions = sessions_of(taken, window)
    spans = spans_of(sessions, window)
    return [(*span, len(session)) for span, session in zip(spans, sessions, strict=True)]


# Which rows make a session.


def test_exactly_one_gap_away_joins_and_a_microsecond_more_does_not() -> None:
    assert cut(Session(30), 0, 30) == [(0, 60, 2)]
    assert cut(Session(30), 0, 31) == [(0, 30, 1), (31, 61, 1)]


def test_a_chain_is_one_session_however_its_rows_came() -> None:
    assert cut(Session(10), 30, 0, 20, 10) == [(0, 40, 4)]


def test_rows_before_the_epoch() -> None:
    assert cut(Session(10), -25, -15, -4, 5) == [(-25, -5, 2), (-4, 15, 2)]


def test_each_row_reaches_as_far_as_its_own_gap() -> None:
    window = Session(None, gap_by="wait")
    short, long = {"wait": 5}, {"wait": 100}
    assert cut(window, (0, long), (20, short), (90, short), (101, short)) == [
        (0, 100, 3),
        (101, 106, 1),
    ]
    assert cut(window, (0, short), (5, short), (11, long)) == [(0, 10, 2), (11, 111, 1)]


def test_no_session_is_longer_than_max() -> None:
    assert cut(Session(10, most=25), 0, 10, 20, 25, 30) == [(0, 25, 3), (25, 40, 2)]
    assert cut(Session(10, most=100), 0, 10) == [(0, 20, 2)]


def test_a_row_starts_or_ends_a_session_where_that_is_true_and_not_where_it_is_null() -> None:
    window = Session(10, starts="login", ends="logout")
    yes, no, out = {"login": True}, {"login": False}, {"logout": True}
    assert cut(window, 0, (5, yes), (6, no), 7) == [(0, 5, 1), (5, 17, 3)]
    assert cut(window, 0, (5, out), 6) == [(0, 6, 2), (6, 16, 1)]
    assert cut(window, 0, (5, out), 16) == [(0, 15, 2), (16, 26, 1)]
    assert cut(window, (0, {**yes, **out}), 1) == [(0, 1, 1), (1, 11, 1)]


def test_rows_of_one_instant_are_never_split() -> None:
    window = Session(10, starts="login", ends="logout")
    assert cut(window, 0, 5, (5, {"login": True}), 5) == [(0, 5, 1), (5, 15, 3)]
    assert cut(window, 5, (5, {"logout": True}), 5, 6) == [(5, 6, 3), (6, 16, 1)]


def test_the_bucket_of_a_session_is_its_key_and_of_messages_there_is_one() -> None:
    assert bucket_keys(plan(keys=("k", "page"))) == ("k",)
    assert bucket_keys(plan(Session(2, ROWS))) == ()


# When it is full.


def test_it_is_full_when_the_watermark_is_past_its_end() -> None:
    fed = Fed()
    assert fed(row("a", 0)) == []
    assert fed(watermark=10) == []  # a row at 10 would not be late, and would join
    assert fed(watermark=10 + MICRO) == [("+I", "full", 0, "a", 0, 10, 1)]
    assert fed(end=True) == []


def test_keys_have_their_own_sessions_and_null_is_a_key() -> None:
    fed = Fed(plan(values=("n", "listed")))
    rows = row("a", 0, v=1), row(None, 5, v=2), row("a", 7, v=3), row(None, 30, v=4)
    assert fed(*rows, watermark=41) == [
        ("+I", "full", 0, None, 5, 15, 1, [2]),
        ("+I", "full", 0, "a", 0, 17, 2, [1, 3]),
        ("+I", "full", 0, None, 30, 40, 1, [4]),
    ]


def test_other_keys_group_the_rows_of_a_session_and_have_its_bounds() -> None:
    fed = Fed(plan(keys=("k", "page")))
    rows = row("a", 0, page="x"), row("a", 8, page="y"), row("a", 16, page="x")
    assert fed(*rows, watermark=27) == [
        ("+I", "full", 0, "a", "x", 0, 26, 2),
        ("+I", "full", 0, "a", "y", 0, 26, 1),
    ]


def test_a_group_without_a_new_row_is_another_window_as_well() -> None:
    fed = Fed(plan(keys=("k", "page"), early=Early.ON_UPDATE))
    fed(row("a", 0, page="x"))
    assert fed(row("a", 8, page="y")) == [
        ("-D", "early", 1, "a", "x", 0, 10, 1),
        ("+I", "early", 0, "a", "x", 0, 18, 1),
        ("+I", "early", 0, "a", "y", 0, 18, 1),
    ]


def test_a_session_of_all_rows_where_there_is_no_key() -> None:
    fed = Fed(plan(keys=(), partition=()))
    assert fed(row("a", 0), row("b", 9), watermark=20) == [("+I", "full", 0, 0, 19, 2)]


# Those that vanish.


def test_what_was_never_emitted_is_forgotten() -> None:
    fed = Fed()
    assert fed(row("a", 0)) == fed(row("a", 8)) == fed(row("a", 16)) == []
    assert fed(watermark=27) == [("+I", "full", 0, "a", 0, 26, 3)]


@pytest.mark.parametrize("late", [Late.EVERY, Late.ON_UPDATE])
def test_a_late_row_bridges_two_sessions(late: Late) -> None:
    fed = Fed(plan(late=late, late_period=5 * SECOND))
    fed(row("a", 0), row("a", 16), watermark=30)
    emissions = fed(row("a", 8), now=1)
    assert fed.deadline == (None if late is Late.ON_UPDATE else 5)
    assert (emissions or fed(now=5)) == [
        ("-D", "late", 1, "a", 0, 10, 1),
        ("-D", "late", 1, "a", 16, 26, 1),
        ("+I", "late", 0, "a", 0, 26, 3),
    ]
    assert fed(now=100, end=True) == []


def test_one_that_is_bridged_into_an_open_session_is_retracted_by_itself() -> None:
    fed = Fed(plan(late_period=5 * SECOND))
    fed(row("a", 0), row("a", 16), watermark=20)
    assert fed(row("a", 8), now=1) == []
    assert fed(now=4) == []
    assert fed(now=5) == [("-D", "late", 1, "a", 0, 10, 1)]
    assert fed(watermark=27) == [("+I", "full", 0, "a", 0, 26, 3)]


def test_or_directly_before_what_replaces_it_if_that_comes_first() -> None:
    fed = Fed(plan(late_period=5 * SECOND))
    fed(row("a", 0), row("a", 16), watermark=20)
    fed(row("a", 8), now=1)
    assert fed(now=2, watermark=27) == [
        ("-D", "full", 1, "a", 0, 10, 1),
        ("+I", "full", 0, "a", 0, 26, 3),
    ]
    assert fed.deadline is None


def test_late_never_retracts_only_what_is_superseded() -> None:
    fed = Fed(plan(late=Late.NEVER))
    fed(row("a", 0), row("a", 30), watermark=20)
    assert fed(row("a", 8)) == []  # [0, 18) is full at once, and never emitted: [0, 10) stays
    assert fed.deadline is None
    assert fed(row("a", 17), row("a", 23), end=False) == []  # joins all with what is open
    assert fed(watermark=41) == [
        ("-D", "full", 1, "a", 0, 10, 1),
        ("+I", "full", 0, "a", 0, 40, 5),
    ]


def test_late_never_leaves_what_was_emitted_at_the_end() -> None:
    fed = Fed(plan(late=Late.NEVER, retain=5 * SECOND))
    fed(row("a", 0), watermark=20)
    assert fed(row("a", 8)) == []
    assert fed(watermark=100) == fed(end=True) == []


def test_one_session_a_batch_goes_out_once_with_all_it_replaces_before_it() -> None:
    fed = Fed(plan(early=Early.ON_UPDATE))
    assert fed(row("a", 0), row("a", 16), row("a", 32)) == [
        ("+I", "early", 0, "a", 0, 10, 1),
        ("+I", "early", 0, "a", 16, 26, 1),
        ("+I", "early", 0, "a", 32, 42, 1),
    ]
    assert fed(row("a", 24), row("a", 8)) == [
        ("-D", "early", 1, "a", 0, 10, 1),
        ("-D", "early", 1, "a", 16, 26, 1),
        ("-D", "early", 1, "a", 32, 42, 1),
        ("+I", "early", 0, "a", 0, 42, 5),
    ]


def test_a_row_inside_a_session_changes_it_and_nothing_vanishes() -> None:
    fed = Fed(plan(early=Early.ON_UPDATE, late=Late.ON_UPDATE))
    fed(row("a", 0), row("a", 8))
    assert fed(row("a", 5)) == [("+U", "early", 1, "a", 0, 18, 3)]
    assert fed(watermark=20) == [("+U", "full", 2, "a", 0, 18, 3)]
    assert fed(row("a", 8)) == [("+U", "late", 3, "a", 0, 18, 4)]


def test_what_is_due_early_stays_so_in_what_replaces() -> None:
    fed = Fed(plan(early=Early.EVERY, early_period=20 * SECOND))
    fed(row("a", 0), now=0)
    fed(row("a", 8), now=15)
    assert fed.deadline == 20
    assert fed(now=20) == [("+I", "early", 0, "a", 0, 18, 2)]
    fed(row("a", 16), now=25)
    assert fed(now=39) == []
    assert fed(now=40) == [("-D", "early", 1, "a", 0, 18, 2), ("+I", "early", 0, "a", 0, 26, 3)]


def test_rows_that_wait_are_counted_together_where_sessions_merge() -> None:
    fed = Fed(plan(early=Early.ROWS, early_rows=4))
    assert fed(row("a", 0)) == fed(row("a", 16), row("a", 17)) == []
    assert fed(row("a", 8)) == [("+I", "early", 0, "a", 0, 27, 4)]
    assert fed(row("a", 20)) == fed(row("a", 21)) == fed(row("a", 22)) == []
    assert fed(row("a", 23)) == [
        ("-D", "early", 1, "a", 0, 27, 4),
        ("+I", "early", 0, "a", 0, 33, 8),
    ]


def test_one_emitted_early_goes_with_the_close_of_what_replaces_it() -> None:
    fed = Fed(plan(early=Early.ROWS, early_rows=2))
    assert fed(row("a", 0), row("a", 1)) == [("+I", "early", 0, "a", 0, 11, 2)]
    assert fed(row("a", 8)) == []
    assert fed(watermark=19) == [
        ("-D", "full", 1, "a", 0, 11, 2),
        ("+I", "full", 0, "a", 0, 18, 3),
    ]


def test_a_chain_of_superseded_ones_retracts_only_what_is_out() -> None:
    fed = Fed(plan(early=Early.EVERY, early_period=5 * SECOND))
    fed(row("a", 0))
    assert fed(now=5) == [("+I", "early", 0, "a", 0, 10, 1)]
    assert fed(row("a", 8), now=6) == fed(row("a", 16), now=7) == []
    assert fed(now=10) == [("-D", "early", 1, "a", 0, 10, 1), ("+I", "early", 0, "a", 0, 26, 3)]


def test_what_a_timeout_emitted_is_retracted_when_the_session_goes_on() -> None:
    fed = Fed(plan(timeout=5 * SECOND, late_period=3 * SECOND))
    fed(row("a", 0), now=0)
    assert fed(now=5) == [("+I", "full", 0, "a", 0, 10, 1)]
    assert fed(row("a", 8), now=6) == []
    assert fed(now=9) == [("-D", "late", 1, "a", 0, 10, 1)]
    assert fed(now=11) == [("+I", "full", 0, "a", 0, 18, 2)]
    assert fed(row("a", 3), now=12, watermark=19) == []
    assert fed(now=15) == [("+U", "late", 1, "a", 0, 18, 3)]


def test_an_end_of_input_makes_room_as_well() -> None:
    fed = Fed()
    assert fed(row("a", 0), end=True) == [("+I", "full", 0, "a", 0, 10, 1)]
    assert fed(row("a", 8), end=True) == [
        ("-D", "late", 1, "a", 0, 10, 1),
        ("+I", "full", 0, "a", 0, 18, 2),
    ]


def test_retractions_have_the_values_last_emitted() -> None:
    fed = Fed(plan(values=("n", "listed"), late=Late.ON_UPDATE))
    fed(row("a", 0, v=1), watermark=11)
    fed(row("a", 0, v=2))
    assert (
        fed(row("a", 10, v=3))
        == [
            ("-D", "late", 2, "a", 0, 10, 2, [1, 2]),
            ("+I", "late", 0, "a", 0, 20, 3, [1, 2, 3]),
        ][:1]
    )
    assert fed(watermark=21) == [("+I", "full", 0, "a", 0, 20, 3, [1, 2, 3])]


# Where more than a pause ends a session.


def test_a_late_row_splits_a_session_and_its_full_part_is_emitted_full_at_once() -> None:
    fed = Fed(plan(session(starts="login"), late=Late.NEVER))
    fed(row("a", 0), row("a", 9), row("a", 18), watermark=20)
    assert fed(row("a", 9, login=True)) == [("+I", "full", 0, "a", 0, 9, 1)]
    assert fed(watermark=29) == [("+I", "full", 0, "a", 9, 28, 3)]


def test_the_first_part_that_is_emitted_supersedes_it() -> None:
    fed = Fed(plan(session(starts="login"), early=Early.EVERY, early_period=SECOND))
    fed(row("a", 0), row("a", 9))
    assert fed(now=1) == [("+I", "early", 0, "a", 0, 19, 2)]
    fed(row("a", 5, login=True), now=2, watermark=4)
    assert fed(now=3) == [
        ("-D", "early", 1, "a", 0, 19, 2),
        ("+I", "early", 0, "a", 0, 5, 1),
        ("+I", "early", 0, "a", 5, 19, 2),
    ]


def test_what_makes_room_brings_with_it_the_full_ones_beside_it() -> None:
    fed = Fed(plan(session(ends="logout"), late=Late.NEVER))
    assert fed(row("a", 0, logout=True), watermark=11) == [("+I", "full", 0, "a", 0, 10, 1)]
    assert fed(row("a", 4)) == []
    assert fed(watermark=15) == [
        ("-D", "late", 1, "a", 0, 10, 1),
        ("+I", "late", 0, "a", 0, 4, 1),
        ("+I", "full", 0, "a", 4, 14, 1),
    ]


def test_one_that_was_ended_ends_where_the_next_one_begins() -> None:
    fed = Fed(plan(session(ends="logout"), late=Late.ON_UPDATE))
    fed(row("a", 0, logout=True), row("a", 8), watermark=9)
    assert fed(row("a", 4)) == [("-D", "late", 1, "a", 0, 8, 1), ("+I", "late", 0, "a", 0, 4, 1)]
    assert fed(watermark=19) == [("+I", "full", 0, "a", 4, 18, 2)]


def test_a_session_that_comes_back_is_new_one_revision_on() -> None:
    fed = Fed(plan(session(most=20), early=Early.ON_UPDATE))
    assert fed(row("a", 8), row("a", 16)) == [("+I", "early", 0, "a", 8, 26, 2)]
    assert fed(row("a", 0)) == [
        ("-D", "early", 1, "a", 8, 26, 2),
        ("+I", "early", 0, "a", 0, 20, 3),
    ]
    assert fed(row("a", -10)) == [
        ("-D", "early", 1, "a", 0, 20, 3),
        ("+I", "early", 0, "a", -10, 10, 3),
        ("+I", "early", 0, "a", 16, 26, 1),
    ]
    assert fed(row("a", -20)) == [
        ("-D", "early", 1, "a", -10, 10, 3),
        ("+I", "early", 0, "a", -20, 0, 2),
        ("-D", "early", 1, "a", 16, 26, 1),
        ("+I", "early", 2, "a", 0, 20, 3),
    ]


# Retention.


def test_a_row_at_the_horizon_joins_what_ends_there() -> None:
    fed = Fed(plan(retain=5 * SECOND, late=Late.ON_UPDATE))
    fed(row("a", 0), watermark=15)
    assert fed(row("a", 10)) == [("-D", "late", 1, "a", 0, 10, 1)]
    assert fed(watermark=21) == [("+I", "full", 0, "a", 0, 20, 2)]


def test_what_waits_goes_out_when_the_session_leaves() -> None:
    fed = Fed(plan(retain=5 * SECOND, late_period=60 * SECOND))
    fed(row("a", 0), watermark=12)
    assert fed(row("a", 1)) == fed(watermark=16) == []
    assert fed(watermark=16 + MICRO) == [
        ("-D", "late", 1, "a", 0, 10, 1),
        ("+I", "late", 0, "a", 0, 11, 2),
    ]


def test_an_expired_row_that_is_emitted_is_a_session_of_its_own() -> None:
    fed = Fed(plan(session(most=8), expired=Expired.EMIT, retain=5 * SECOND))
    fed(row("a", 100), watermark=100)
    assert fed(row("a", 94), row("a", 93), row("a", 95)) == [
        ("+I", "late", 0, "a", 93, 101, 1),
        ("+I", "late", 0, "a", 94, 102, 1),
    ]
    assert fed(row("a", 94)) == [("+I", "late", 0, "a", 94, 102, 1)]
    assert fed(watermark=200) == [("+I", "full", 0, "a", 95, 103, 2)]


# Messages.


def test_a_session_of_messages_goes_on_over_a_gap_of_messages_of_others() -> None:
    fed = Fed(plan(Session(2, ROWS)))
    assert fed(row("a", 0), row("b", 0), row("c", 0), row("a", 0)) == []  # 2 between: joins
    assert fed(row("c", 0), row("c", 0)) == [("+I", "full", 0, "b", 2, 3, 1)]
    assert fed(row("b", 0)) == [("+I", "full", 0, "a", 1, 5, 2)]
    assert fed(row("a", 0), end=True) == [
        ("+I", "full", 0, "c", 3, 7, 3),
        ("+I", "full", 0, "b", 7, 8, 1),
        ("+I", "full", 0, "a", 8, 9, 1),
    ]


def test_messages_that_where_drops_are_counted_and_take_no_part() -> None:
    fed = Fed(plan(Session(2, ROWS), where="login"))
    yes = {"login": True}
    assert fed(row("a", 0, **yes), row("a", 0), row("a", 0, login=False), row("a", 0, **yes)) == []
    assert fed(row("a", 0), row("a", 0)) == []
    assert fed(row("a", 0)) == [("+I", "full", 0, "a", 1, 5, 2)]


def test_messages_emitted_by_a_timeout_are_retracted_when_the_session_goes_on() -> None:
    fed = Fed(plan(Session(2, ROWS), timeout=5 * SECOND))
    fed(row("a", 0))
    assert fed(now=5) == [("+I", "full", 0, "a", 1, 2, 1)]
    assert fed(row("a", 0), now=6) == []
    assert fed(now=11) == [("-D", "full", 1, "a", 1, 2, 1), ("+I", "full", 0, "a", 1, 3, 2)]
