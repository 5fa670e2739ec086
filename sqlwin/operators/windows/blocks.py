"""Blocks: panes of long hopping windows merged ahead, and kept from one batch to the next.

A day by the minute has 1,440 panes. When a minute ends, each key has one window more, and all panes
of it but one were in the window before. So where windows are long, panes that all windows of a
batch hold are read as blocks of many panes, and only those beside them as they are.

    read      the panes of windows that end in a range, as blocks where all of them hold these
    forget    blocks that panes are put into

Blocks are derived: they are in no checkpoint, and a task that has none makes them of the panes.

Invariant: a block is the merge of the panes that the store has in its span; no window that is read
holds a part of it. What RETAIN n ROWS cuts is in none: windows that are still to end hold no
pane of it.

Worked example, windows of 100 minutes every minute, blocks of 3: from watermark 200 to 204 windows
end at 201 to 204. They hold panes 101 to 203, and each of them panes 104 to 200. Blocks are those
that begin at 105, 108, …, 198 and end by 201; panes 101 to 104, and 201 to 203, are read as such.

>>> blocks = Blocks(Hop(size=100, advance=1), ("k",), ())
>>> blocks.width, blocks.shared(200, 204)
(3, range(105, 201, 3))
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sqlwin.kernels.folds import Fold
from sqlwin.kernels.panes import ends_at, origin, pane_start, span_of
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.windows.grouping import PANE, merged_by
from sqlwin.state.contract import Store
from sqlwin.windows import Unit
from sqlwin.windows.group import Hop

LONG = 64
"""Panes of a window of which blocks are made."""
IN_A_WINDOW = 32
"""Blocks of a window, about: the fewer, the more panes are read beside them."""


@dataclass(frozen=True)
class Blocks:
    """Of a `panes` store. by: its keys. folds: whose accumulators it has."""

    window: Hop
    by: tuple[str, ...]
    folds: Sequence[Fold]

    @property
    def width(self) -> int:
        panes = self.window.size // self.window.pane
        return self.window.pane * max(panes // IN_A_WINDOW, 1)

    def shared(self, closed: int, watermark: int) -> range:
        """Where blocks begin that all windows with closed < end <= watermark hold."""
        base, width = origin(self.window), self.width
        first = pane_start(watermark - self.window.size + width - 1, width, base)
        last = pane_start(ends_at(closed, self.window)[0], width, base)
        return range(first, last, width)

    def read(self, closed: int, watermark: int, stores: Stores, panes: Store) -> pl.DataFrame:
        """Of windows with closed < end <= watermark."""
        lo, hi = span_of(self.window, closed + 1, watermark)
        shared = self.shared(closed, watermark)
        if not shared:
            return panes.scan(lo, hi)
        known = _known(stores)
        for start in [each for each in known if each < shared.start]:
            del known[start]  # windows to come begin later
        absent = [start for start in shared if start not in known]
        if absent:
            known.update(self._merged(range(absent[0], absent[-1] + self.width, self.width), panes))
        before, behind = panes.scan(lo, shared.start), panes.scan(shared.stop, hi)
        return pl.concat([before, *(known[start] for start in shared), behind])

    def _merged(self, starts: range, panes: Store) -> dict[int, pl.DataFrame]:
        """Those that begin there, by their start; of one without a pane no rows."""
        held = panes.scan(starts.start, starts.stop)
        start = pane_start(pl.col(PANE), self.width, origin(self.window))
        blocks = merged_by(held.with_columns(start), (*self.by, PANE), self.folds)
        parts = blocks.select(held.columns).partition_by(PANE, as_dict=True)
        return {each: parts.get((each,), held.clear()) for each in starts}

    def forget(self, panes: pl.DataFrame, stores: Stores) -> None:
        lo, hi = bounds(panes[PANE])
        known = _known(stores)
        for start in [each for each in known if lo - self.width < each < hi]:
            del known[start]


def _known(stores: Stores) -> dict[int, pl.DataFrame]:
    """By the start of each."""
    if not isinstance(stores.cached, dict):
        stores.cached = {}
    return stores.cached


def blocks_of(
    window: object, by: tuple[str, ...], folds: Sequence[Fold], weighted: bool
) -> Blocks | None:
    """None where windows are short, or panes are known by other times than of their rows."""
    if weighted or not isinstance(window, Hop) or window.unit is not Unit.RANGE:
        return None
    return Blocks(window, by, folds) if window.size >= LONG * window.pane else None
