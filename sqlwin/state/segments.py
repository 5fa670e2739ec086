"""The store of segments: immutable, sorted, by slice of time, under a host's blobs.

`put` keeps records in memory (*fresh*) until `flush` writes those of each slice
as one *run*: settled records, cut into segments of at most `segment_rows` rows.
A read puts the runs of a slice together, oldest first, the fresh ones last.

Invariant: the runs of a slice are in the order they were written, at most
`max_segments_per_slice` of them (`tiers` says how); no two records of one run
share an identity; every segment reaches up to the floor or beyond.

>>> from sqlwin.state.blobs import DictBlobs
>>> from sqlwin.state.combine import last_written
>>> layout = Layout("last", (("t", pl.Int64()), ("x", pl.String())), (), ("t",), 10)
>>> blobs = DictBlobs()
>>> store = SegmentStore(layout, last_written(layout), blobs)
>>> store.put(pl.DataFrame({"t": [3, 12], "x": ["a", "b"]}))
>>> index = store.flush("batch0")
>>> blobs.names()
['last-batch0-0', 'last-batch0-1']
>>> again = SegmentStore(layout, last_written(layout), blobs, index=index)
>>> again.scan(0, 12).rows()
[(3, 'a')]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from sortedcontainers import SortedDict

from sqlwin.errors import StateError
from sqlwin.instants import END, START
from sqlwin.state.cache import RecentSegments
from sqlwin.state.codec import decode_segment, encode_segment, schema_print
from sqlwin.state.contract import Blobs, Combine, Layout, SegmentCache
from sqlwin.state.index import Index, IndexJson, Segment
from sqlwin.state.memory import MemoryStore
from sqlwin.state.records import accept_keys, assemble, cut, greatest, least, matching, settle
from sqlwin.state.tiers import merge_from

Run = list[Segment]
SEGMENT_ROWS = 1 << 20


class SegmentStore:
    """A `Store` that outlives the process as an index and the segments it names.

    token: told to `flush`, or here for every flush; no two attempts to write may
    share one, since a segment's name `{layout}-{token}-{n}` must never mean two
    different segments. After an error from `flush`, start again from an index.
    """

    def __init__(
        self,
        layout: Layout,
        combine: Combine,
        blobs: Blobs,
        token: str = "",
        index: Mapping[str, Any] | None = None,
        *,
        max_segments_per_slice: int = 4,
        segment_rows: int = SEGMENT_ROWS,
        cache: SegmentCache | None = None,
    ) -> None:
        if max_segments_per_slice < 1 or segment_rows < 1:
            raise ValueError("max_segments_per_slice and segment_rows are at least 1")
        self.layout, self.combine, self.token = layout, combine, token
        self.max_runs, self.segment_rows = max_segments_per_slice, segment_rows
        self._blobs, self._cache = blobs, RecentSegments() if cache is None else cache
        self._fresh = MemoryStore(layout, combine)
        self._runs: SortedDict[int, list[Run]] = SortedDict()
        self._next = 0
        self._dead: list[str] = []  # left out since the last flush
        self._doomed: list[str] = []  # named by no index since the one before the last
        if index is not None:
            self._restore(Index.from_json(index))

    def _restore(self, index: Index) -> None:
        index.check_fits(self.layout)
        self._next, self._doomed = index.next, list(index.dead)
        for segment in index.segments:
            runs = self._runs.setdefault(segment.slice, [])
            if not runs or runs[-1][0].order != segment.order:
                runs.append([])
            runs[-1].append(segment)
        self._fresh.expire(index.floor)

    @property
    def floor(self) -> int:
        return self._fresh.floor

    def put(self, records: pl.DataFrame) -> None:
        self._fresh.put(records)

    def scan(self, lo: int, hi: int, keys: pl.DataFrame | None = None) -> pl.DataFrame:
        wanted, lo, hi = accept_keys(self.layout, keys), max(lo, self.floor), min(hi, END)
        if wanted is None:
            self._fresh.settle(lo, hi)
        return assemble(
            self.layout,
            self.combine,
            [self._frames(start, lo, hi, wanted) for start in self._starts(lo, hi)],
        )

    def _starts(self, lo: int, hi: int) -> list[int]:
        if lo >= hi:
            return []
        written = self._runs.irange(self.layout.slice_of(lo), hi, inclusive=(True, False))
        return sorted({*written, *self._fresh.slices(lo, hi)})

    def _frames(
        self, start: int, lo: int, hi: int, keys: pl.DataFrame | None
    ) -> list[pl.DataFrame]:
        """Each run of a slice and its fresh records, settled, oldest first."""
        runs = [self._read(run, lo, hi, keys) for run in self._runs.get(start, [])]
        return [*runs, self._fresh.read(start, lo, hi, keys)]

    def _read(self, run: Run, lo: int, hi: int, keys: pl.DataFrame | None) -> pl.DataFrame:
        near = [segment for segment in run if segment.lo < hi and segment.hi > lo]
        cuts = [cut(self.layout, self._decoded(segment), lo, hi) for segment in near]
        return pl.concat([matching(c, keys) for c in cuts]) if cuts else self.layout.empty()

    def _decoded(self, segment: Segment) -> pl.DataFrame:
        cached = self._cache.get(segment.name)
        if cached is not None:
            return cached
        try:
            frame = decode_segment(self._blobs.get(segment.name), self.layout.schema)
        except KeyError as missing:
            raise StateError(f"segment {segment.name}: its bytes are gone") from missing
        except StateError as wrong:
            raise StateError(f"segment {segment.name}: {wrong}") from wrong
        self._cache.put(segment.name, frame)
        return frame

    def expire(self, before: int) -> None:
        self._fresh.expire(before)
        for start in list(self._runs.irange(maximum=self.floor)):
            self._keep(start, [[s for s in run if s.hi > self.floor] for run in self._runs[start]])

    def _keep(self, start: int, runs: list[Run]) -> None:
        """Let a slice consist of these runs; its other segments are dead."""
        kept = {segment.name for run in runs for segment in run}
        was = [segment.name for run in self._runs.pop(start, []) for segment in run]
        self._dead += [name for name in was if name not in kept]
        if kept:
            self._runs[start] = [run for run in runs if run]

    def flush(self, token: str | None = None) -> IndexJson:
        """Write what is fresh; the index from which the store can start again.

        Blobs are deleted one flush after an index has ceased to name them.
        """
        for name in self._doomed:
            self._blobs.delete(name)
        for start in self._fresh.slices():
            self._flush_slice(start, self.token if token is None else token)
        floor, self._fresh = self.floor, MemoryStore(self.layout, self.combine)
        self._fresh.expire(floor)
        self._doomed, self._dead = self._dead, []
        return self.index().to_json()

    def _flush_slice(self, start: int, token: str) -> None:
        fresh = self._fresh.read(start)
        if not fresh.height:
            return
        runs = self._runs.get(start, [])
        rows = [sum(segment.rows for segment in run) for run in runs]
        first = merge_from([*rows, fresh.height], self.max_runs)
        tail = [self._read(run, self.floor, END, None) for run in runs[first:]]
        records = settle(self.layout, self.combine, [*tail, fresh]) if tail else fresh
        self._keep(start, [*runs[:first], self._write(start, records, token)])

    def _write(self, start: int, records: pl.DataFrame, token: str) -> Run:
        order = self._next
        pieces = records.iter_slices(self.segment_rows)
        return [self._write_segment(start, order, piece, token) for piece in pieces]

    def _write_segment(self, start: int, order: int, piece: pl.DataFrame, token: str) -> Segment:
        name, times = f"{self.layout.name}-{token}-{self._next}", piece[self.layout.time]
        data = encode_segment(piece, self.layout.time)
        self._next += 1
        self._blobs.put(name, data)
        self._cache.put(name, piece)
        lo, hi = least(times), greatest(times) + 1
        return Segment(name, start, order, lo, hi, piece.height, len(data))

    def index(self) -> Index:
        """The segments as they are; fresh records are in no index before `flush`."""
        return Index(
            self.layout.name,
            schema_print(self.layout.schema).hex(),
            self.layout.slice_width,
            self.floor,
            self._next,
            tuple(self._segments()),
            tuple(self._doomed),
        )

    def _segments(self) -> Run:
        return [segment for runs in self._runs.values() for run in runs for segment in run]

    def sweep(self) -> None:
        """Delete this store's blobs that no index names: a crash before a commit left them."""
        named = {s.name for s in self._segments()} | {*self._dead, *self._doomed}
        for name in self._blobs.names():
            if name.startswith(f"{self.layout.name}-") and name not in named:
                self._blobs.delete(name)

    def __len__(self) -> int:
        return self.scan(START, END).height

    def _check(self) -> None:
        try:
            self._fresh._check()
            names = [s.name for s in self._segments()]
            assert len({*names, *self._dead, *self._doomed}) == len(
                names + self._dead + self._doomed
            )
            for start, runs in self._runs.items():
                self._check_slice(start, runs)
        except AssertionError as broken:
            insides = f"dead {self._dead}, doomed {self._doomed}\n{self.index()}"
            raise AssertionError(f"{broken}\n{insides}") from broken

    def _check_slice(self, start: int, runs: list[Run]) -> None:
        orders = [run[0].order for run in runs]
        assert orders == sorted(set(orders)) and orders[-1] < self._next
        assert 0 < len(runs) <= self.max_runs
        for run in runs:
            self._check_run(start, run)

    def _check_run(self, start: int, run: Run) -> None:
        frames = [decode_segment(self._blobs.get(s.name), self.layout.schema) for s in run]
        whole = pl.concat(frames)
        assert whole.equals(settle(self.layout, self.combine, [whole]))
        for segment, frame in zip(run, frames, strict=True):
            times = frame[self.layout.time]
            assert (segment.slice, segment.order) == (start, run[0].order)
            assert (segment.lo, segment.hi) == (least(times), greatest(times) + 1)
            assert self.floor < segment.hi <= start + self.layout.slice_width
            assert start <= segment.lo and 0 < segment.rows == frame.height <= self.segment_rows
