"""The store in memory: a sorted dict of slices of time, each a list of frames.

KIP-428 keeps a map of maps, one segment a millisecond, and drops expired
segments before each action. Here a segment is a slice of time and its records
lie in columns. The horizon moves only in `expire`, which drops whole slices then
and there, so every action finds them gone; of the slice the horizon cuts, reads
see the part above it. A cut hides at once, too, but its records leave only when
that costs a few times what was put since: to look for them reads every slice.

Invariant: a slice is a list of frames in the order written; its
first `settled` frames (0 or 1) are combined and sorted. Combining is put off
until a slice is read. A read by key combines only the rows it is asked for, as
long as the slice has few frames.

>>> from sqlwin.state.combine import last_written
>>> layout = Layout("last", (("t", pl.Int64()), ("x", pl.String())), (), ("t",), 10)
>>> store = MemoryStore(layout, last_written(layout))
>>> store.put(pl.DataFrame({"t": [3, 12, 3], "x": ["a", "b", "c"]}))
>>> store.scan(0, 12).rows()
[(3, 'c')]
>>> store.expire(4)
>>> store.scan(0, 100).rows()
[(12, 'b')]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

import numpy as np
import polars as pl
from sortedcontainers import SortedDict

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.state.contract import Combine, Layout
from sqlwin.state.records import (
    accept,
    accept_gone,
    accept_keys,
    assemble,
    between,
    by_slice,
    greatest,
    least,
    matching,
    settle,
    sliced,
    without,
)
from sqlwin.state.segments.cuts import Cuts, accept_horizons

MAX_FRAMES = 8
"""A slice of more frames is combined as a whole even for a read by key."""

SMALL, TOGETHER = 16, 64
"""So many frames of no more rows become one."""

WORTH = 4
"""Hidden records are looked for once a quarter as many were put or cut as there are."""


@dataclass
class Slice:
    """The frames of one slice, oldest write first; the first `settled` are settled, and of the
    others the last `small` have few rows."""

    frames: list[pl.DataFrame] = field(default_factory=list)
    settled: int = 0
    small: int = 0

    def add(self, frame: pl.DataFrame) -> None:
        """Small frames that nobody reads are put together, for each takes room of its own."""
        self.frames.append(frame)
        self.small = self.small + 1 if frame.height <= SMALL else 0
        if self.small == TOGETHER:
            self.frames[-TOGETHER:] = [pl.concat(self.frames[-TOGETHER:], rechunk=True)]
            self.small = 0

    @property
    def whole(self) -> bool:
        return self.settled == len(self.frames) == 1

    def settle(self, layout: Layout, combine: Combine, floor: int) -> pl.DataFrame:
        """The slice as one settled frame, which stays; rows below the horizon do not."""
        if not self.whole:
            live = [between(layout, frame, floor, END) for frame in self.frames]
            self.frames, self.settled, self.small = [settle(layout, combine, live)], 1, 0
        return self.frames[0]


class MemoryStore:
    """A `Store` whose records live as long as the object."""

    def __init__(self, layout: Layout, combine: Combine, cuts: Cuts | None = None) -> None:
        self.layout = layout
        self.combine = combine
        self._cuts = Cuts(layout) if cuts is None else cuts
        self._horizon = START
        self._slices: SortedDict[int, Slice] = SortedDict()
        self._work = 0  # records put and horizons cut since hidden records were last looked for

    @property
    def horizon(self) -> int:
        return self._horizon

    def put(self, records: pl.DataFrame) -> None:
        taken = accept(self.layout, records)
        if not taken.height:
            return
        if least(taken.get_column(self.layout.time)) < max(self._horizon, self._cuts.top):
            taken = self._cuts.alive(between(self.layout, taken, self._horizon, END))
        self._work += taken.height
        for start, part in by_slice(self.layout, taken):
            self._slices.setdefault(start, Slice()).add(part)

    def scan(self, lo: int, hi: int, keys: pl.DataFrame | None = None) -> pl.DataFrame:
        wanted = accept_keys(self.layout, keys)
        if not self._slices:
            return self.layout.empty()
        if wanted is None:
            self.settle(lo, hi)
        found = assemble(
            self.layout,
            self.combine,
            [[self.read(start, lo, hi, wanted)] for start in self.slices(lo, hi)],
        )
        return self._cuts.alive(found)

    def settle(self, lo: int, hi: int) -> None:
        """Settle the slices of a range by one call: a batch of old rows may bring thousands."""
        loose = [start for start in self.slices(lo, hi) if not self._slices[start].whole]
        if len(loose) < 2:
            return
        frames = [
            between(self.layout, frame, self._horizon, END) if start < self._horizon else frame
            for start in loose
            for frame in self._slices[start].frames
        ]
        settled = settle(self.layout, self.combine, frames)
        times = settled[self.layout.time].to_numpy()
        ends = np.searchsorted(times, [start + self.layout.slice_width for start in loose])
        begin = 0
        for start, end in zip(loose, ends.tolist(), strict=True):
            self._slices[start] = Slice([settled.slice(begin, end - begin)], settled=1)
            begin = end

    def slices(self, lo: int = START, hi: int = END) -> list[int]:
        """The slices with records that may be in lo <= time < hi, ascending."""
        lo = max(lo, self._horizon)
        if lo >= hi:
            return []
        return list(self._slices.irange(self.layout.slice_of(lo), hi, inclusive=(True, False)))

    def read(
        self, start: int, lo: int = START, hi: int = END, keys: pl.DataFrame | None = None
    ) -> pl.DataFrame:
        """The records of one slice within a range and, checked before, of some keys; settled."""
        slice_, lo = self._slices.get(start, Slice()), max(lo, self._horizon)
        if not slice_.frames:
            return self.layout.empty()
        if keys is None or len(slice_.frames) > MAX_FRAMES or slice_.settled == len(slice_.frames):
            whole = slice_.settle(self.layout, self.combine, self._horizon)
            return matching(sliced(self.layout, whole, lo, hi), keys)
        asked = [matching(between(self.layout, f, lo, hi), keys) for f in slice_.frames]
        return settle(self.layout, self.combine, asked)

    def expire(self, before: int) -> None:
        self._horizon = max(self._horizon, min(before, END))
        whole = self._horizon - self.layout.slice_width
        for start in list(self._slices.irange(maximum=whole)):
            del self._slices[start]
        self._cuts.expire(self._horizon)

    def cut(self, horizons: pl.DataFrame) -> None:
        horizons = accept_horizons(self.layout, horizons)
        if not horizons.height:
            return
        if horizons.width == 1:
            self.expire(greatest(horizons.to_series()))
            return
        self._cuts.take(horizons)
        self._cuts.expire(self._horizon)
        self._work += horizons.height
        held = sum(frame.height for slice_ in self._slices.values() for frame in slice_.frames)
        if self._work * WORTH >= held:
            self._drop_hidden()

    def erase(self, gone: pl.DataFrame) -> None:
        gone = accept_gone(self.layout, gone)
        self._cuts.erase(gone)
        self._keep(list(self._slices), lambda frame: without(frame, [gone]))

    def _drop_hidden(self) -> None:
        self._work = 0
        self._keep(list(self._slices.irange(maximum=self._cuts.top)), self._cuts.alive)

    def _keep(self, starts: list[int], kept: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
        """Let these slices consist of what is `kept` of their frames."""
        for start in starts:
            slice_ = self._slices[start]
            slice_.frames = [kept(frame) for frame in slice_.frames]
            if not any(frame.height for frame in slice_.frames):
                del self._slices[start]

    def __len__(self) -> int:
        return self.scan(START, END).height

    def _check(self) -> None:
        try:
            self._cuts._check(self._horizon)
            for start, slice_ in self._slices.items():
                self._check_slice(start, slice_)
        except AssertionError as broken:
            insides = f"{self.layout}\nhorizon {self._horizon}\n{dict(self._slices)}"
            raise AssertionError(f"{broken}\n{insides}") from broken

    def _check_slice(self, start: int, slice_: Slice) -> None:
        assert start == self.layout.slice_of(start)
        assert start + self.layout.slice_width > self._horizon
        assert 0 <= slice_.settled <= min(1, len(slice_.frames))
        for frame in slice_.frames:
            assert frame.schema == self.layout.schema
            if frame.height:
                times = frame[self.layout.time]
                assert start <= least(times) <= greatest(times) < start + self.layout.slice_width
        for frame in slice_.frames[: slice_.settled]:
            again = settle(self.layout, self.combine, [frame])
            assert again.equals(frame)
