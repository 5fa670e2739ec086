"""The k-th smallest of a range of rows, for many ranges at once.

A wavelet matrix: level by level, from the highest bit of the codes to the lowest,
rows are split, stably, those with bit 0 before those with bit 1. A range of rows
stays a range on the way down whichever side it follows, and how many zeros stand
before each row says where it goes. So a query is one step a level, and all
queries take it together: O(log distinct) numpy passes.

Invariant: at level l, `lo` to `hi` are the rows of the range whose higher bits are
those chosen so far.

Source: Claude, Navarro, Ordonez, The Wavelet Matrix, Information Systems 47, 2015.

>>> matrix = Wavelet(np.array([3, 1, 4, 1, 5]))
>>> frames = Frames(np.array([0, 1, 2]), np.array([5, 4, 5]))
>>> matrix.smallest(frames, np.array([2, 0, 2])).tolist()  # 1 1 3 4 5, 1 1 4, 1 4 5
[3, 1, 5]
>>> matrix.below(frames, np.array([4, 4, 9])).tolist()
[3, 2, 3]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sqlwin.kernels.dyadic import CHUNK
from sqlwin.kernels.frames import Frames, Ints
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True, eq=False)
class Level:
    """bit: which bit of the codes. zeros[i]: rows before i that have it 0; the last, all such."""

    bit: int
    zeros: Ints


class Wavelet:
    """Codes of rows, int64, none negative."""

    def __init__(self, codes: Ints) -> None:
        self.top = int(codes.max(initial=0))
        self.levels: list[Level] = []
        for bit in reversed(range(self.top.bit_length())):
            ones = (codes >> bit & 1).astype(np.bool_)
            zeros = np.zeros(len(codes) + 1, dtype=np.int64)
            np.cumsum(~ones, out=zeros[1:])
            self.levels.append(Level(bit, zeros))
            codes = np.concatenate([codes[~ones], codes[ones]])

    def smallest(self, frames: Frames, k: Ints) -> Ints:
        """The code at place k (from 0) among each frame's; needs 0 <= k < rows of the frame."""
        return _in_chunks(self._smallest, frames, k)

    def below(self, frames: Frames, bound: Ints) -> Ints:
        """How many codes of each frame are less than its bound."""
        return _in_chunks(self._below, frames, bound)

    def _smallest(self, lo: Ints, hi: Ints, k: Ints) -> Ints:
        code = np.zeros(len(k), dtype=np.int64)
        for level in self.levels:
            zeros_lo, zeros_hi = level.zeros[lo], level.zeros[hi]
            zeros = zeros_hi - zeros_lo
            one = k >= zeros
            code |= one.astype(np.int64) << level.bit
            k = np.where(one, k - zeros, k)
            lo, hi = _down(level, one, lo, hi, zeros_lo, zeros_hi)
        return code

    def _below(self, lo: Ints, hi: Ints, bound: Ints) -> Ints:
        all_are, none_is = bound > self.top, bound <= 0
        count = np.where(all_are, hi - lo, 0)
        inner = ~(all_are | none_is)
        for level in self.levels:
            one = (bound >> level.bit & 1).astype(np.bool_)
            zeros_lo, zeros_hi = level.zeros[lo], level.zeros[hi]
            count += np.where(inner & one, zeros_hi - zeros_lo, 0)
            lo, hi = _down(level, one, lo, hi, zeros_lo, zeros_hi)
        return count

    def _check(self, codes: Ints) -> None:
        """Every single row is found where it was put."""
        rows = np.arange(len(codes))
        found = self.smallest(Frames(rows, rows + 1), np.zeros(len(codes), dtype=np.int64))
        assert (found == codes).all(), (codes, found, self.levels)


def previous(codes: Ints) -> Ints:
    """The row before each row with the same code, -1 for none.

    A row is the first of its code within [lo, hi) just if this is below lo.
    """
    order = np.argsort(codes, kind="stable")
    same = codes[order[1:]] == codes[order[:-1]]
    before = np.full(len(codes), -1, dtype=np.int64)
    before[order[1:]] = np.where(same, order[:-1], -1)
    return before


def _down(
    level: Level, one: np.ndarray[tuple[int], np.dtype[np.bool_]], lo: Ints, hi: Ints,
    zeros_lo: Ints, zeros_hi: Ints,
) -> tuple[Ints, Ints]:  # fmt: skip
    """The range on the next level: zeros keep their order in front, ones behind them all."""
    first = level.zeros[-1]
    return (
        np.where(one, first + lo - zeros_lo, zeros_lo),
        np.where(one, first + hi - zeros_hi, zeros_hi),
    )


def _in_chunks(walk: Callable[[Ints, Ints, Ints], Ints], frames: Frames, wanted: Ints) -> Ints:
    out = np.empty(len(frames), dtype=np.int64)
    for start in range(0, len(frames), CHUNK):
        chunk = slice(start, start + CHUNK)
        out[chunk] = walk(frames.lo[chunk], frames.hi[chunk], wanted[chunk])
    return out
