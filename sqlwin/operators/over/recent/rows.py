"""The rows that frames still reach, as arrays: what was full when the watermark last moved.

They are derived from the row store, and read from it anew when there are none, as after a restart.
So they are no state, and nothing is written of them. Rows that came late are put among the others.

| array         | what it is |
|---------------|------------|
| `ts`          | event time; ascending |
| a partition's | the number of the key that the row has, among those of one PARTITION BY |
| a lane's two  | its values, and which rows take part |

Invariant: they are the stored rows with `until - reach <= ts < until`, each once.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from sqlwin.kernels.frames import Frames, Ints
from sqlwin.kernels.growing import Array, GrowingArrays
from sqlwin.kernels.last_frames import LastRows, arranged
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.over.framing import FrameCall
from sqlwin.operators.over.recent.pending import PendingRows
from sqlwin.operators.over.recent.values import Lane, LaneFrames, fits, lane_of, value_of
from sqlwin.schema import TS

SPARE = 1_000
"""Partitions that may be known and have no row, beside twice as many as there are rows."""


class Numbers(dict[Hashable, int]):
    """Partition keys, numbered as they come."""

    def __missing__(self, key: Hashable) -> int:
        self[key] = number = len(self)
        return number


@dataclass(frozen=True)
class Shape:
    """What is kept of each row. partitions: the different ones of the calls."""

    calls: tuple[FrameCall, ...]
    reach: int

    @cached_property
    def partitions(self) -> tuple[tuple[str, ...], ...]:
        return tuple(dict.fromkeys(call.partition for call in self.calls))

    @cached_property
    def lanes(self) -> tuple[Lane, ...]:
        known = dict.fromkeys(lane_of(call.fold) for call in self.calls)
        return tuple(lane for lane in known if not lane.all_rows)

    @cached_property
    def framed(self) -> tuple[dict[tuple[int, int], list[tuple[FrameCall, int | None]]], ...]:
        """Of each partition by the bounds of frames: calls, with the numbers of their lanes."""
        numbers = {lane: number for number, lane in enumerate(self.lanes)}
        found: dict[tuple[str, ...], dict[tuple[int, int], list[tuple[FrameCall, int | None]]]]
        found = {partition: {} for partition in self.partitions}
        for call in self.calls:
            lane = numbers.get(lane_of(call.fold))
            found[call.partition].setdefault(_bounds(call), []).append((call, lane))
        return tuple(found.values())

    @property
    def dtypes(self) -> list[np.dtype[Any]]:
        number, flag = np.dtype(np.int64), np.dtype(np.bool_)
        return [number, *(number for _ in self.partitions), *([number, flag] * len(self.lanes))]


class RecentRows:
    """pending: rows that are not full at `until`."""

    def __init__(self, shape: Shape, until: int) -> None:
        self.shape, self.until, self.pending = shape, until, PendingRows()
        self._partitions, self._lanes = shape.partitions, shape.lanes
        self._numbers = [Numbers() for _ in self._partitions]
        self._arrays = GrowingArrays(shape.dtypes)
        self._every = [True] * len(self._lanes)
        self._widest = [0] * len(self._lanes)

    @property
    def worn(self) -> bool:
        """Whether so many partitions are gone that they are better read anew."""
        known = max((len(numbers) for numbers in self._numbers), default=0)
        return known > 2 * len(self._arrays) + SPARE

    def add(self, rows: pl.DataFrame) -> None:
        """rows: full from now on, in order; later than all there are."""
        self._arrays.append(self._entries(rows))

    def add_late(self, rows: pl.DataFrame) -> None:
        """rows: before `until`, in any order, none of them there."""
        since = self.until - self.shape.reach
        rows = rows.filter(pl.col(TS) >= since, pl.col(TS) < self.until).sort(TS)
        if len(rows):
            entries = self._entries(rows)
            self._arrays.insert(np.searchsorted(self._arrays.arrays()[0], entries[0]), entries)

    def _entries(self, rows: pl.DataFrame) -> list[Array | bool]:
        pairs = zip(self._numbers, self._partitions, strict=True)
        entries: list[Array | bool] = [
            rows.get_column(TS).to_numpy(),
            *(_numbered(numbers, rows, partition) for numbers, partition in pairs),
        ]
        for at, lane in enumerate(self._lanes):
            read = lane.read(rows)
            self._every[at] = self._every[at] and read.taken is None
            self._widest[at] = max(self._widest[at], read.widest)
            entries += [read.values, True if read.taken is None else read.taken]
        return entries

    def move_to(self, watermark: int) -> None:
        """What no frame reaches from now on is no more."""
        self.until = watermark
        times = self._arrays.arrays()[0]
        self._arrays.drop(int(np.searchsorted(times, watermark - self.shape.reach)))

    def values(self, count: int) -> dict[str, pl.Series] | None:
        """Of each call, by its name, of the last rows; None where one may not be computed here."""
        arrays = self._arrays.arrays()
        found: dict[str, pl.Series] = {}
        for at, framed in enumerate(self.shape.framed):
            last = arranged(arrays[1 + at], arrays[0], count, len(self._numbers[at]))
            if not last.searchable:
                return None
            for bounds, calls in framed.items():
                frames = last.frames(*bounds)
                if not self._fit(calls, frames, arrays):
                    return None
                lanes = {n: self._lane(n, arrays, last, frames) for n in {n for _, n in calls}}
                found |= {call.name: value_of(call, lanes[n]) for call, n in calls}
        return found

    def _lane(
        self, number: int | None, arrays: list[Array], last: LastRows, frames: Frames
    ) -> LaneFrames:
        if number is None:
            return LaneFrames(None, None, last, frames)
        values, taken = arrays[self._at(number) :][:2]
        return LaneFrames(values, None if self._every[number] else taken, last, frames)

    def _at(self, lane: int) -> int:
        """Of its arrays the first."""
        return 1 + len(self._partitions) + 2 * lane

    def _fit(
        self, calls: list[tuple[FrameCall, int | None]], frames: Frames, arrays: list[Array]
    ) -> bool:
        longest = int((frames.hi - frames.lo).max())
        for call, lane in calls:
            if lane is None or fits(call.fold, self._widest[lane], longest):
                continue
            self._widest[lane] = _widest(arrays[self._at(lane)])  # the widest may have left
            if not fits(call.fold, self._widest[lane], longest):
                return False
        return True


def _bounds(call: FrameCall) -> tuple[int, int]:
    preceding, following = call.frame.preceding, call.frame.following
    assert preceding is not None and following is not None
    return preceding, following


def _widest(values: Ints) -> int:
    return max(int(values.max()), -int(values.min()))


def _numbered(numbers: Numbers, rows: pl.DataFrame, partition: tuple[str, ...]) -> Ints:
    if not partition:
        numbers[()] = 0
        return np.zeros(len(rows), dtype=np.int64)
    lists = [rows.get_column(name).to_list() for name in partition]
    keys = lists[0] if len(lists) == 1 else zip(*lists, strict=True)
    return np.fromiter(map(numbers.__getitem__, keys), dtype=np.int64, count=len(rows))
