"""Frames in RANGE of the last rows of several runs, and what integers add up to in them.

Rows are in the order of time, runs mixed. Of the runs that have no row among the last `count`
nothing is read. The others are put run by run, and the ends of each frame are found by one search
over the key `run * span + ts`, as in `frames`, for the last rows alone.

>>> runs, ts = np.array([0, 1, 0, 0]), np.array([10, 11, 12, 14])
>>> last = arranged(runs, ts, 2, 2)  # the rows at 12 and 14
>>> last.order.tolist(), last.place.tolist()
([0, 2, 3], [0, 1])
>>> frames = last.frames(2, 0)
>>> frames.lo.tolist(), frames.hi.tolist()
([0, 1], [2, 3])
>>> sums(np.array([1, 5, 2, 4]), last, frames).tolist()
[3, 6]
>>> extremes(np.array([1, 5, 2, 4]), last, frames, greatest=False).tolist()
[1, 2]
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlwin.kernels.dyadic import fold_frames
from sqlwin.kernels.folds.picks.extremes import MAX_INT, MIN_INT
from sqlwin.kernels.frames import INT64_MAX, Frames, Ints
from sqlwin.lazy_dataclass import dataclass

NARROW = 1 << 16
"""So many runs have numbers of 16 bits, which are sorted by their digits."""
SHORT = 32
"""Frames of fewer rows on average are read row by row."""


@dataclass(frozen=True)
class LastRows:
    """order: the numbers of the rows of the runs concerned, run by run. at: where among them the
    last ones are, and place: which of the last ones each of these is. run, ts: in that order."""

    order: Ints
    at: Ints
    place: Ints
    run: Ints
    ts: Ints

    def frames(self, preceding: int, following: int) -> Frames:
        """Of the last rows. Bounds as those of `Frame`; following: at most 0, of earlier rows."""
        least = int(self.ts.min())
        span = int(self.ts.max()) - least + 1
        ts = self.ts - least
        key = self.run * span + ts
        own, base = ts[self.at], self.run[self.at] * span
        lo = np.searchsorted(key, base + np.maximum(own - min(preceding, span), 0))
        # before an instant that is not there: the run begins with its instants at 0
        until = np.maximum(own + max(following, -span) + 1, 0)
        return Frames(lo, np.searchsorted(key, base + until))

    @property
    def searchable(self) -> bool:
        """Whether the keys of the search are within int64."""
        if not len(self.ts):
            return True
        span = int(self.ts.max()) - int(self.ts.min()) + 1
        return (int(self.run.max()) + 1) * span <= INT64_MAX

    def placed(self, values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """One value a frame, in the order of the last rows."""
        out = np.empty_like(values)
        out[self.place] = values
        return out


def arranged(runs: Ints, ts: Ints, count: int, numbers: int) -> LastRows:
    """numbers: above that of any run."""
    first = len(runs) - count
    if count == 1:
        order = np.flatnonzero(runs == runs[first])
        run = np.zeros(len(order), dtype=np.int64)
        return LastRows(order, np.array([len(order) - 1]), np.array([0]), run, ts[order])
    some = np.zeros(numbers, dtype=np.bool_)
    some[runs[first:]] = True
    there = np.flatnonzero(some[runs])
    run = runs[there]
    small = run.astype(np.uint16) if numbers <= NARROW else run
    sorted_ = np.argsort(small, kind="stable")
    order = there[sorted_]
    at = np.flatnonzero(order >= first)
    return LastRows(order, at, order[at] - first, run[sorted_], ts[order])


def sums(values: Ints, last: LastRows, frames: Frames) -> Ints:
    """Of each frame, modulo 2**64."""
    until = np.zeros(len(last.order) + 1, dtype=np.int64)
    np.cumsum(values[last.order], out=until[1:])
    found: Ints = until[frames.hi] - until[frames.lo]
    return found


def extremes(values: Ints, last: LastRows, frames: Frames, greatest: bool) -> Ints:
    """Of each frame; of one without rows any number."""
    operation = MAX_INT if greatest else MIN_INT
    ordered = values[last.order]
    if int((frames.hi - frames.lo).sum()) > SHORT * len(ordered):
        return fold_frames(operation, (ordered,), frames)[0]
    ufunc = np.maximum if greatest else np.minimum
    ends = np.empty(2 * len(frames), dtype=np.int64)
    ends[0::2], ends[1::2] = frames.lo, frames.hi
    padded = np.append(ordered, operation.identity[0])  # a frame may end with the last row
    found: Ints = ufunc.reduceat(padded, ends)[0::2]
    return found
