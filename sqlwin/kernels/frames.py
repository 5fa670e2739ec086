"""Frames: which rows an OVER row looks at, as half-open ranges of row numbers.

Rows are sorted by (run, ts, part, seq); a run is one partition key's rows. The
frame of row i is `lo[i] <= j < hi[i]`, always within its run and never empty.

RANGE is one binary search for all rows at once, over the key `run * span + ts`,
with `span` long enough that a search never leaves its run. Where that key would
leave int64 (runs times span), a bisection of all rows in step takes over; it
compares instants only, so nothing can wrap.

>>> from sqlwin.windows import Frame, Unit
>>> runs, ts = np.array([0, 0, 0, 7]), np.array([10, 12, 12, 12])
>>> frames_of(runs, ts, Frame(Unit.RANGE, 2))
Frames(lo=array([0, 0, 0, 3]), hi=array([1, 3, 3, 4]))
>>> frames_of(runs, ts, Frame(Unit.ROWS, 1))
Frames(lo=array([0, 0, 1, 3]), hi=array([1, 2, 3, 4]))
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sqlwin.windows import Frame, Unit

Ints = npt.NDArray[np.int64]
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Frames:
    """Rows `lo <= i < hi`, int64, one frame for each output row."""

    lo: Ints
    hi: Ints

    def __len__(self) -> int:
        return len(self.lo)

    def _check(self, rows: int) -> None:
        """Every frame is a range within `rows` rows."""
        assert self.lo.dtype == self.hi.dtype == np.int64, self
        assert len(self.lo) == len(self.hi), self
        assert ((self.lo >= 0) & (self.lo <= self.hi) & (self.hi <= rows)).all(), (rows, self)


def frames_of(runs: npt.NDArray[np.generic], ts: Ints, frame: Frame) -> Frames:
    """The frame of every row.

    runs: id of the partition of each row; equal ids are adjacent.
    ts: int64, non-decreasing within a run (not looked at under ROWS).
    """
    run = numbered(runs)
    if frame.unit is Unit.ROWS:
        rows = np.arange(len(run))
        back = min(frame.preceding, len(run))
        return Frames(np.maximum(starts(run), rows - back), rows + 1)
    return Frames(_first_within(run, ts, frame.preceding), _past_peers(run, ts))


def numbered(runs: npt.NDArray[np.generic]) -> Ints:
    """0, 1, 2, … for the runs in their order."""
    return np.cumsum(_changes(runs), dtype=np.int64) - 1


def starts(run: Ints) -> Ints:
    """The first row of the run each row is in; `run` as `numbered` gives it."""
    return np.flatnonzero(_changes(run))[run].astype(np.int64, copy=False)


def _changes(values: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    changes = np.ones(len(values), dtype=np.bool_)
    changes[1:] = values[1:] != values[:-1]
    return changes


def _past_peers(run: Ints, ts: Ints) -> Ints:
    changes = _changes(run) | _changes(ts)
    peers = np.cumsum(changes) - 1
    ends = np.append(np.flatnonzero(changes)[1:], len(run))
    return ends[peers].astype(np.int64, copy=False) if len(run) else run


def _first_within(run: Ints, ts: Ints, preceding: int) -> Ints:
    if not len(ts):
        return run
    least, span = int(ts.min()), int(ts.max()) - int(ts.min()) + 1
    if (int(run[-1]) + 1) * span <= INT64_MAX:
        return _by_key(run, ts - least, min(preceding, span), span)
    return _by_bisection(starts(run), ts, preceding)


def _by_key(run: Ints, ts: Ints, preceding: int, span: int) -> Ints:
    # clipped at the run's own zero: a lower key would belong to the run before
    base = run * span
    return np.searchsorted(base + ts, base + np.maximum(ts - preceding, 0)).astype(np.int64)


def _by_bisection(lo: Ints, ts: Ints, preceding: int) -> Ints:
    """lo <= answer <= row for every row, halved in step until all have met."""
    reach = _back(ts, preceding)
    lo, hi = lo.copy(), np.arange(len(ts))
    while (lo < hi).any():
        middle = lo + (hi - lo) // 2
        before = ts[middle] < reach
        # where lo == hi already, the row itself is within reach and nothing moves
        lo, hi = np.where(before, middle + 1, lo), np.where(before, hi, middle)
    return lo


def _back(ts: Ints, preceding: int) -> Ints:
    """ts - preceding, stopping at the least int64 instead of wrapping."""
    left = min(preceding, 2**64)  # further than that no two instants are apart
    while left:
        step = min(left, INT64_MAX)
        ts, left = np.where(ts >= INT64_MIN + step, ts - step, INT64_MIN), left - step
    return ts
