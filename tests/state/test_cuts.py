"""When what a cut hides leaves memory and disk, and what is written of it."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.segments.cut_log import MAX_BLOBS
from sqlwin.state.segments.index import Index
from sqlwin.state.segments.store import SegmentStore
from sqlwin.state.stores.memory import MemoryStore
from tests.support.state.stores import COMBINES, LAYOUT, Row, frame, horizons

ALL = (-(10**30), 10**30)
COMBINE = COMBINES["last_written"]


def record(t: int, k: str = "a", x: int = 0) -> Row:
    return (k, 1, t, 0, x)


def store(blobs: DictBlobs, index: Any = None) -> SegmentStore:
    return SegmentStore(LAYOUT, COMBINE, blobs, index=index, max_segments_per_slice=3)


def rows_of(index: Any) -> list[int]:
    """Of each segment, in the order of the index."""
    return [segment.rows for segment in Index.from_json(index).segments]


def test_a_run_is_written_anew_once_half_of_it_is_hidden() -> None:
    one = store(DictBlobs())
    one.put(frame([record(t, k) for t in range(10) for k in "ab"]))
    assert rows_of(one.flush("f0")) == [20]
    for horizon, left in [(5, 20), (9, 20), (10, 10)]:
        one.put(frame([record(t, k) for t in range(10, 20) for k in "ab"]))  # work enough to look
        one.cut(horizons("k", ("a", horizon)))
        assert rows_of(one.flush(f"f{horizon}"))[0] == left
        one._check()
    assert len(one) == 10 + 20


def test_a_run_that_is_all_hidden_is_gone_unless_a_newer_one_stays() -> None:
    one = store(DictBlobs())
    for k in "abc":
        one.put(frame([record(t, k) for t in range(9)]))
        index = one.flush(k)
    assert rows_of(index) == [9, 9, 9]
    one.cut(horizons("k", ("b", 9), *(("x", i) for i in range(20))))
    index = one.flush("gone")
    one._check()
    assert rows_of(index) == [9, 9]
    assert {row[0] for row in one.scan(*ALL).rows()} == {"a", "c"}


def test_a_rewritten_run_stays_older_than_the_runs_after_it() -> None:
    blobs = DictBlobs()
    one = store(blobs)
    one.put(frame([record(5, "b", 1), *[record(t) for t in range(5)]]))
    one.flush("old")
    one.put(frame([record(5, "b", 2)]))
    one.flush("new")
    one.cut(horizons("k", ("a", 5), ("x", 1)))
    index = one.flush("rewritten")
    assert rows_of(index) == [1, 1]
    assert store(blobs, index).scan(*ALL).rows() == [record(5, "b", 2)]


def test_a_merge_leaves_hidden_records_behind() -> None:
    one = store(DictBlobs())
    one.put(frame([record(t, k) for t in range(10) for k in "abcdef"]))
    one.flush("f")
    one.cut(horizons("k", ("a", 9)))
    for i in range(3):
        one.put(frame([record(t, k, i) for t in range(9) for k in "bcde"]))
        index = one.flush(f"g{i}")
    assert rows_of(index) == [60 - 9]


def test_what_was_cut_stays_cut_after_a_restart_and_a_crash() -> None:
    blobs = DictBlobs()
    one = store(blobs)
    one.put(frame([record(t) for t in range(10)]))
    one.cut(horizons("k", ("a", 2)))
    index = json.loads(json.dumps(one.flush("f")))
    one.cut(horizons("k", ("a", 7)))
    again = store(blobs, index)
    assert len(again) == 8  # the cut that was not flushed is gone, with whatever caused it
    again.put(frame([record(1)]))
    assert len(again) == 8


def test_blobs_of_cuts_are_few_and_go_with_the_horizon() -> None:
    blobs = DictBlobs()
    one = store(blobs)
    one.put(frame([record(t, k) for t in range(60) for k in "ab"]))
    for t in range(1, 50):
        one.cut(horizons("k", ("a", t)))
        one.cut(horizons("k j", ("b", 1, t)))
        index = one.flush(f"f{t}")
        one._check()
        assert len(index["cuts"]) <= 2 * MAX_BLOBS
        assert len(store(blobs, index)) == len(one) == 120 - 2 * t
    one.expire(49)
    index = one.flush("last")
    assert index["cuts"] == []
    one.flush("after")
    assert set(blobs.names()) == {segment["name"] for segment in index["segments"]}


def test_an_equal_cut_writes_nothing() -> None:
    blobs = DictBlobs()
    one = store(blobs)
    one.put(frame([record(t) for t in range(10)]))
    one.cut(horizons("k", ("a", 3)))
    index = one.flush("f")
    one.cut(horizons("k", ("a", 3), ("a", 1)))
    assert one.flush("g") | {"work": 0} == index | {"work": 0}


def test_sweep_leaves_the_cuts() -> None:
    blobs = DictBlobs()
    one = store(blobs)
    one.put(frame([record(t) for t in range(10)]))
    one.cut(horizons("k", ("a", 3)))
    index = one.flush("f")
    one.sweep()
    assert len(store(blobs, index)) == 7


def test_memory_holds_little_more_than_what_is_shown() -> None:
    """n rows of each of two keys are kept of a stream; at most a quarter more lie there."""
    one, last = MemoryStore(LAYOUT, COMBINE), 100
    for t in range(1_000):
        one.put(frame([record(t, "a"), record(t, "b")]))
        one.cut(horizons("k", ("a", t - last), ("b", t - last)))
    held = sum(frame.height for slice_ in one._slices.values() for frame in slice_.frames)
    assert len(one) == 2 * (last + 1)
    assert held <= 1.5 * len(one)


def test_segments_hold_little_more_than_what_is_shown() -> None:
    """Restarted at each flush, as a bucket of Spark is."""
    blobs, index, last = DictBlobs(), None, 100
    for t in range(0, 1_000, 10):
        one = store(blobs, index)
        one.put(frame([record(t + i, k) for i in range(10) for k in "ab"]))
        one.put(frame([record(t, "rare")]))
        one.cut(horizons("k", ("a", t - last), ("b", t - last)))
        index = json.loads(json.dumps(one.flush(f"f{t}")))
    assert sum(rows_of(index)) <= 2.5 * len(one)


def test_the_columns_of_floors_may_come_in_any_order() -> None:
    one = MemoryStore(LAYOUT, COMBINE)
    one.put(frame([record(1), record(2)]))
    one.cut(horizons("k j", ("a", 1, 2)).select("__floor", "j", "k"))
    one.cut(pl.DataFrame({"k": ["a"], "__floor": [1]}))
    assert one.scan(*ALL).rows() == [record(2)]
