"""Windows put together from panes: each pane into every window that holds it.

Where windows overlap little, a pane is repeated for each of them; where they overlap much, a day by
the minute, windows are ranges of panes and take few pieces each (`kernels.pane_ranges`), so that a
window costs the logarithm of its panes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.columns import picked
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.frames import Frames, Ints, halved
from sqlwin.kernels.pane_ranges import merged, overlap, ranges_of
from sqlwin.kernels.panes import WINDOW_END, ends_at, ends_of, held_by, start_of
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.windows.grouping import EXTENT, PANE, ROWS, merged_by, merges
from sqlwin.schema import POSITION, TS
from sqlwin.windows.group import Aligned, CalendarWindow, Cumulate, Ending, Hop

_AT = "__at"


@dataclass(frozen=True)
class Presence:
    """Which of the windows that hold a row are there, and so are results.

    names: the keys that a group is known by. weighted: rows may be retracted.

    | windows                         | are there                                     |
    |---------------------------------|-----------------------------------------------|
    | over rows that may be retracted | if their panes count a row                    |
    | of CUMULATE, emitOnlyOnUpdate   | if their last pane counts one                 |
    | others                          | always: a pane is there as long as it has one |

    So under emitOnlyOnUpdate each pane that counts a row makes one window, which ends with it.

    >>> panes = pl.DataFrame({"__pane": [0, 20], "__rows": [2, 0]})
    >>> presence = Presence(Cumulate(size=60, step=20, only_on_update=True), (), weighted=True)
    >>> presence.wanted(panes)["__end"].to_list()
    [20]
    """

    window: Aligned
    names: tuple[str, ...]
    weighted: bool = False

    @property
    def by_last_pane(self) -> bool:
        return isinstance(self.window, Cumulate | CalendarWindow) and self.window.only_on_update

    def filled(self, counted: pl.DataFrame) -> pl.DataFrame:
        """Windows, or panes, that count a row."""
        return counted.filter(pl.col(ROWS) > 0) if self.weighted else counted

    def wanted(
        self, panes: pl.DataFrame, wanted: pl.DataFrame | None = None
    ) -> pl.DataFrame | None:
        """Those of `wanted`, None: of all, whose last pane, where they go by it, counts a row.

        panes: each of group and pane once. wanted: of windows, with their identity.
        """
        if not self.by_last_pane:
            return wanted
        held = self._ending_in(self.filled(panes))
        return held if wanted is None else self._among(wanted, held)

    def around(
        self, windows: pl.DataFrame, stored: pl.DataFrame, panes: pl.DataFrame
    ) -> pl.DataFrame:
        """Windows that are there before a batch, or after it. panes: of the batch."""
        if not self.by_last_pane:
            return windows
        counts = [*self.names, PANE, ROWS]
        before, batch = stored.select(counts), panes.select(counts)
        after = pl.concat([before, batch]).group_by(*self.names, PANE).agg(pl.col(ROWS).sum())
        both = pl.concat([before, after.select(counts)])
        return self._among(windows, self._ending_in(self.filled(both)))

    def _ending_in(self, panes: pl.DataFrame) -> pl.DataFrame:
        end, _ = ends_at(pl.col(PANE), self.window)  # type: ignore[arg-type]
        return panes.select(*self.names, end.alias(WINDOW_END))

    def _among(self, windows: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
        on = [*self.names, WINDOW_END]
        return windows.join(held, on=on, how="semi", nulls_equal=True, maintain_order="left")


def windows_of(
    panes: pl.DataFrame,
    by: Sequence[str],
    window: Aligned,
    folds: Sequence[Fold],
    first: int = START,
    last: int = END,
    wanted: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """The windows that end at `first` to `last` and hold a pane, merged: `by`, `__end`, what
    panes have.

    panes: each of `by` and `__pane` once. wanted: `by` and `__end` of the only ones to
    be merged; None: all.
    """
    identity = [*by, WINDOW_END]
    if isinstance(window, Hop | Cumulate) and _overlaps(panes, window, first, last):
        return _of_ranges(panes, by, window, folds, (first, last), wanted)
    held = _wanted(ends_of(panes, PANE, window, first, last), identity, wanted)
    if isinstance(window, Hop) and window.tumbles:  # each is the pane that it holds
        accumulators = (column for fold in folds for column in fold.columns)
        return picked(held, [*identity, *EXTENT, *accumulators])
    return merged_by(held, identity, folds)


def frames_of(
    windows: pl.DataFrame, rows: pl.DataFrame, by: Sequence[str], window: Ending
) -> tuple[pl.DataFrame, Frames]:
    """The rows group by group, in the order of their positions, and those of each window.

    windows: `by` and `__end`; of one that holds no row the frame is empty.
    """
    in_time = _by_position(rows)
    order, runs = runs_of(in_time, by)
    ordered = in_time[order]
    begins = np.flatnonzero(np.diff(runs, prepend=-1))
    after = np.append(begins, len(runs))[1:] if len(begins) else begins
    at = _group_of(windows, ordered, by, begins)
    lo, hi = (np.append(each, 0)[at].astype(np.int64) for each in (begins, after))
    end, ts = windows[WINDOW_END].to_numpy(), ordered[TS].to_numpy()
    start = windows.select(start_of(pl.col(WINDOW_END), window)).to_series().to_numpy()
    lo = halved(lo, hi, lambda at: ts[at] < start)
    return ordered, Frames(lo, halved(lo, hi, lambda at: ts[at] < end))


def _by_position(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of a store are in order: to see it takes a fraction of what it takes to sort them."""
    tied = np.arange(1, len(rows))
    for name in POSITION:
        column = rows[name].to_numpy()
        now, before = column[tied], column[tied - 1]
        if (now < before).any():
            return rows.sort(POSITION)
        tied = tied[now == before]
    return rows


def runs_of(rows: pl.DataFrame, by: Sequence[str]) -> tuple[Ints, Ints]:
    """The rows group by group, else in their order: the number of each and that of its group."""
    if not by:
        return np.arange(len(rows)), np.zeros(len(rows), dtype=np.int64)
    numbered = rows.select(by).with_row_index(_AT)
    groups = numbered.group_by(by, maintain_order=True).agg(_AT)[_AT]
    runs = np.repeat(np.arange(len(groups)), groups.list.len().to_numpy())
    return groups.explode().to_numpy().astype(np.int64), runs


def _group_of(
    windows: pl.DataFrame, ordered: pl.DataFrame, by: Sequence[str], begins: Ints
) -> Ints:
    """Of each window the number of its group; of one without a row, one more than there are."""
    if not by:
        return np.zeros(len(windows), dtype=np.int64)
    groups = ordered.select(by)[begins].with_row_index(_AT)
    found = windows.join(groups, on=list(by), how="left", nulls_equal=True, maintain_order="left")
    return found[_AT].fill_null(len(begins)).to_numpy().astype(np.int64)


def _overlaps(panes: pl.DataFrame, window: Hop | Cumulate, first: int, last: int) -> bool:
    low, high = held_by(panes[PANE].to_numpy(), window, first, last)
    return overlap(int(((high - low) // window.every + 1).sum()), len(panes))


def _of_ranges(
    panes: pl.DataFrame,
    by: Sequence[str],
    window: Hop | Cumulate,
    folds: Sequence[Fold],
    between: tuple[int, int],
    wanted: pl.DataFrame | None,
) -> pl.DataFrame:
    in_time = panes.sort(PANE)
    order, runs = runs_of(in_time, by)
    ordered = in_time[order]
    ranges = ranges_of(runs, ordered[PANE].to_numpy(), window, *between)
    first_panes = ordered.select(*by, PANE)[ranges.frames.lo]
    ended = first_panes.with_columns(pl.Series(WINDOW_END, ranges.end, dtype=pl.Int64))
    known = ended.drop(PANE)
    frames = ranges.frames
    if wanted is not None:
        chosen = _wanted(known.with_row_index(_AT), known.columns, wanted)
        known, frames = chosen.drop(_AT), frames[chosen[_AT].to_numpy()]
    return known.hstack(merged(ordered.drop(*by, PANE), runs, frames, merges(folds)))


def _wanted(
    windows: pl.DataFrame, identity: Sequence[str], wanted: pl.DataFrame | None
) -> pl.DataFrame:
    if wanted is None:
        return windows
    return windows.join(
        wanted.select(identity),
        on=list(identity),
        how="semi",
        nulls_equal=True,
        maintain_order="left",
    )
