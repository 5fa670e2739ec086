"""When the runs of a slice are merged."""

from __future__ import annotations

from dataclasses import replace

from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.segments.compaction import merge_from
from sqlwin.state.segments.index import Index
from sqlwin.state.segments.store import SegmentStore
from tests.support.state.stores import COMBINES, LAYOUT, Row, frame


def record(t: int, x: int = 0) -> Row:
    return ("a", 1, t, 0, x)


def flushed(one: SegmentStore, rows: list[Row], token: int) -> Index:
    one.put(frame(rows))
    index = Index.from_json(one.flush(f"f{token}"))
    one._check()
    return index


def test_runs_merge_by_the_given_combine() -> None:
    sizes, seen = [], []
    for _ in range(12):
        first = merge_from([*sizes, 1], 3)
        sizes = [*sizes[:first], sum(sizes[first:]) + 1]
        seen.append(sizes)
    assert seen[:6] == [[1], [1, 1], [1, 1, 1], [4], [4, 1], [4, 1, 1]]
    assert seen[6:] == [[7], [7, 1], [7, 1, 1], [7, 3], [7, 3, 1], [12]]


def test_what_is_written_over_at_every_flush_lies_there_once() -> None:
    one = SegmentStore(LAYOUT, COMBINES["last_written"], DictBlobs())
    for i in range(12):
        index = flushed(one, [record(t, i) for t in range(8)], i)
        assert sum(segment.rows for segment in index.segments) == 8


def test_what_is_half_written_over_is_merged_at_once_and_less_is_not() -> None:
    for again, runs in ((4, 1), (3, 2)):
        one = SegmentStore(LAYOUT, COMBINES["last_written"], DictBlobs())
        flushed(one, [record(t) for t in range(8)], 0)
        index = flushed(one, [record(t) for t in [*range(again), 8, 9]], 1)
        assert len({segment.order for segment in index.segments}) == runs


def test_what_is_added_is_merged_no_sooner_than_set() -> None:
    """Two rows a flush, later than those before but for one that is late."""
    wide = replace(LAYOUT, slice_width=1_000)
    combine = COMBINES["last_written"]
    one, runs = SegmentStore(wide, combine, DictBlobs(), max_segments_per_slice=3), []
    for i in range(8):
        late = 15 * (i == 6)
        index = flushed(one, [record(10 * i - late), record(10 * i + 1)], i)
        runs.append(len({segment.order for segment in index.segments}))
    assert runs == [1, 2, 3, 1, 2, 3, 1, 2]
