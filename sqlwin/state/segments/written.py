"""The runs of a store that were written, by slice: read, put in place of each other, dropped.

Invariant: a slice that is here has a run, and each run a segment; what no run has any more is
dropped from the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl
from sortedcontainers import SortedDict

from sqlwin.instants import END
from sqlwin.polars_frames import stacked
from sqlwin.state.contract import Layout
from sqlwin.state.records import matching, sliced, without
from sqlwin.state.segments.files import SegmentFiles
from sqlwin.state.segments.index import Segment
from sqlwin.state.segments.runs import Run, runs_of


class WrittenRuns:
    """segment_rows: of a segment at most."""

    def __init__(self, layout: Layout, files: SegmentFiles, segment_rows: int) -> None:
        self.layout, self.files, self.segment_rows = layout, files, segment_rows
        self.slices: SortedDict[int, list[Run]] = SortedDict()
        self._erased: list[pl.DataFrame] = []  # still in the runs

    def restore(self, segments: Iterable[Segment]) -> None:
        self.slices.update(runs_of(segments))

    def of(self, start: int) -> list[Run]:
        """Of a slice, oldest first."""
        runs: list[Run] = self.slices.get(start, [])
        return runs

    def segments(self) -> list[Segment]:
        return [segment for runs in self.slices.values() for run in runs for segment in run]

    def starts(self, lo: int, hi: int) -> Iterable[int]:
        """The slices that may have records of `[lo, hi)`."""
        found: Iterable[int] = self.slices.irange(
            self.layout.slice_of(lo), hi, inclusive=(True, False)
        )
        return found

    def read(
        self, run: Run, lo: int, hi: int = END, keys: pl.DataFrame | None = None
    ) -> pl.DataFrame:
        """Records that were not erased; those that a cut hides are among them."""
        near = [segment for segment in run if segment.lo < hi and segment.hi > lo]
        parts = [sliced(self.layout, self._decoded(segment), lo, hi) for segment in near]
        found = [without(matching(part, keys), self._erased) for part in parts]
        return pl.concat(found) if found else self.layout.empty()

    def _decoded(self, segment: Segment) -> pl.DataFrame:
        return self.files.read(segment.name, self.layout.schema)

    def write(self, start: int, records: pl.DataFrame, token: str, order: int | None = None) -> Run:
        """A run of a slice; order: that of the run in whose place it is to be."""
        order = self.files.next if order is None else order
        pieces = records.iter_slices(self.segment_rows)
        return [self.files.write(p, self.layout.time, token, start, order) for p in pieces]

    def keep(self, start: int, runs: list[Run]) -> None:
        """Let a slice consist of these runs; its other segments are dead."""
        kept = {segment.name for run in runs for segment in run}
        was = [segment.name for run in self.slices.pop(start, []) for segment in run]
        self.files.drop(name for name in was if name not in kept)
        if kept:
            self.slices[start] = [run for run in runs if run]

    def expire(self, horizon: int) -> None:
        """Drop the segments that are below it."""
        for start in list(self.slices.irange(maximum=horizon)):
            self.keep(start, [[s for s in run if s.hi > horizon] for run in self.slices[start]])

    def rewrite(self, starts: Iterable[int], anew: Callable[[int, Run], Run]) -> None:
        """anew: a run as it is to be in its place; the same object where nothing changes."""
        for start in list(starts):
            was = self.slices[start]
            runs = [anew(start, run) for run in was]
            if any(a is not b for a, b in zip(was, runs, strict=True)):
                self.keep(start, runs)

    def erase(self, gone: pl.DataFrame) -> None:
        """Hidden from now on, and in no run after `rewrite_erased`."""
        self._erased.append(gone)

    def rewrite_erased(self, horizon: int, token: str) -> None:
        """Write the runs anew that have erased records."""

        def unerased(start: int, run: Run) -> Run:
            held = stacked([self._decoded(segment) for segment in run])
            if without(held, self._erased).height == held.height:
                return run
            return self.write(start, self.read(run, horizon), token, run[0].order)

        if self._erased:
            self.rewrite(self.slices, unerased)
            self._erased = []
