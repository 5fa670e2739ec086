"""The windowed aggregator over time windows: SAMZA-552's, on the window store alone.

Rows are aggregated once, by pane: the greatest length that cuts every window of
the hop into whole panes. The window store holds one mergeable accumulator for
each (keys, pane), with the first and last position that went into it; a window
is the merge of its panes. So an hour every 15 minutes costs a row once, not
four times, and no message is kept.

Invariant: every window that ends by `closed` and holds a row was emitted, or
waits in the revision store.

Worked example, hour every half hour, rows at 0:10, 0:40, 1:05: panes 0:00, 0:30,
1:00. At watermark 1:00 the windows ending at 0:30 (pane 0:00) and at 1:00
(panes 0:00, 0:30) are full. A row at 0:20 then touches both, and both go out
again as revision 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.errors import OverflowInAggregate
from sqlwin.instants import END, START, format_instant
from sqlwin.kernels.exact import Overflow
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.panes import WINDOW, pane_start, windows_of
from sqlwin.operators.changes import CHANGE_SCHEMA, WAS, changes, row_key
from sqlwin.operators.contract import Stores
from sqlwin.operators.correcting import Correcting
from sqlwin.operators.revisions import Revisions, bounds
from sqlwin.policies import Late, Policy
from sqlwin.schema import PLACE, POSITION, SEQ, TS
from sqlwin.windows import Hop

PANES = "panes"
PANE = "__pane"
FIRST, LAST = "__first", "__last"
INSTANT = pl.Datetime("us", "UTC")


@dataclass(frozen=True)
class WindowAggregator(Correcting):
    """below: columns of the rows. keys: those grouped by. values: dtypes of the results."""

    stream: str
    hop: Hop
    below: dict[str, pl.DataType]
    keys: dict[str, pl.DataType]
    folds: tuple[Fold, ...]
    values: tuple[pl.DataType, ...]
    policy: Policy
    withdraw: bool = False

    @property
    def identity(self) -> tuple[str, ...]:
        return (*self.keys, WINDOW)

    @property
    def output(self) -> dict[str, pl.DataType]:
        bounds = {"window_start": INSTANT, "window_end": INSTANT}
        names = (fold.call.name for fold in self.folds)
        return {**self.keys, **bounds, **dict(zip(names, self.values, strict=True))}

    @property
    def revisions(self) -> Revisions:
        remembered = tuple(fold.call.name for fold in self.folds) if self.withdraw else ()
        return Revisions(self.identity, WINDOW, remembered)

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        pane = pane_start(pl.col(TS), self.hop.pane, self.hop.offset).alias(PANE)
        lifted = [expr for fold in self.folds for expr in fold.lift()]
        extent = [pl.col(SEQ).min().alias(FIRST), pl.col(SEQ).max().alias(LAST)]
        ordered = rows.sort(POSITION) if any(fold.ordered for fold in self.folds) else rows
        return ordered.group_by(*self.keys, pane).agg(*extent, *lifted)

    def sample(self) -> pl.DataFrame:
        """No panes, with the columns that panes have."""
        return self.prepare(pl.DataFrame(schema={**self.below, **PLACE}))

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        late = self._late_windows(batch, stores)
        if late.is_empty() or self.policy.late is Late.NEVER:
            stores[PANES].put(batch)
            return self.nothing()
        before = self._values(late, stores)
        stores[PANES].put(batch)
        self.revisions.touch(self._touched(late, before), stores, now)
        if self.policy.late is Late.ON_UPDATE:
            return self._correct(self.revisions.due(stores), stores)
        return self.nothing()

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        if watermark <= stores.closed:
            return self.nothing()
        full = self._emit_full(stores.closed, watermark, stores)
        stores.closed = watermark
        return pl.concat([full, self._retire(watermark, stores)])

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        corrected = self._correct(self.revisions.due(stores), stores)
        windows = self._closing(stores.closed, END, stores)
        known = self.revisions.was(windows, stores, otherwise=-1)
        self.revisions.settle(known, stores)
        return pl.concat([corrected, self._changes(known, "full")])

    # What goes out.

    def _emit_full(self, closed: int, watermark: int, stores: Stores) -> pl.DataFrame:
        windows = self._closing(closed, watermark, stores)
        known = self.revisions.was(windows, stores, otherwise=-1)
        self.revisions.settle(known.filter(pl.col(WAS) >= 0), stores)
        return self._changes(known, "full")

    def _correct(self, due: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if due.is_empty():
            return self.nothing()
        current = self._values(due.select(self.identity), stores)
        known = self.revisions.was(current, stores, otherwise=-1)
        self.revisions.settle(known, stores)
        return self._changes(known, "late")

    def _retire(self, watermark: int, stores: Stores) -> pl.DataFrame:
        """Drop what no window within retention needs; first emit what still waits there."""
        before = watermark - self.policy.retain - self.hop.size + 1
        leaving = self.revisions.due(stores).filter(pl.col(WINDOW) < before)
        last = self._correct(leaving, stores)
        stores[PANES].expire(before)
        stores["revisions"].expire(before)
        return last

    def _changes(self, known: pl.DataFrame, emit: str) -> pl.DataFrame:
        ends = pl.col(WINDOW) + self.hop.size
        keyed = known.with_columns(
            pl.col(WINDOW).cast(INSTANT).alias("window_start"),
            ends.cast(INSTANT).alias("window_end"),
        ).sort("window_end", "window_start", *self.keys)
        identity = {**self.keys, "window_start": INSTANT, "window_end": INSTANT}
        emitted = changes(keyed.with_columns(row_key(identity)), emit, self.withdraw)
        return emitted.select(*self.output, *CHANGE_SCHEMA)

    # From panes to windows.

    def _late_windows(self, batch: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        closed = stores.closed
        if closed == START or batch.is_empty():
            return batch.head(0).select(*self.keys, pl.col(PANE).alias(WINDOW))
        candidates = batch.filter(pl.col(PANE) < closed).select(*self.keys, PANE)
        windows = windows_of(candidates, PANE, self.hop)
        return (
            windows.filter(pl.col(WINDOW) + self.hop.size <= closed).select(self.identity).unique()
        )

    def _touched(self, late: pl.DataFrame, before: pl.DataFrame) -> pl.DataFrame:
        """The late windows with `__was`: 0 where they held a row, and so were emitted, else -1."""
        old = [
            pl.col(fold.call.name).alias("old." + fold.call.name)
            for fold in self.folds
            if self.withdraw
        ]
        emitted = before.select(*self.identity, pl.lit(0, pl.Int32).alias(WAS), *old)
        joined = late.join(emitted, on=list(self.identity), how="left", nulls_equal=True)
        return joined.with_columns(pl.col(WAS).fill_null(-1))

    def _closing(self, closed: int, watermark: int, stores: Stores) -> pl.DataFrame:
        """Values of the windows with closed < end <= watermark that hold a row."""
        panes = stores[PANES].scan(closed - self.hop.size + 1, watermark)
        ends = pl.col(WINDOW) + self.hop.size
        windows = windows_of(panes, PANE, self.hop)
        return self._merged(windows.filter(ends > closed, ends <= watermark))

    def _values(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Values of the given windows; those that hold no row are left out."""
        if windows.is_empty():
            return self._merged(windows_of(stores[PANES].scan(0, 0), PANE, self.hop))
        lo, hi = bounds(windows[WINDOW])
        keys = windows.select(*self.keys).unique() if self.keys else None
        panes = stores[PANES].scan(lo, hi + self.hop.size, keys)
        held = windows_of(panes, PANE, self.hop).join(
            windows, on=list(self.identity), how="semi", nulls_equal=True
        )
        return self._merged(held)

    def _merged(self, panes: pl.DataFrame) -> pl.DataFrame:
        merges = [expr for fold in self.folds for expr in fold.merge()]
        extent = [pl.col(FIRST).min(), pl.col(LAST).max()]
        merged = panes.group_by(self.identity).agg(*extent, *merges)
        return merged.select(*self.identity, *(self._finish(fold, merged) for fold in self.folds))

    def _finish(self, fold: Fold, merged: pl.DataFrame) -> pl.Series:
        try:
            return fold.finish(merged)
        except Overflow as overflow:
            raise self._overflow(fold, merged.row(overflow.row, named=True)) from None

    def _overflow(self, fold: Fold, window: dict[str, object]) -> OverflowInAggregate:
        start = int(window[WINDOW])  # type: ignore[call-overload]
        span = f"[{format_instant(start)}, {format_instant(start + self.hop.size)})"
        keys = ", ".join(f"{key} = {window[key]!r}" for key in self.keys)
        of = f" of {keys}" if keys else ""
        last = f"the last row of the window is {self.stream} at position {window[LAST]}"
        return OverflowInAggregate(fold.call.name, f"window {span}{of}; {last}")
