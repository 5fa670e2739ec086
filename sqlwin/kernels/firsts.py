"""Sums over the rows of a frame whose key is below a bound, without subtraction.

With `wavelet.previous` as key and the frame's start as bound those rows are the
first ones of each value: a sum over distinct values.

The blocks are those of `dyadic`: row 2**k * j and the next ones. Within a block rows
are sorted by key, so that those below a bound come first, and their sum is one entry
of the block's running sums. A frame is at most two blocks a level; levels are made,
asked for all frames, and dropped: memory for one only.

Invariant: after level k, what is left of each frame is whole blocks of level k + 1.

>>> values, key = np.array([5.0, 5.0, 2.0, 5.0]), np.array([-1, 0, -1, 1])
>>> frames = Frames(np.array([0, 1, 3]), np.array([4, 4, 4]))
>>> sums_below((values,), key, frames.lo, frames)
(array([7., 7., 5.]),)
"""

from __future__ import annotations

import numpy as np

from sqlwin.kernels.dyadic import Arrays
from sqlwin.kernels.frames import Frames, Ints
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True, eq=False)
class Blocks:
    """One level: `places` sorted, a row's block * span + key; and running sums within blocks."""

    level: int
    span: int
    places: Ints
    running: Arrays

    def add(self, totals: Arrays, block: Ints, bound: Ints, live: Ints) -> None:
        """To the totals at `live`: their block's sum of what is below their bound."""
        start = block << self.level
        found = np.searchsorted(self.places, block * self.span + bound)
        some = found > start  # else the entry before would be another block's
        for total, running in zip(totals, self.running, strict=True):
            total[live[some]] += running[found[some] - 1]


def sums_below(lanes: Arrays, key: Ints, bound: Ints, frames: Frames) -> Arrays:
    """Each lane's sum over the rows lo <= i < hi with key[i] < bound; 0 for none.

    lanes: arrays of one length, int64 (must not overflow) or float64. -1 <= key, bound <= rows.
    """
    totals = tuple(np.zeros(len(frames), dtype=lane.dtype) for lane in lanes)
    lo, hi, level = frames.lo.copy(), frames.hi.copy(), 0
    while (lo < hi).any():
        blocks = blocks_of(lanes, key, level)
        left = np.flatnonzero((lo < hi) & (lo & 1 == 1))
        blocks.add(totals, lo[left], bound[left], left)
        lo = lo + (lo & 1)
        right = np.flatnonzero((lo < hi) & (hi & 1 == 1))
        blocks.add(totals, hi[right] - 1, bound[right], right)
        lo, hi, level = lo >> 1, hi >> 1, level + 1
    return totals


def blocks_of(lanes: Arrays, key: Ints, level: int) -> Blocks:
    """The whole blocks of 2**level rows; a shorter one at the end is never asked for."""
    rows = len(key) >> level << level
    span = len(key) + 2
    places = (np.arange(rows) >> level) * span + key[:rows]
    order = np.argsort(places, kind="stable")
    with np.errstate(invalid="ignore", over="ignore"):
        running = tuple(
            np.cumsum(lane[:rows][order].reshape(-1, 1 << level), axis=1).ravel() for lane in lanes
        )
    return Blocks(level, span, places[order], running)
