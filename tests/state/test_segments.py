"""What a segment store does to its blobs and its index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sqlwin.errors import StateError
from sqlwin.state.blobs.blobs import DictBlobs, SqliteBlobs
from sqlwin.state.contract import Layout
from sqlwin.state.segments.cache import RecentSegments
from sqlwin.state.segments.index import INDEX_VERSION, Index
from sqlwin.state.segments.store import SegmentStore
from tests.support.state.segment_fixtures import FOLDER
from tests.support.state.stores import COMBINES, LAYOUT, Row, frame

ALL = (-(10**30), 10**30)
COMBINE = COMBINES["last_written"]


class Forgetful:
    """A cache that keeps nothing and counts what is asked."""

    def __init__(self) -> None:
        self.parsed: list[str] = []

    def get(self, name: str) -> pl.DataFrame | None:
        self.parsed.append(name)
        return None

    def put(self, name: str, frame: pl.DataFrame) -> None: ...

    def drop(self, name: str) -> None: ...


class Failing(DictBlobs):
    """Blobs whose writes fail once `left` of them were done."""

    def __init__(self, blobs: dict[str, bytes], left: int) -> None:
        super().__init__(blobs)
        self.left = left

    def put(self, name: str, data: bytes) -> None:
        if not self.left:
            raise OSError("disk full")
        self.left -= 1
        super().put(name, data)


def record(t: int, x: int = 0) -> Row:
    return ("a", 1, t, 0, x)


def store(
    blobs: DictBlobs, index: Any = None, layout: Layout = LAYOUT, **more: Any
) -> SegmentStore:
    sizes = {"max_segments_per_slice": 3, "segment_rows": 4, **more}
    return SegmentStore(layout, COMBINE, blobs, index=index, **sizes)


def rows(store: SegmentStore) -> list[Row]:
    return store.scan(*ALL).rows()


def test_the_rows_of_a_segment_and_the_runs_of_a_slice_are_capped() -> None:
    blobs = DictBlobs()
    one = store(blobs)
    for i in range(40):
        one.put(frame([record(t, i) for t in range(i % 7, 30, 1 + i % 5)]))
        index = Index.from_json(one.flush(f"f{i}"))
        one._check()
        assert max(segment.rows for segment in index.segments) <= 4
        for start in (0, 10, 20):
            assert len({s.order for s in index.segments if s.slice == start}) <= 3


def test_a_name_never_comes_twice_and_the_last_two_indexes_are_whole() -> None:
    blobs, names = DictBlobs(), set[str]()
    one, indexes = store(blobs), list[Any]()
    for i in range(25):
        before = set(blobs.names())
        one.put(frame([record(t, i) for t in range(i, i + 13)]))
        one.expire(i - 5)
        indexes = [*indexes[-1:], (json.loads(json.dumps(one.flush("t"))), rows(one))]
        new = set(blobs.names()) - before
        assert not new & names
        names |= new
        for index, found in indexes:
            assert rows(store(DictBlobs(dict(blobs.blobs)), index)) == found
    assert len(names) > len(blobs.names())


def test_a_failed_flush_leaves_the_last_index_whole_wherever_it_fails() -> None:
    blobs = DictBlobs()
    one = store(blobs)
    one.put(frame([record(t) for t in range(25)]))
    index = one.flush("first")
    for left in range(4):
        copy = Failing(dict(blobs.blobs), left)
        other = store(copy, index)
        other.put(frame([record(t, 1) for t in range(0, 25, 2)]))
        other.expire(3)
        with pytest.raises(OSError, match="disk full"):
            other.flush(f"try{left}")
        back = store(DictBlobs(copy.blobs), index)
        back._check()
        assert rows(back) == [record(t) for t in range(25)]
        back.sweep()
        assert sorted(copy.blobs) == blobs.names()


def test_a_scan_opens_only_the_segments_it_needs() -> None:
    blobs, cache = DictBlobs(), Forgetful()
    one = store(blobs, cache=cache)
    one.put(frame([record(t) for t in range(40)]))
    one.flush("f")
    assert len(blobs.names()) == 12
    assert len(one.scan(4, 8)) == 4
    assert cache.parsed == ["test-f-1"]
    cache.parsed.clear()
    one.expire(30)
    assert cache.parsed == []


def test_whole_segments_go_on_expiry_without_being_read() -> None:
    blobs, cache = DictBlobs(), Forgetful()
    one = store(blobs, cache=cache)
    one.put(frame([record(t) for t in range(20)]))
    one.flush("f")
    assert len(blobs.names()) == 6
    one.expire(14)
    assert [s["lo"] for s in one.flush("g")["segments"]] == [14, 18]
    assert len(blobs.names()) == 6  # the index before still names them
    one.flush("h")
    assert len(blobs.names()) == 2
    assert cache.parsed == []


def test_what_was_not_flushed_is_lost_and_only_that() -> None:
    blobs = DictBlobs()
    one = store(blobs)
    one.put(frame([record(1)]))
    index = one.flush("f")
    one.put(frame([record(1, 9), record(2)]))
    assert rows(store(blobs, index)) == [record(1)]


def test_segments_that_are_gone_or_damaged_are_named() -> None:
    blobs = DictBlobs()
    one = store(blobs)
    one.put(frame([record(1)]))
    index = one.flush("f")
    good = blobs.get("test-f-0")
    blobs.put("test-f-0", good[:-1] + b"\xee")
    with pytest.raises(StateError, match=r"^segment test-f-0: segment is damaged"):
        rows(store(blobs, index))
    blobs.delete("test-f-0")
    with pytest.raises(StateError, match=r"^segment test-f-0: its bytes are gone$"):
        rows(store(blobs, index))


def test_an_index_that_does_not_fit_is_refused() -> None:
    index = store(DictBlobs()).flush("f")
    with pytest.raises(StateError, match="version 3, known are 1 to 2: made by a newer sqlwin"):
        store(DictBlobs(), index | {"version": 3})
    with pytest.raises(StateError, match="index has version None"):
        store(DictBlobs(), {})
    with pytest.raises(StateError, match="index is not whole: 'segments'"):
        store(DictBlobs(), {"version": 1})
    for other in (
        Layout("test", LAYOUT.columns, LAYOUT.keys, LAYOUT.order, 20),
        Layout("test2", LAYOUT.columns, LAYOUT.keys, LAYOUT.order, 10),
        Layout("test", LAYOUT.columns[::-1], LAYOUT.keys, LAYOUT.order, 10),
    ):
        with pytest.raises(StateError, match="index of another layout"):
            store(DictBlobs(), index, other)


def test_every_released_index_is_read() -> None:
    for version in (1, INDEX_VERSION):
        index = json.loads((FOLDER / f"index_v{version}.json").read_text())
        read = Index.from_json(index)
        assert read.to_json() == {"cuts": [], "work": 0, **index, "version": INDEX_VERSION}
        assert read.floor == -7
    assert store(DictBlobs(), json.loads((FOLDER / "index_v1.json").read_text())).horizon == -7


def test_sweep_leaves_other_stores_and_the_host_alone() -> None:
    blobs = DictBlobs({"test-crashed-0": b"", "test2-f-0": b"", "index": b""})
    one = store(blobs)
    one.put(frame([record(1)]))
    one.flush("f")
    one.sweep()
    assert blobs.names() == ["index", "test-f-0", "test2-f-0"]


def test_the_cache_forgets_the_longest_unused() -> None:
    cache, one = RecentSegments(capacity=20), pl.DataFrame({"x": [1]})
    cache.put("a", one)
    cache.put("b", one)
    assert cache.get("a") is not None
    cache.put("c", one)
    assert [cache.get(name) is not None for name in "abc"] == [True, False, True]
    cache.put("big", pl.DataFrame({"x": [1, 2, 3]}))
    assert cache.get("big") is None


def test_sizes_are_at_least_one() -> None:
    for size in ({"segment_rows": 0}, {"max_segments_per_slice": 0}):
        with pytest.raises(ValueError, match="at least 1"):
            store(DictBlobs(), **size)


def test_a_store_lives_on_in_one_sqlite_file(tmp_path: Path) -> None:
    """Segments and index in one transaction; a crash within it leaves the last one."""
    path = tmp_path / "state.db"
    first = SqliteBlobs(path)
    one = SegmentStore(LAYOUT, COMBINE, first, segment_rows=4)
    one.put(frame([record(t) for t in range(9)]))
    with first.transaction():
        first.put("index", json.dumps(one.flush("f1")).encode())
    one.put(frame([record(3, 1)]))
    first.begin()
    first.put("index", json.dumps(one.flush("f2")).encode())
    first.close()
    second = SqliteBlobs(path)
    again = SegmentStore(LAYOUT, COMBINE, second, index=json.loads(second.get("index")))
    again._check()
    assert rows(again) == [record(t) for t in range(9)]
    assert [n for n in second.names() if n != "index"] == ["test-f1-0", "test-f1-1", "test-f1-2"]
    second.close()
