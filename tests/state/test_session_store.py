"""KIP-94's session store, in memory and on segments, against a list of sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.errors import StateError
from sqlwin.instants import SECOND
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.combine import last_written
from sqlwin.state.contract import Store
from sqlwin.state.segments.store import SegmentStore
from sqlwin.state.stores.memory import MemoryStore
from sqlwin.state.stores.session_store import (
    FROM,
    MIN_INTERVAL,
    UNTIL,
    SessionStore,
    segment_interval,
    session_layout,
)

LAYOUT = session_layout("sessions", {"k": pl.String()}, {"n": pl.Int64()}, 1000)
Session = tuple[str | None, int, int, int]


def in_memory() -> Store:
    return MemoryStore(LAYOUT, last_written(LAYOUT))


def on_segments() -> Store:
    return SegmentStore(LAYOUT, last_written(LAYOUT), DictBlobs(), segment_rows=2)


STORES = pytest.mark.parametrize("made", [in_memory, on_segments])


def frame(*sessions: Session) -> pl.DataFrame:
    schema = {"k": pl.String, FROM: pl.Int64, UNTIL: pl.Int64, "n": pl.Int64}
    return pl.DataFrame(list(sessions), schema=schema, orient="row")


def ann() -> pl.DataFrame:
    return pl.DataFrame({"k": ["ann"]})


def test_segments_of_1000() -> None:
    assert [LAYOUT.slice_of(end) // 1000 for end in (0, 500, 1000, 2000)] == [0, 0, 1, 2]


def test_the_interval_is_a_share_of_retention_but_no_less_than_the_minimum() -> None:
    assert segment_interval(10_000, segments=3, minimum=60) == 5000
    assert segment_interval(100, segments=3, minimum=60) == 60
    assert segment_interval(0) == MIN_INTERVAL == 60 * SECOND


@pytest.mark.parametrize("wrong", [(-1, 3, 60), (10, 1, 60), (10, 3, 0)])
def test_an_interval_of_nothing_is_refused(wrong: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match=f"got {wrong[0]}, {wrong[1]} and {wrong[2]}"):
        segment_interval(*wrong)


@STORES
def test_sessions_to_merge_are_those_that_end_late_and_start_early_enough(
    made: Callable[[], Store],
) -> None:
    store = SessionStore(made())
    spans = [(0, 99), (101, 200), (201, 300), (301, 400)]
    store.put(frame(*(("ann", *span, 1) for span in spans), ("bob", 150, 250, 1)))
    found = store.find_sessions(earliest_end=150, latest_start=300, keys=ann())
    assert found[FROM].to_list() == [101, 201]
    everyone = store.find_sessions(earliest_end=150, latest_start=300)
    assert everyone.select("k", FROM).rows() == [("ann", 101), ("ann", 201), ("bob", 150)]


@STORES
def test_both_ends_of_a_range_are_included(made: Callable[[], Store]) -> None:
    store = SessionStore(made())
    store.put(frame(("ann", 100, 200, 1)))
    assert len(store.find_sessions(200, 100)) == 1
    assert len(store.find_sessions(201, 100)) == len(store.find_sessions(200, 99)) == 0


@STORES
def test_a_merged_session_takes_the_place_of_those_removed(made: Callable[[], Store]) -> None:
    store = SessionStore(made())
    store.put(frame(("ann", 0, 900, 1), ("ann", 1500, 2500, 2), ("bob", 0, 10, 7)))
    store.remove(frame(("ann", 0, 900, 1), ("ann", 1500, 2500, 2)))
    store.put(frame(("ann", 0, 2500, 4)))
    assert store.fetch(ann()).rows() == [("ann", 0, 2500, 4)]
    assert store.fetch(pl.DataFrame({"k": ["bob"]})).rows() == [("bob", 0, 10, 7)]


@STORES
def test_whole_segments_expire_and_no_session_is_stored_in_one(made: Callable[[], Store]) -> None:
    store = SessionStore(made())
    store.put(frame(("ann", 0, 999, 1), ("bob", 0, 1000, 1), ("cat", 0, 1700, 1)))
    store.expire(1600)  # in the segment of 1000 to 1999, which stays whole
    assert store.find_sessions(0, 9999)["k"].to_list() == ["bob", "cat"]
    store.put(frame(("dan", 500, 900, 1), ("eve", 500, 1001, 1)))
    assert store.find_sessions(0, 9999)["k"].to_list() == ["bob", "cat", "eve"]


def test_a_session_that_ends_before_it_starts_is_refused() -> None:
    store = SessionStore(in_memory())
    with pytest.raises(StateError, match="ends at 5, before it starts at 9"):
        store.put(frame(("ann", 9, 5, 1)))
    assert store.find_sessions(-99, 99).is_empty()


def test_keys_of_another_type_are_refused() -> None:
    with pytest.raises(StateError, match="has no key k"):
        SessionStore(in_memory()).fetch(pl.DataFrame({"k": [1]}))


Action = tuple[str, Any]


def actions() -> st.SearchStrategy[list[Action]]:
    keys, starts = st.sampled_from(["ann", None]), st.integers(0, 30).map(lambda n: n * 100)
    put = st.tuples(st.just("put"), st.tuples(keys, starts, st.integers(0, 12)))
    find = st.tuples(st.just("find"), st.tuples(starts, starts))
    expire = st.tuples(st.just("expire"), starts)
    again = st.tuples(st.just("flush"), st.none())
    return st.lists(st.one_of(put, put, put, find, expire, again), max_size=20)


@given(actions())
def test_it_holds_what_a_list_would(taken: list[Action]) -> None:
    """A session that is put takes in those that it overlaps, as the operator has it."""
    blobs = DictBlobs()
    segments = SegmentStore(LAYOUT, last_written(LAYOUT), blobs, segment_rows=2)
    held: list[Session] = []
    horizon = 0
    for number, (kind, what) in enumerate(taken):
        store = SessionStore(segments)
        if kind == "put":
            key, start, hundreds = what
            end = start + hundreds * 100
            merged = [s for s in held if s[0] == key and s[1] <= end and s[2] >= start]
            whole = (
                key,
                min([start, *(s[1] for s in merged)]),
                max([end, *(s[2] for s in merged)]),
            )
            store.remove(frame(*merged))
            store.put(frame((*whole, number)))
            held = [s for s in held if s not in merged]
            held += [(*whole, number)] if whole[2] // 1000 * 1000 >= horizon else []
        elif kind == "expire":
            store.expire(what)
            horizon = max(horizon, what // 1000 * 1000)
            held = [s for s in held if s[2] >= horizon]
        elif kind == "flush":
            index = json.loads(json.dumps(segments.flush(f"f{number}")))
            rest = {"index": index, "segment_rows": 2}
            segments = SegmentStore(LAYOUT, last_written(LAYOUT), blobs, **rest)
        else:
            ends, starts = what
            wanted = [s for s in held if s[2] >= ends and s[1] <= starts]
            assert set(store.find_sessions(ends, starts).rows()) == set(wanted)
    assert set(SessionStore(segments).find_sessions(-1, 10**6).rows()) == set(held)
    segments._check()
