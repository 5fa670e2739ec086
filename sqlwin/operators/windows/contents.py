"""What group windows hold: panes, and messages where an aggregate needs them all.

The panes store is SAMZA-552's window metadata: for each (keys, pane) the first and
last position and the number of its rows, and one mergeable accumulator of each
incremental aggregate. A window is the merge of its panes, so an hour every 15
minutes costs a row once, not four times. An aggregate of full state (a median) keeps
the rows themselves in the messages store, once whatever the windows and grouping
sets; it is computed from them when a window is emitted.

Where rows may be retracted (`weighted`) a retracted one comes as a pane that counts less
than none, and panes of the same instant add up; a message is marked as retracted. So an
aggregate that is not invertible, MAX or a sum of floats, is computed from messages as
well: see `messages`. Which windows are there says `Presence`.

Invariant: the rows of the messages store are those the panes count.

    panes      what on_batch was given, as panes
    closing    windows that end in a range, merged of their panes
    within     windows that hold an instant of a range, the same
    of         the given windows, the same
    valued     either, with the results beside them

Worked example, hour every half hour, COUNT(*), rows at 0:10, 0:40, 1:05: panes 0:00,
0:30, 1:00 of one row each. `closing(0:30, 1:30)`: the window that ends at 1:00 is
the merge of panes 0:00 and 0:30, and counts 2; the one that ends at 1:30 of 0:30
and 1:00.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.panes import WINDOW_END, span_of, start_of
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.state_queries import StateQuery
from sqlwin.operators.weights import effective, split
from sqlwin.operators.windows.grouping import EXTENT, FIRST, LAST, PANE, ROWS, Lifting
from sqlwin.operators.windows.merging import Presence, windows_of
from sqlwin.operators.windows.messages import PANES, WindowMessages
from sqlwin.polars_frames import PLACE, empty
from sqlwin.schema import WEIGHT
from sqlwin.windows.group import Hop, Whole

if TYPE_CHECKING:
    from sqlwin.operators.windows.blocks import Blocks


@dataclass(frozen=True)
class Contents(WindowMessages):
    """Panes, and the messages beside them."""

    @cached_property
    def presence(self) -> Presence:
        return Presence(self.window, self.by.names, self.weighted)

    @cached_property
    def pane(self) -> dict[str, pl.DataType]:
        """The columns of a pane, as lifting makes them."""
        none = empty({**self.below, **PLACE})
        return dict(self._panes_of(none).schema)

    # Rows in.

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Panes where they are enough, else the columns that are read."""
        rows = effective(rows) if self.weighted else rows
        if not self.whole:
            return self._panes(rows)
        weight = [WEIGHT] if self.weighted else []
        return rows.select(*self.read(self.by.keys, self.folds), *weight)

    def panes(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Of what `prepare` made; those of retracted rows have less than no rows."""
        return self._panes(batch) if self.whole else batch

    def _panes(self, rows: pl.DataFrame) -> pl.DataFrame:
        if not self.weighted:
            return self._panes_of(rows)
        removed, added = split(rows)
        panes = self._panes_of(added)
        if removed.is_empty():
            return panes
        negated = [expr for fold in self.incremental for expr in fold.negated()]
        extent = [pl.lit(None, pl.Int64).alias(name) for name in (FIRST, LAST)]
        less = self._panes_of(removed).with_columns(*extent, -pl.col(ROWS), *negated)
        return pl.concat([panes, less])

    def put(self, batch: pl.DataFrame, panes: pl.DataFrame, stores: Stores) -> None:
        if stores.cached and self._blocks is not None:
            self._blocks.forget(panes, stores)
        stores[PANES].put(panes)
        self.put_back(batch, stores)

    @cached_property
    def _blocks(self) -> Blocks | None:
        if not isinstance(self.window, Hop) or self.window.tumbles:
            return None
        from sqlwin.operators.windows.blocks import blocks_of  # few windows are long

        return blocks_of(self.window, self.by.names, self.incremental, self.weighted)

    @cached_property
    def _panes_of(self) -> Lifting:
        return Lifting(self.by, self.window, self.incremental)

    # Windows out.

    def closing(
        self, closed: int, watermark: int, stores: Stores, keys: pl.DataFrame | None = None
    ) -> pl.DataFrame:
        """The windows with closed < end <= watermark that hold a row, merged; of some keys."""
        store = stores[PANES]
        if self._blocks is None or keys is not None or stores.ttl is not None:
            panes = store.scan(*span_of(self.window, closed + 1, watermark), keys)
        else:
            panes = self._blocks.read(closed, watermark, stores, store)
        return self._windows(panes, closed + 1, watermark)

    def within(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """The windows that hold an instant of lo <= t <= hi, merged."""
        if isinstance(self.window, Whole):
            return self.closing(START, END, stores, query.keys)
        last = min(query.hi + self.window.size, END)
        near = self.closing(query.lo, last, stores, query.keys)
        return near.filter(start_of(pl.col(WINDOW_END), self.window) <= query.hi)

    def of(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """`windows` merged, their other columns kept; one that holds no row is left out."""
        keys = self._keys(windows, self.by.names)
        panes = stores[PANES].scan(*self._span(windows), keys)
        merged = self._windows(panes, *self._ends(windows), windows)
        return merged.join(windows, on=list(self.identity), how="inner", nulls_equal=True)

    def sharing(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Identities of all groups in these windows: `__end` and some of the keys."""
        names = [name for name in windows.columns if name != WINDOW_END]
        panes = stores[PANES].scan(*self._span(windows), self._keys(windows, names))
        extents = panes.select(*self.by.names, PANE, *EXTENT)
        between = (*self._ends(windows), self.presence.wanted(panes))
        held = windows_of(extents, self.by.names, self.window, (), *between)
        near = held.join(windows, on=windows.columns, how="semi", nulls_equal=True)
        return self.presence.filled(near).select(self.identity)

    def _windows(
        self, panes: pl.DataFrame, first: int, last: int, wanted: pl.DataFrame | None = None
    ) -> pl.DataFrame:
        """Those that end at `first` to `last` and hold a row, merged; wanted: of these only."""
        between = (first, last, self.presence.wanted(panes, wanted))
        return self.presence.filled(
            windows_of(panes, self.by.names, self.window, self.incremental, *between)
        )

    def there(self, windows: pl.DataFrame, panes: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of windows that are there, before or after a batch of panes is put."""
        if not self.presence.by_last_pane:
            return windows
        keys = self._keys(windows, self.by.names)
        return self.presence.around(windows, stores[PANES].scan(*self._span(windows), keys), panes)
