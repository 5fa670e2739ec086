"""Time windows as ranges of panes, merged of few pieces each.

Panes in the order of their start hold a window side by side, so a window is a range of them. That
is what long windows want: a day by the minute holds 1,440 panes, each of which is in 1,440 windows.
Of panes merged in pairs, in fours, in eights, …, each window takes at most two pieces of a size.

    overlap     whether that is worth it
    ranges_of   which windows there are, each once, and which panes each holds
    merged      one row for each range, merged of its pieces

Panes are those of a run (a group) after those of another. Pieces never reach over a run.

>>> run, pane = np.array([0, 0, 0, 1]), np.array([0, 1, 5, 5])
>>> found = ranges_of(run, pane, Hop(size=3, advance=1), first=2, last=6)
>>> found.run.tolist(), found.end.tolist()
([0, 0, 0, 0, 1], [2, 3, 4, 6, 6])
>>> found.frames.lo.tolist(), found.frames.hi.tolist()
([0, 0, 1, 2, 3], [2, 2, 2, 3, 4])
>>> panes = pl.DataFrame({"n": [1, 10, 100, 1000]})
>>> merged(panes, run, found.frames, [pl.col("n").sum()])["n"].to_list()
[11, 11, 10, 100, 1000]

Source: the aggregate trees of Traub et al., Efficient Window Aggregation with General Stream
Slicing, EDBT 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sqlwin.kernels.frames import Frames, Ints, ends, halved, starts
from sqlwin.kernels.gather import chunks
from sqlwin.kernels.panes import held_by
from sqlwin.kernels.panes import start_of as began_at
from sqlwin.windows.group import Cumulate, Hop

_RUN, _NUMBER, _OWNER = "__run", "__number", "__owner"
OVERLAP = 4


@dataclass(frozen=True, eq=False)
class Ranges:
    """For each window the number of its run, its end, and the panes it holds: one at least."""

    run: Ints
    end: Ints
    frames: Frames


def overlap(held: int, parts: int) -> bool:
    """Whether windows share their parts enough to put these in order and cut them into pieces.

    held: parts of all windows, each as often as it is in one. parts: different ones.
    """
    return held > OVERLAP * parts


def ranges_of(run: Ints, pane: Ints, window: Hop | Cumulate, first: int, last: int) -> Ranges:
    """The windows that end at `first` to `last`.

    run: of each pane, ascending from 0. pane: starts, ascending within a run, each once.
    """
    low, high = held_by(pane, window, first, last)
    # those that the pane before is in, too, are known
    follows = np.append(False, run[1:] == run[:-1])
    low = np.where(follows, np.maximum(low, np.roll(high, 1) + window.every), low)
    count = np.maximum((high - low) // window.every + 1, 0)
    of = np.repeat(np.arange(len(pane)), count)
    nth = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    end = low[of] + nth * window.every
    begin, after = starts(run)[of], ends(run)[of]
    start = _start_of(end, window)
    lo = halved(begin, after, lambda rows: pane[rows] < start)
    hi = halved(lo, after, lambda rows: pane[rows] < end)
    return Ranges(run[of], end, Frames(lo, hi))


def merged(
    panes: pl.DataFrame, run: Ints, frames: Frames, merge: Sequence[pl.Expr]
) -> pl.DataFrame:
    """One row for each frame, in their order: its panes merged. No frame is empty.

    panes: what is merged alone, a row for each of `run`. merge: for `group_by(…).agg`.
    """
    held = int((frames.hi - frames.lo).sum())
    if not overlap(held, len(panes)):
        whole = next(chunks(frames, most=held), None)
        owner, taken = (frames.lo, frames.lo) if whole is None else (whole.owner, whole.index)
        return _folded(panes, owner, taken, merge)
    level, sizes = panes.with_columns(pl.Series(_RUN, run)), np.bincount(run)
    of = run[frames.lo]
    lo, hi = (each - starts(run)[frames.lo] for each in (frames.lo, frames.hi))
    levels, owners, pieces, below = [panes], list[Ints](), list[Ints](), 0
    while True:
        base = below + (np.cumsum(sizes) - sizes)[of]
        # never the one just taken: where lo is odd and hi too, hi - 1 > lo
        left, right = (lo < hi) & (lo & 1 == 1), (lo < hi) & (hi & 1 == 1)
        owners += [np.flatnonzero(left), np.flatnonzero(right)]
        pieces += [(base + lo)[left], (base + hi - 1)[right]]
        lo, hi = (lo + 1) >> 1, hi >> 1
        if not (lo < hi).any():
            break
        below += len(level)
        level, sizes = _halved(level, sizes, merge), (sizes + 1) >> 1
        levels.append(level.drop(_RUN))
    return _folded(pl.concat(levels), np.concatenate(owners), np.concatenate(pieces), merge)


def _halved(level: pl.DataFrame, sizes: Ints, merge: Sequence[pl.Expr]) -> pl.DataFrame:
    """Neighbours of a run merged; an odd last one stays as it is."""
    number = np.arange(len(level)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    paired = level.with_columns(pl.Series(_NUMBER, number >> 1))
    return (
        paired.group_by(_RUN, _NUMBER, maintain_order=True).agg(merge).drop(_NUMBER)[level.columns]
    )


def _folded(
    pieces: pl.DataFrame, owner: Ints, index: Ints, merge: Sequence[pl.Expr]
) -> pl.DataFrame:
    taken = pieces[index].with_columns(pl.Series(_OWNER, owner, dtype=pl.Int64))
    return taken.group_by(_OWNER).agg(merge).sort(_OWNER).drop(_OWNER)


def _start_of(end: Ints, window: Hop | Cumulate) -> Ints:
    named = pl.DataFrame({"end": end}, schema={"end": pl.Int64})
    return named.select(began_at(pl.col("end"), window)).to_series().to_numpy()
