"""The k-th smallest of few long ranges of rows: a wavelet matrix whose levels are whole digits.

A wavelet matrix knows of every row how many zeros stand before it, a level for each bit. Where
ranges are few against rows, as the windows of a day that end with one batch, only their ends need
be known. So a level has a digit of several bits: rows are sorted by it, stably, and counted by it
between one end and the next. A range holds so many rows of each digit; the one where the k-th
falls is chosen, and its rows are a range of the next level.

Invariant: at level l, `lo` to `hi` are the rows of the range whose higher digits are those
chosen so far.

>>> digits = Digits(np.array([3, 1, 4, 1, 5]), width=2)
>>> frames = Frames(np.array([0, 1, 2]), np.array([5, 4, 5]))
>>> digits.smallest(frames, np.array([2, 0, 2])).tolist()  # 1 1 3 4 5, 1 1 4, 1 4 5
[3, 1, 5]

Source: as of `wavelet`, with more than two symbols; Ferragina, Manzini, Mäkinen, Navarro,
Compressed Representations of Sequences and Full-Text Indexes, 2007.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlwin.kernels.frames import Frames, Ints
from sqlwin.kernels.order_statistics.wavelet import Wavelet
from sqlwin.lazy_dataclass import dataclass

WIDEST = 8
"""Bits of a digit: NumPy sorts single bytes by counting."""
WORTH = 3
"""Bits from which a digit is less work than as many levels of a wavelet matrix."""


@dataclass(frozen=True, eq=False)
class Level:
    """shift: of the digit in the codes. digits: of the rows in the order of this level. begins: of
    each digit, the first of its rows on the next level."""

    shift: int
    digits: npt.NDArray[np.uint8]
    begins: Ints


class Digits:
    """Codes of rows, int64, none negative; digits of `width` bits, the last one of what is left."""

    def __init__(self, codes: Ints, width: int) -> None:
        self.radix = 1 << width
        self.levels: list[Level] = []
        for shift in reversed(range(0, int(codes.max(initial=0)).bit_length(), width)):
            digits = (codes >> shift & (self.radix - 1)).astype(np.uint8)
            count = np.bincount(digits, minlength=self.radix)
            self.levels.append(Level(shift, digits, np.cumsum(count) - count))
            if shift:
                codes = codes[np.argsort(digits, kind="stable")]

    def smallest(self, frames: Frames, k: Ints) -> Ints:
        """The code at place k (from 0) among each frame's; needs 0 <= k < rows of the frame."""
        lo, hi, code = frames.lo, frames.hi, np.zeros(len(k), dtype=np.int64)
        for level in self.levels:
            lo_held, hi_held = self._before(level, lo, hi)
            until = np.cumsum(hi_held - lo_held, axis=1)
            digit = (until <= k[:, None]).sum(axis=1)
            at = np.arange(len(k)), digit
            lo, hi = (level.begins[digit] + held[at] for held in (lo_held, hi_held))
            k = k - until[at] + hi - lo
            code |= digit << level.shift
        return code

    def _before(self, level: Level, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """Rows of each digit before the ends of the ranges: a row for a range."""
        ends, at = np.unique(np.append(lo, hi), return_inverse=True)
        between = np.repeat(
            np.arange(len(ends) + 1), np.diff(ends, prepend=0, append=len(level.digits))
        )
        cells = np.bincount(
            between * self.radix + level.digits, minlength=(len(ends) + 1) * self.radix
        )
        held = np.cumsum(cells.reshape(-1, self.radix), axis=0)[at]
        return held[: len(lo)], held[len(lo) :]


def searchable(codes: Ints, frames: int) -> Digits | Wavelet:
    """What answers `smallest` for so many frames over codes with the least work.

    Counts of a level are those of the ends of frames by digits: at most about as many as rows.
    """
    width = min(WIDEST, (len(codes) // max(frames, 1)).bit_length() - 1)
    if width < WORTH:
        return Wavelet(codes)
    bits = int(codes.max()).bit_length()
    levels = max(-(-bits // width), 1)
    return Digits(codes, max(-(-bits // levels), 1))  # as many levels of narrower digits
