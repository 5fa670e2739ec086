"""Session joins: step by step what the definition says, and the cases that decide it."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.operators.joins.sessions.operator import SessionJoin
from sqlwin.policies import Early, Late
from sqlwin.windows import Unit
from sqlwin.windows.session import Session
from tests.support.operators.driving import emissions, records
from tests.support.operators.joining import agree
from tests.support.operators.joins import LEFT, RIGHT, Joined, Step, rows_of, specified, steps
from tests.support.operators.session_joins import GAPS, ONE_SIDE, session_join, session_joins


@given(session_joins(), steps(), st.booleans())
def test_each_call_emits_what_the_definition_emits(
    operator: SessionJoin, taken: list[Step], restarts: bool
) -> None:
    agree(operator, taken, restarts)


@given(
    st.sampled_from([(None, 3), (4, None), (None, None), (None, 0), (0, None)]),
    steps(),
    st.booleans(),
)
def test_gaps_of_the_rows_themselves(
    gaps: tuple[int | None, int | None], taken: list[Step], restarts: bool
) -> None:
    """A NULL in `j` is made a gap of its own."""
    made = [
        Step(
            tuple((k, j or 5, *rest) for k, j, *rest in step.left),
            tuple((k, j or 5, *rest) for k, j, *rest in step.right),
            step.back,
            step.watermark,
            step.clock,
            step.end,
        )
        for step in taken
    ]
    agree(session_join("full", gaps), made, restarts)


@given(
    st.one_of(st.tuples(GAPS, GAPS), ONE_SIDE),
    st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=9),
    st.data(),
)
def test_pairs_do_not_depend_on_the_cut(
    gaps: tuple[int, int], rows: list[tuple[bool, int]], data: st.DataObject
) -> None:
    numbered = [(at, of, n) for n, (of, at) in enumerate(rows)]

    def pairs(batches: list[list[tuple[int, bool, int]]]) -> set[str]:
        driven = Joined(session_join(gaps=gaps, retain=None))
        out: set[str] = set()
        for batch in batches:
            sides = [[_row(at, n) for at, of, n in batch if of is side] for side in (False, True)]
            emitted = driven.step(rows_of(LEFT, *sides[0]), rows_of(RIGHT, *sides[1]))
            keys = emitted["__row_key"].to_list()
            assert not out & set(keys)
            out |= set(keys)
        return out

    shuffled = data.draw(st.permutations(numbered))
    assert pairs([numbered]) == pairs([[row] for row in shuffled])


def _row(at: int, number: int) -> tuple[Any, ...]:
    return ("a", 1, number, at, number, 0, 1)


# --- cases ----------------------------------------------------------------------------


def lefts(*times: int, first: int = 0) -> pl.DataFrame:
    return rows_of(LEFT, *(_row(at, first + n) for n, at in enumerate(times)))


def rights(*times: int, first: int = 0) -> pl.DataFrame:
    return rows_of(RIGHT, *(_row(at, first + n) for n, at in enumerate(times)))


def test_a_session_that_begins_where_another_ends_does_not_overlap_it() -> None:
    driven = Joined(session_join(gaps=(10, 10)))
    assert driven.step(lefts(0), rights(10)).is_empty()
    assert len(driven.step(right=rights(9, first=1))) == 2  # [9, 20) holds the one at 10 too


def test_a_row_in_no_session_meets_the_session_that_holds_its_instant() -> None:
    driven = Joined(session_join("left", gaps=(0, 10)))
    assert len(driven.step(lefts(9, 10, 11, 30), rights(10, 20))) == 4  # [10, 30)
    assert emissions(driven.step(watermark=9), "v") == []
    assert emissions(driven.step(watermark=10), "v") == [("+I", "full", 0, 0)]  # nothing at 9 comes
    assert emissions(driven.step(watermark=31), "v") == [("+I", "full", 0, 3)]


def test_instants_next_to_each_other_are_apart() -> None:
    driven = Joined(session_join(gaps=(0, 10), weighted=True))
    assert len(driven.step(lefts(4, 5, 6), rights(5))) == 2
    assert [row["v"] for row in driven.step(left=gone(5, 1)).to_dicts()] == [1]


def test_a_row_at_the_horizon_is_kept_though_others_of_its_key_are_over() -> None:
    driven = Joined(session_join("left", gaps=(0, 10), retain=0))
    assert len(driven.step(lefts(6), watermark=10)) == 1
    driven.step(left=lefts(10, first=1))
    assert emissions(driven.step(watermark=11), "v") == [("+I", "full", 0, 1)]


def test_an_instant_stays_while_a_session_that_holds_it_goes_on() -> None:
    driven = Joined(session_join(gaps=(0, 9), retain=2, interval=1))
    driven.step(lefts(0, 5), rights(5, 12), watermark=15)  # [5, 21)
    assert driven.stores["left"].scan(0, 100)["v"].to_list() == [1]
    assert len(driven.step(right=rights(20, first=2))) == 1
    driven.step(watermark=32)  # [5, 29) is over
    assert not len(driven.stores["left"])


def test_a_late_row_bridges_sessions_and_retracts_padded_rows() -> None:
    driven = Joined(session_join("full", gaps=(10, 10), retain=50))
    assert driven.step(lefts(0, 40), rights(22), watermark=30).to_dicts()[0]["v"] == 0
    closed = driven.step(watermark=60)
    assert emissions(closed, "v", "w") == [("+I", "full", 0, None, 0), ("+I", "full", 0, 1, None)]
    late = driven.step(left=lefts(10, 20, 30, first=2))
    assert emissions(late, "v", "w") == [
        ("-D", "late", 1, 0, None),
        ("-D", "late", 1, None, 0),
        ("-D", "late", 1, 1, None),
        *(("+I", "late", 0, v, 0) for v in (0, 2, 3, 4, 1)),
    ]


def test_a_session_that_grows_again_emits_its_padded_rows_once() -> None:
    driven = Joined(session_join("left", gaps=(10, 10), retain=50))
    driven.step(lefts(0))
    assert emissions(driven.step(watermark=11), "v") == [("+I", "full", 0, 0)]
    assert driven.step(left=lefts(8, first=1)).is_empty()  # [0, 18) is open again
    assert driven.step(watermark=18).is_empty()  # a row at 18 still joins it
    assert emissions(driven.step(watermark=19), "v") == [("+I", "full", 0, 1)]


def gone(at: int, number: int) -> pl.DataFrame:
    """A left row of those that `lefts` gives is retracted."""
    return rows_of(LEFT, (*_row(at, number)[:-1], -1))


def test_a_retracted_row_splits_its_session_and_retracts_pairs() -> None:
    driven = Joined(session_join("left", gaps=(10, 10), retain=50, weighted=True))
    assert len(driven.step(lefts(0, 10, 20), rights(25))) == 3  # [0, 30) and [25, 35)
    split = driven.step(left=gone(10, 1), watermark=18)
    assert emissions(split, "v", "w") == [
        ("-D", "full", 1, 0, 0),
        ("-D", "full", 1, 1, 0),
        ("+I", "full", 0, 0, None),  # [0, 10) is over
    ]


def test_a_row_that_a_shorter_session_makes_final_is_emitted_at_once() -> None:
    driven = Joined(session_join("left", gaps=(10, 10), retain=50, weighted=True))
    assert driven.step(lefts(0, 8), watermark=14).is_empty()  # [0, 18)
    assert emissions(driven.step(left=gone(8, 1)), "v") == [("+I", "full", 0, 0)]
    assert driven.step(watermark=30).is_empty()


def test_nothing_stays_of_sessions_whose_rows_are_all_retracted() -> None:
    driven = Joined(session_join("full", gaps=(10, 10), retain=20, weighted=True))
    driven.step(lefts(0), rights(5), watermark=3)
    assert emissions(driven.step(left=gone(0, 0)), "v", "w") == [("-D", "full", 1, 0, 0)]
    driven.step(watermark=100)
    assert {name: len(store) for name, store in driven.stores.named.items() if len(store)} == {}


@pytest.mark.parametrize(("watermark", "kept"), [(15, True), (16, False)])
def test_rows_go_with_their_whole_session(watermark: int, kept: bool) -> None:
    driven = Joined(session_join(gaps=(5, 5), retain=5))
    driven.step(lefts(0, 5), rights(100), watermark=watermark)
    sizes = [len(driven.stores[name]) for name in ("left", "left_sessions")]
    assert (sizes[0] > 0) == kept
    assert driven.step(right=rights(watermark - 5, first=1)).is_empty()  # [0, 10) is over there
    assert len(driven.step(left=lefts(watermark - 5, first=2))) == (3 if kept else 1)


def test_a_long_session_keeps_its_first_row_and_no_other_key() -> None:
    driven = Joined(session_join(gaps=(5, 5), retain=0))
    long = rows_of(LEFT, *(("a", 1, n, 4 * n, n, 0, 1) for n in range(6)), ("b", 1, 9, 0, 9, 0, 1))
    driven.step(long, watermark=22)
    kept = driven.stores["left"].scan(0, 100)
    assert kept["k"].to_list() == ["a"] * 6
    assert len(driven.step(right=rights(22))) == 6


def test_a_session_stays_while_one_that_overlaps_it_goes_on_and_no_other_key() -> None:
    driven = Joined(session_join(gaps=(2, 9), retain=0, interval=1))
    driven.step(
        rows_of(LEFT, ("a", 1, 0, 0, 0, 0, 1), ("b", 1, 1, 0, 1, 0, 1)),
        rows_of(RIGHT, *(("a", 1, n, 8 * n, n, 0, 1) for n in range(5))),
        watermark=40,
    )
    assert driven.stores["left"].scan(0, 100)["k"].to_list() == ["a"]
    assert driven.stores["left_sessions"].scan(0, 100)["k"].to_list() == ["a"]
    assert len(driven.step(right=rights(41, first=5))) == 1
    driven.step(watermark=51)  # [0, 50) is over
    assert not len(driven.stores["left"])
    assert not len(driven.stores["left_sessions"])


def test_a_null_key_is_in_a_session_and_in_no_pair() -> None:
    driven = Joined(session_join("full", gaps=(5, 5)))
    nobody = (None, 1, 1, 0, 0, 0, 1)
    driven.step(rows_of(LEFT, nobody), rows_of(RIGHT, nobody))
    assert driven.step(watermark=5).is_empty()
    assert emissions(driven.step(watermark=6), "v", "w") == [
        ("+I", "full", 0, None, 1),
        ("+I", "full", 0, 1, None),
    ]


def test_late_never_emits_no_late_match_and_retracts_no_padded_row() -> None:
    driven = Joined(session_join("left", gaps=(5, 5), late=Late.NEVER))
    driven.step(lefts(0), watermark=6)
    assert driven.step(right=rights(2)).is_empty()


def test_early_pads_at_once() -> None:
    driven = Joined(session_join("left", gaps=(5, 5), early=Early.ON_UPDATE))
    assert emissions(driven.step(lefts(0)), "v") == [("+I", "early", 0, 0)]
    late = driven.step(right=rights(4))
    assert emissions(late, "v", "w") == [("-D", "full", 1, 0, None), ("+I", "full", 0, 0, 0)]
    assert driven.step(watermark=50).is_empty()


def test_by_definition_too() -> None:
    operator = session_join("full", gaps=(10, 10), keys=2, retain=50)
    fast, slow = Joined(operator), Joined(specified(operator))
    columns = [*operator.output]
    for left, right, mark in (
        (lefts(0, 40), rights(22), 30),
        (lefts(10, 20, 30, first=2), None, 60),
    ):
        steps = [each.step(left, right, watermark=mark) for each in (fast, slow)]
        assert records(steps[0], columns) == records(steps[1], columns)


@pytest.mark.parametrize(
    "session",
    [Session(5, most=9), Session(5, starts="v"), Session(5, ends="v"), Session(5, Unit.ROWS)],
)
def test_sessions_that_more_than_time_ends_are_refused(session: Session) -> None:
    left = session_join().left
    with pytest.raises(ValueError, match=r"part such a session"):
        type(left)(
            "left", LEFT, ("k",), left.window, 4, session=session, partition=("k",), interval=4
        )
