"""What group windows hold: panes, and messages where an aggregate needs them all.

The panes store is SAMZA-552's window metadata: for each (keys, pane) the first and
last position and the number of its rows, and one mergeable accumulator of each
incremental aggregate. A window is the merge of its panes, so an hour every 15
minutes costs a row once, not four times. An aggregate of full state (a median) keeps
the rows themselves in the messages store, once whatever the windows and grouping
sets; it is computed from them when a window is emitted.

Where rows may be retracted (`weighted`) a retracted one comes as a pane that counts less
than none, and panes of the same instant add up; a message is marked as retracted. So an
aggregate that is not invertible, MAX or a sum of floats, is
computed from messages as well. Which windows are there says `Presence`.

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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from sqlwin.instants import END, START, format_instant
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.pane_ranges import overlap
from sqlwin.kernels.panes import WINDOW_END, span_of, start_of
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.state_queries import StateQuery
from sqlwin.operators.weights import SIGN, effective, split, there
from sqlwin.operators.windows.folded import Folded
from sqlwin.operators.windows.grouping import (
    EXTENT,
    FIRST,
    LAST,
    NUMBER_OF_SET,
    PANE,
    ROWS,
    Grouping,
    Lifting,
)
from sqlwin.operators.windows.merging import Presence, frames_of, windows_of
from sqlwin.polars_frames import PLACE, empty
from sqlwin.schema import POSITION, TS, WEIGHT
from sqlwin.windows import Unit
from sqlwin.windows.group import Aligned, Hop, Whole

if TYPE_CHECKING:
    from sqlwin.operators.windows.blocks import Blocks

PANES, MESSAGES = "panes", "messages"
_AT = "__at"


@dataclass(frozen=True)
class Contents(Folded):
    """below: columns of the rows. stream: its name, for messages."""

    stream: str
    window: Aligned
    below: dict[str, pl.DataType]
    by: Grouping
    folds: tuple[Fold, ...]
    weighted: bool = False

    @property
    def identity(self) -> tuple[str, ...]:
        return (*self.by.names, WINDOW_END)

    @property
    def message(self) -> dict[str, pl.DataType]:
        """The columns of a message: keys, what full-state aggregates read, position."""
        types = {**self.below, **PLACE}
        kept = {name: types[name] for name in self.read(self.by.keys, self.whole)}
        return {**kept, **(SIGN if self.weighted else {})}

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

    def put_back(self, batch: pl.DataFrame, stores: Stores) -> None:
        """Messages alone: the panes have counted them."""
        if self.whole:
            rows = batch.select(*self.message)
            # what is retracted is written first, for another may take its place
            stores[MESSAGES].put(rows.sort(WEIGHT) if self.weighted else rows)

    def lacking(self, batch: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Messages of `batch` that are not in their store, each once."""
        if not self.whole:
            return batch.clear()
        there = stores[MESSAGES].scan(*bounds(batch[TS]))
        return batch.join(there, on=list(POSITION), how="anti").unique(POSITION)

    @cached_property
    def _blocks(self) -> Blocks | None:
        if not isinstance(self.window, Hop) or self.window.tumbles:
            return None
        from sqlwin.operators.windows.blocks import blocks_of  # few windows are long

        return blocks_of(self.window, self.by.names, self.incremental, self.weighted)

    @cached_property
    def _panes_of(self) -> Lifting:
        return Lifting(self.by, self.window, self.incremental)

    @cached_property
    def _whole_panes_of(self) -> Lifting:
        return Lifting(self.by, self.window, self.whole)

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

    def valued(self, merged: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Windows of `closing` or `of` with a column for each result."""
        if not self.whole:
            return self.finished(merged)
        messages = self._messages(merged, stores)
        slid = self._slid(merged, messages)
        return self.finished(self._whole(merged, messages) if slid is None else merged, slid or {})

    def _slid(self, merged: pl.DataFrame, messages: pl.DataFrame) -> dict[str, pl.Series] | None:
        """Results of full-state aggregates over the messages of each window, as over frames of
        OVER; None where windows overlap little, and their own rows are less work."""
        if isinstance(self.window, Whole) or (isinstance(self.window, Hop) and self.window.tumbles):
            return None
        spread = self.by.spread(messages.with_row_index(_AT))
        placed, frames = frames_of(merged, spread, self.by.names, self.window)
        if not overlap(int((frames.hi - frames.lo).sum()), len(placed)):
            return None
        # a key that a set leaves out may be read all the same
        rows = messages[placed[_AT]] if self.by.sets else placed
        return {fold.call.name: self._slide(fold, rows, frames, merged) for fold in self.whole}

    def _whole(self, merged: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
        """With the accumulators of full-state aggregates, lifted from the messages by pane."""
        between = (*self._ends(merged), merged)
        panes = self._whole_panes_of(messages)
        windows = windows_of(panes, self.by.names, self.window, self.whole, *between).drop(EXTENT)
        if len(windows) < len(merged):
            windows = pl.concat([windows, self._bare(merged, windows, messages)])
        return merged.join(
            windows, on=list(self.identity), how="left", nulls_equal=True, maintain_order="left"
        )

    def _bare(
        self, merged: pl.DataFrame, windows: pl.DataFrame, messages: pl.DataFrame
    ) -> pl.DataFrame:
        """Windows whose messages were lost and are not all put back: of those, none is there."""
        bare = merged.join(windows, on=list(self.identity), how="anti", nulls_equal=True)
        return self.of_nothing(bare.select(self.identity), messages.clear(), windows)

    def _messages(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those that the windows may hold. The store has no keys: it is ordered by position."""
        messages = there(stores[MESSAGES].scan(*self._span(windows)))
        keys = None if self.by.sets else self._keys(windows, self.by.names)
        if keys is None:
            return messages
        return messages.join(
            keys, on=keys.columns, how="semi", nulls_equal=True, maintain_order="left"
        )

    def _span(self, windows: pl.DataFrame) -> tuple[int, int]:
        return (0, 0) if windows.is_empty() else span_of(self.window, *self._ends(windows))

    def _ends(self, windows: pl.DataFrame) -> tuple[int, int]:
        """The first and the last, of windows that end."""
        if windows.is_empty():
            return 0, -1
        first, after = bounds(windows[WINDOW_END])
        return first, after - 1

    def _keys(self, windows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame | None:
        return windows.select(names) if names else None

    def _place(self, window: dict[str, Any]) -> str:
        named = [name for name in self.by.names if name != NUMBER_OF_SET]
        keys = ", ".join(f"{key} = {window[key]!r}" for key in named)
        of = f" of {keys}" if keys else ""
        last = f"the last row of the window is {self.stream} at position {window[LAST]}"
        return f"window {self._edges(window[WINDOW_END])}{of}; {last}"

    def _edges(self, end: int) -> str:
        if isinstance(self.window, Whole):
            return "[start, end)"
        if self.window.unit is Unit.ROWS:
            return f"[{end - self.window.size}, {end})"
        return f"[{format_instant(start_of(end, self.window))}, {format_instant(end)})"
