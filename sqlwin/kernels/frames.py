"""Frames: which rows an OVER row looks at, as half-open ranges of row numbers.

Rows are sorted by (run, ts, part, seq); a run is one partition key's rows. A
frame is `lo[i] <= j < hi[i]`, always within the run of row i, and empty where
lo = hi. EXCLUDE cuts a hole into it, and TIES puts the row itself back into the
hole: `parts_of` gives the one, two or three disjoint ranges that are left, in the
order of the rows: before the hole, in it, after it.

A bound of RANGE is one binary search for all rows at once, over the key
`run * span + ts`, with `span` long enough that a search never leaves its run.
Where that key would leave int64 (runs times span), a bisection of all rows in
step takes over; it compares instants only, so nothing can wrap. The bounds CURRENT
ROW and UNBOUNDED need no search.

>>> from sqlwin.windows import Unit
>>> from sqlwin.windows.frames import Exclude, Frame
>>> runs, ts = np.array([0, 0, 0, 7]), np.array([10, 12, 12, 12])
>>> frames_of(runs, ts, Frame(Unit.RANGE, 2))
Frames(lo=array([0, 0, 0, 3]), hi=array([1, 3, 3, 4]))
>>> frames_of(runs, ts, Frame(Unit.ROWS, -1, 2))  # the next two
Frames(lo=array([1, 2, 3, 4]), hi=array([3, 3, 3, 4]))
>>> before, after = parts_of(runs, ts, Frame(Unit.RANGE, None, None, Exclude.GROUP))
>>> before.lo, before.hi, after.lo, after.hi  # doctest: +NORMALIZE_WHITESPACE
(array([0, 0, 0, 3]), array([0, 1, 1, 3]), array([1, 3, 3, 4]), array([3, 3, 3, 4]))
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sqlwin.lazy_dataclass import dataclass
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude, Frame

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Frames:
    """Rows `lo <= i < hi`, int64, one frame for each output row."""

    lo: Ints
    hi: Ints

    def __len__(self) -> int:
        return len(self.lo)

    def __getitem__(self, which: Mask | Ints) -> Frames:
        return Frames(self.lo[which], self.hi[which])

    def _check(self, rows: int) -> None:
        """Every frame is a range within `rows` rows."""
        assert self.lo.dtype == self.hi.dtype == np.int64, self
        assert len(self.lo) == len(self.hi), self
        assert ((self.lo >= 0) & (self.lo <= self.hi) & (self.hi <= rows)).all(), (rows, self)


def parts_of(runs: npt.NDArray[np.generic], ts: Ints, frame: Frame) -> list[Frames]:
    """The frame of every row with EXCLUDE, as disjoint ranges; arguments as `frames_of`."""
    return excluding(frames_of(runs, ts, frame), runs, ts, frame.exclude)


def excluding(
    whole: Frames, runs: npt.NDArray[np.generic], ts: Ints, exclude: Exclude
) -> list[Frames]:
    """What EXCLUDE leaves of each frame. ts: equal within a run where rows are peers."""
    if exclude is Exclude.NO_OTHERS:
        return [whole]
    at = np.arange(len(ts), dtype=np.int64)
    row = Frames(at, at + 1)
    if exclude is Exclude.CURRENT_ROW:
        return _around(whole, row)
    before, after = _around(whole, _peers(numbered(runs), ts))
    if exclude is Exclude.GROUP:
        return [before, after]
    return [before, Frames(_within(row.lo, whole), _within(row.hi, whole)), after]


def frames_of(runs: npt.NDArray[np.generic], ts: Ints, frame: Frame) -> Frames:
    """The frame of every row, as if it excluded no row.

    runs: id of the partition of each row; equal ids are adjacent.
    ts: int64, non-decreasing within a run (not looked at under ROWS).
    """
    run = numbered(runs)
    if frame.unit is Unit.SESSION:
        assert frame.following is not None
        session = sessions(run, ts, frame.following)
        return Frames(starts(session), ends(session))
    if frame.unit is Unit.GROUPS:
        return _grouped(run, ts, frame)
    if frame.unit is Unit.ROWS:
        lo = starts(run) if frame.preceding is None else _stepped(run, -frame.preceding)
        hi = ends(run) if frame.following is None else _stepped(run, frame.following + 1)
    else:
        lo = starts(run) if frame.preceding is None else _first_from(run, ts, -frame.preceding)
        hi = ends(run) if frame.following is None else _first_from(run, ts, frame.following + 1)
    return Frames(lo, hi)


def sessions(run: Ints, ts: Ints, gap: int) -> Ints:
    """The number of the session each row is in: no pause between its rows is longer than the gap.

    >>> sessions(np.array([0, 0, 0, 1]), np.array([10, 15, 21, 21]), 5)
    array([0, 0, 1, 2])
    """
    begins = _changes(run)
    begins[1:] |= ts[1:] - ts[:-1] > gap
    return np.cumsum(begins, dtype=np.int64) - 1


def _grouped(run: Ints, ts: Ints, frame: Frame) -> Frames:
    """Frames that count groups of peers."""
    lo = starts(run) if frame.preceding is None else group_begins(run, ts, -frame.preceding)
    hi = ends(run) if frame.following is None else group_begins(run, ts, frame.following + 1)
    return Frames(lo, hi)


def group_begins(run: Ints, ts: Ints, on: int) -> Ints:
    """The first row of the group of peers so many groups on, not beyond the ends of its run.

    >>> group_begins(np.array([0, 0, 0, 0, 1]), np.array([5, 5, 6, 7, 7]), 1)
    array([2, 2, 3, 4, 5])
    """
    first = np.flatnonzero(_changes(run) | _changes(ts))
    if not len(first):
        return run
    begins = np.append(first, len(run)).astype(np.int64, copy=False)
    group = np.cumsum(_changes(run) | _changes(ts), dtype=np.int64) - 1
    own = Frames(group[starts(run)], group[ends(run) - 1] + 1)
    return begins[_within(group + min(max(on, -len(run)), len(run)), own)]


def numbered(runs: npt.NDArray[np.generic]) -> Ints:
    """0, 1, 2, … for the runs in their order."""
    return np.cumsum(_changes(runs), dtype=np.int64) - 1


def starts(run: Ints) -> Ints:
    """The first row of the run each row is in; `run` as `numbered` gives it."""
    return np.flatnonzero(_changes(run))[run].astype(np.int64, copy=False)


def ends(run: Ints) -> Ints:
    """The row after the run each row is in."""
    return np.append(np.flatnonzero(_changes(run))[1:], len(run))[run].astype(np.int64, copy=False)


def _changes(values: npt.NDArray[np.generic]) -> Mask:
    changes = np.ones(len(values), dtype=np.bool_)
    changes[1:] = values[1:] != values[:-1]
    return changes


def _around(whole: Frames, hole: Frames) -> list[Frames]:
    """What is left of each range without the hole, which may lie beside it."""
    return [
        Frames(whole.lo, _within(hole.lo, whole)),
        Frames(_within(hole.hi, whole), whole.hi),
    ]


def _within(row: Ints, frames: Frames) -> Ints:
    inside: Ints = np.minimum(np.maximum(row, frames.lo), frames.hi)
    return inside


def _stepped(run: Ints, on: int) -> Ints:
    """The row so many rows on, not beyond the ends of its run."""
    step = min(max(on, -len(run)), len(run))
    rows = np.arange(len(run), dtype=np.int64)
    return _within(rows + step, Frames(starts(run), ends(run)))


def _peers(run: Ints, ts: Ints) -> Frames:
    """The rows of each row's run and instant."""
    if not len(run):
        return Frames(run, run)
    group = numbered(np.cumsum(_changes(run) | _changes(ts)))
    return Frames(starts(group), ends(group))


def _first_from(run: Ints, ts: Ints, shift: int) -> Ints:
    """The first row of each row's run with an instant of at least its own + shift."""
    if not len(ts):
        return run
    if shift in (0, 1):
        return _peers(run, ts).hi if shift else _peers(run, ts).lo
    least, span = int(ts.min()), int(ts.max()) - int(ts.min()) + 1
    if (int(run[-1]) + 1) * span <= INT64_MAX:
        return _by_key(run, ts - least, min(max(shift, -span), span), span)
    return _by_bisection(run, ts, shift)


def _by_key(run: Ints, ts: Ints, shift: int, span: int) -> Ints:
    # clipped at the run's own zero and its end: other keys would belong to a neighbour
    wanted = np.minimum(ts, span - shift) + shift if shift > 0 else np.maximum(ts + shift, 0)
    base = run * span
    found: Ints = np.searchsorted(base + ts, base + wanted)
    return found


def _by_bisection(run: Ints, ts: Ints, shift: int) -> Ints:
    """first <= answer <= end of the run for every row, halved in step until all have met."""
    wanted, beyond = _shifted(ts, shift)
    found = bisected(run, lambda rows: ts[rows] < wanted)
    return np.where(beyond, ends(run) if shift > 0 else starts(run), found)


def bisected(run: Ints, before: Callable[[Ints], Mask]) -> Ints:
    """The first row of each row's run that is not before what the row wants.

    before: of a row for each row, which are; none of them behind one that is not.
    """
    return halved(starts(run), ends(run), before)


def halved(lo: Ints, hi: Ints, before: Callable[[Ints], Mask]) -> Ints:
    """For each range the first of its rows that is not before what is wanted, else `hi`.

    before: as of `bisected`, of a row for each range.
    """
    last = int(hi.max(initial=1)) - 1
    while (lo < hi).any():
        middle = lo + (hi - lo) // 2
        # where lo == hi already, nothing moves, and middle may be one past the last row
        less = (lo < hi) & before(np.minimum(middle, last))
        lo, hi = np.where(less, middle + 1, lo), np.where(less, hi, middle)
    return lo


def _shifted(ts: Ints, shift: int) -> tuple[Ints, Mask]:
    """ts + shift modulo 2**64, and where the sum is beyond int64."""
    beyond = ts > INT64_MAX - shift if shift > 0 else ts < INT64_MIN - shift
    return (ts.view(np.uint64) + np.uint64(shift % 2**64)).view(np.int64), beyond
