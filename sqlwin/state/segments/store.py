"""The store of segments: immutable, sorted, by slice of time, under a host's blobs.

`put` keeps records in memory (*fresh*) until `flush` writes those of each slice
as one *run*: settled records, cut into segments of at most `segment_rows` rows.
A read puts the runs of a slice together, oldest first, the fresh ones last.

Invariant: the runs of a slice are in the order they were written, at most
`max_segments_per_slice` of them (merged as `compaction` and `runs` say); no two records
of one run share an identity; every segment reaches up to the horizon or beyond. What
a cut hides stays in a run until that is merged, or a flush finds half of it hidden; what
was erased stays in none after a flush.

>>> from sqlwin.state.blobs.blobs import DictBlobs
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

from sqlwin.instants import END, START
from sqlwin.state.contract import Blobs, Combine, Layout, SegmentCache
from sqlwin.state.records import (
    accept_gone,
    accept_keys,
    assemble,
    greatest,
    settle,
)
from sqlwin.state.segments.codec import schema_print
from sqlwin.state.segments.compaction import merge_from
from sqlwin.state.segments.cut_log import CutLog
from sqlwin.state.segments.cuts import Cuts, accept_horizons
from sqlwin.state.segments.files import SegmentFiles
from sqlwin.state.segments.index import Index, IndexJson
from sqlwin.state.segments.runs import Run, check_slice, written_over
from sqlwin.state.segments.written import WrittenRuns
from sqlwin.state.stores.memory import WORTH, MemoryStore

SEGMENT_ROWS = 1 << 20


class SegmentStore:
    """A `Store` that outlives the process as an index and the segments it names.

    token: given to `flush`, or here for every flush; no two attempts to write may
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
        self._files, self._cuts = SegmentFiles(layout.name, blobs, cache), Cuts(layout)
        self._log = CutLog(self._cuts, self._files)
        self._fresh = MemoryStore(layout, combine, self._cuts)
        self._written = WrittenRuns(layout, self._files, segment_rows)
        self._work = 0  # records put and horizons cut since hidden records were last looked for
        if index is not None:
            self._restore(Index.from_json(index))

    def _restore(self, index: Index) -> None:
        index.check_fits(self.layout)
        self._files.next, self._files.doomed = index.next, list(index.dead)
        self._work = index.work
        self._written.restore(index.segments)
        self._log.restore(index.cuts)
        self._fresh.expire(index.floor)

    @property
    def horizon(self) -> int:
        return self._fresh.horizon

    def put(self, records: pl.DataFrame) -> None:
        self._fresh.put(records)
        self._work += records.height

    def scan(self, lo: int, hi: int, keys: pl.DataFrame | None = None) -> pl.DataFrame:
        wanted, lo, hi = accept_keys(self.layout, keys), max(lo, self.horizon), min(hi, END)
        if wanted is None:
            self._fresh.settle(lo, hi)
        found = assemble(
            self.layout,
            self.combine,
            [self._frames(start, lo, hi, wanted) for start in self._starts(lo, hi)],
        )
        return self._cuts.alive(found)

    def _starts(self, lo: int, hi: int) -> list[int]:
        if lo >= hi:
            return []
        return sorted({*self._written.starts(lo, hi), *self._fresh.slices(lo, hi)})

    def _frames(
        self, start: int, lo: int, hi: int, keys: pl.DataFrame | None
    ) -> list[pl.DataFrame]:
        """Each run of a slice and its fresh records, settled, oldest first."""
        runs = [self._written.read(run, lo, hi, keys) for run in self._written.of(start)]
        return [*runs, self._fresh.read(start, lo, hi, keys)]

    def _above(self, run: Run) -> pl.DataFrame:
        """What the horizon leaves of a run; records that a cut hides are still there."""
        return self._written.read(run, self.horizon)

    def expire(self, before: int) -> None:
        self._fresh.expire(before)
        self._written.expire(self.horizon)

    def cut(self, horizons: pl.DataFrame) -> None:
        horizons = accept_horizons(self.layout, horizons)
        if horizons.width == 1 and horizons.height:
            self.expire(greatest(horizons.to_series()))
        elif horizons.height:
            self._cuts.take(horizons)
            self._cuts.expire(self.horizon)
            self._work += horizons.height

    def horizons(self) -> list[pl.DataFrame]:
        """Those of single keys: for each set of columns one frame, see `cut`."""
        return self._cuts.known()

    def erase(self, gone: pl.DataFrame) -> None:
        gone = accept_gone(self.layout, gone)
        self._log.erase(gone)
        self._fresh.erase(gone)
        self._written.erase(gone)

    def flush(self, token: str | None = None) -> IndexJson:
        """Write what is fresh; the index from which the store can start again.

        Blobs are deleted one flush after an index has ceased to name them.
        """
        self._files.delete()
        token = self.token if token is None else token
        self._written.rewrite_erased(self.horizon, token)
        for start in self._fresh.slices():
            self._flush_slice(start, token)
        if self._work * WORTH >= sum(segment.rows for segment in self._written.segments()):
            self._drop_hidden(token)
        self._log.write(self.horizon, token)
        floor, self._fresh = self.horizon, MemoryStore(self.layout, self.combine, self._cuts)
        self._fresh.expire(floor)
        self._files.turn()
        return self.index().to_json()

    def _flush_slice(self, start: int, token: str) -> None:
        fresh = self._cuts.alive(self._fresh.read(start))
        if not fresh.height:
            return
        runs = self._written.of(start)
        rows = [sum(segment.rows for segment in run) for run in runs]
        first = merge_from([*rows, fresh.height], self.max_runs)
        if runs and first == len(runs):
            first -= written_over(self.layout, runs[-1], fresh, self._above)
        tail = [self._above(run) for run in runs[first:]]
        records = settle(self.layout, self.combine, [*tail, fresh]) if tail else fresh
        run = self._written.write(start, self._cuts.alive(records), token)
        self._written.keep(start, [*runs[:first], run])

    def _drop_hidden(self, token: str) -> None:
        """Write the runs anew of which half is hidden; each keeps its place among the others."""
        self._work = 0
        starts = self._written.slices.irange(maximum=self._cuts.top)
        self._written.rewrite(starts, lambda start, run: self._without_hidden(start, run, token))

    def _without_hidden(self, start: int, run: Run, token: str) -> Run:
        if min(segment.lo for segment in run) >= self._cuts.top:
            return run
        read = self._above(run)
        alive = self._cuts.alive(read)
        if 2 * alive.height > read.height:
            return run
        return self._written.write(start, alive, token, run[0].order)

    def index(self) -> Index:
        """The segments as they are; fresh records are in no index before `flush`."""
        return Index(
            self.layout.name,
            schema_print(self.layout.schema).hex(),
            self.layout.slice_width,
            self.horizon,
            self._files.next,
            tuple(self._written.segments()),
            tuple(self._files.doomed),
            tuple(self._log.blobs()),
            self._work,
        )

    def sweep(self) -> None:
        """Delete this store's blobs that no index names: a crash before a commit left them."""
        self._files.sweep(
            segment.name for segment in [*self._written.segments(), *self._log.blobs()]
        )

    def __len__(self) -> int:
        return self.scan(START, END).height

    def _check(self) -> None:
        try:
            self._fresh._check()
            self._log._check()
            named = [segment.name for segment in [*self._written.segments(), *self._log.blobs()]]
            names = named + self._files.dead + self._files.doomed
            assert len(set(names)) == len(names)
            for start, runs in self._written.slices.items():
                assert 0 < len(runs) <= self.max_runs
                check_slice(self.layout, self.combine, self._files, start, runs)
                segments = [segment for run in runs for segment in run]
                assert all(segment.hi > self.horizon for segment in segments)
                assert max(segment.rows for segment in segments) <= self.segment_rows
        except AssertionError as broken:
            insides = f"dead {self._files.dead}, doomed {self._files.doomed}\n{self.index()}"
            raise AssertionError(f"{broken}\n{insides}") from broken
