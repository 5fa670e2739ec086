"""Time windows as ranges of panes, merged of few pieces each.

Panes in the order of their start hold a window side by side, so a window is a range of them. That
is what long windows want: a day by the minute holds 1,440 panes, each of which is in 1,440 windows.
What all windows of a run hold is its core, one piece of every window: those that end within an hour
share 23 hours of a day. Beside it, and where there is none, panes are merged in pairs, in fours, in
eights, …, and a window takes at most two pieces of a size.

    overlap     whether that is worth it
    ranges_of   which windows there are, each once, and which panes each holds
    merged      one row for each range, merged of its pieces

Panes are those of a run (a group) after those of another. Pieces never reach over a run. So panes
are merged about once, and a window takes the logarithm of the windows that are merged with it.

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

import numpy as np
import polars as pl

from sqlwin.kernels.frames import Frames, Ints, Mask, ends, halved, numbered, starts
from sqlwin.kernels.gather import among, chunks
from sqlwin.kernels.panes import held_by
from sqlwin.kernels.panes import start_of as began_at
from sqlwin.lazy_dataclass import dataclass
from sqlwin.windows.group import Cumulate, Hop

_NUMBER, _OWNER = "__number", "__owner"
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

    panes: what is merged alone, a row for each of `run`. frames: those of a run after those of
    another, and within one neither `lo` nor `hi` falls. merge: for `group_by(…).agg`.
    """
    held = int((frames.hi - frames.lo).sum())
    if not overlap(held, len(panes)):
        return _folded(panes, *_each(frames), merge)
    core = _core(numbered(run[frames.lo]), frames)
    cored = np.flatnonzero(core.lo < core.hi)
    _, one, which = np.unique(core.lo[cored], return_index=True, return_inverse=True)
    owner, inside = _each(core[cored[one]])
    cores = _folded(panes, owner, inside, merge)
    edge = np.ones(len(panes), dtype=np.bool_)
    edge[inside] = False
    # what is before a core and what is behind it are runs of their own
    behind = np.zeros(len(panes) + 1, dtype=np.int64)
    behind[core.hi[cored]] = 1
    runs = numbered((run + np.cumsum(behind[:-1]))[edge])
    beside = Frames(np.append(frames.lo, core.hi), np.append(core.lo, frames.hi))
    at = np.flatnonzero(beside.lo < beside.hi)
    left = at[at < len(frames)]
    outwards = np.append((core.lo < core.hi)[left], np.zeros(len(at) - len(left), dtype=np.bool_))
    order, edges = _turned(runs, among(edge, beside[at]), outwards)
    level, owner, piece = _pieces(panes[np.flatnonzero(edge)[order]], runs, edges, merge)
    owner = np.append(cored, at[owner] % len(frames))
    piece = np.append(which, len(cores) + piece)
    return _folded(pl.concat([cores, level]), owner, piece, merge)


def _core(of: Ints, frames: Frames) -> Frames:
    """For each frame the panes that all frames of its run hold; its end where they share none.

    of: the number of its run.
    """
    lo, hi = frames.lo[ends(of) - 1], frames.hi[starts(of)]
    return Frames(np.where(lo < hi, lo, frames.hi), np.where(lo < hi, hi, frames.hi))


def _turned(run: Ints, frames: Frames, which: Mask) -> tuple[Ints, Frames]:
    """The rows of runs in whose ends the frames of `which` lie backwards, and all frames over them.

    What begins where its run does takes half the pieces of what ends where it does.
    """
    backwards = np.zeros(run.max(initial=-1) + 1, dtype=np.bool_)
    backwards[run[frames.lo[which]]] = True
    rows, begin = np.arange(len(run)), starts(run)
    order = np.where(backwards[run], begin + ends(run) - 1 - rows, rows)
    lo = np.where(which, begin[frames.lo], frames.lo)
    return order, Frames(lo, lo + frames.hi - frames.lo)


def _pieces(
    panes: pl.DataFrame, run: Ints, frames: Frames, merge: Sequence[pl.Expr]
) -> tuple[pl.DataFrame, Ints, Ints]:
    """Panes merged in pairs, in fours, in eights, …; and of what each frame takes at most two of a
    size: its number, and where it lies."""
    levels, owners, pieces, below = [panes], list[Ints](), list[Ints](), 0
    sizes = np.bincount(run)
    of = run[frames.lo]
    lo, hi = (each - starts(run)[frames.lo] for each in (frames.lo, frames.hi))
    while True:
        base = below + (np.cumsum(sizes) - sizes)[of]
        # never the one just taken: where lo is odd and hi too, hi - 1 > lo
        left, right = (lo < hi) & (lo & 1 == 1), (lo < hi) & (hi & 1 == 1)
        owners += [np.flatnonzero(left), np.flatnonzero(right)]
        pieces += [(base + lo)[left], (base + hi - 1)[right]]
        lo, hi = (lo + 1) >> 1, hi >> 1
        if not (lo < hi).any():
            return pl.concat(levels), np.concatenate(owners), np.concatenate(pieces)
        below += len(levels[-1])
        levels.append(_halved(levels[-1], sizes, merge))
        sizes = (sizes + 1) >> 1


def _halved(level: pl.DataFrame, sizes: Ints, merge: Sequence[pl.Expr]) -> pl.DataFrame:
    """Neighbours of a run merged; an odd last one stays as it is."""
    number = np.arange(len(level)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    pair = np.cumsum(number & 1 == 0)
    paired = level.with_columns(pl.Series(_NUMBER, pair))
    return paired.group_by(_NUMBER, maintain_order=True).agg(merge).select(level.columns)


def _each(frames: Frames) -> tuple[Ints, Ints]:
    """Every frame with every pane it holds: the numbers of both."""
    whole = next(chunks(frames, most=int((frames.hi - frames.lo).sum())), None)
    return (frames.lo, frames.lo) if whole is None else (whole.owner, whole.index)


def _folded(
    pieces: pl.DataFrame, owner: Ints, index: Ints, merge: Sequence[pl.Expr]
) -> pl.DataFrame:
    taken = pieces[index].with_columns(pl.Series(_OWNER, owner, dtype=pl.Int64))
    return taken.group_by(_OWNER).agg(merge).sort(_OWNER).drop(_OWNER)


def _start_of(end: Ints, window: Hop | Cumulate) -> Ints:
    named = pl.DataFrame({"end": end}, schema={"end": pl.Int64})
    return named.select(began_at(pl.col("end"), window)).to_series().to_numpy()
