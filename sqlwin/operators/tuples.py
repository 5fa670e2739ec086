"""Windows measured in messages: tumbling and hopping, and sliding.

Numbers stand in for time. A hop of n messages every m has the windows that start
at message 1, 1 + m, 1 + 2m …; each is full at its n-th message, so it holds n of
them, unless the input ends. A sliding window belongs to each message and holds
it and the n - 1 before it. Numbers come in order, so nothing is late and nothing
is corrected; what a window needs fits in a ring of slots for each key, where the
newest overwrites what no window will read again.

Messages that fail WHERE are numbered like all others and take no other part.

Invariant: a slot's pane (or message) is live iff its number is within `size` of
the partition's count; live ones never share a slot.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.errors import OverflowInAggregate
from sqlwin.kernels.exact import Overflow
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.panes import WINDOW, pane_start, windows_of
from sqlwin.operators.changes import CHANGE_SCHEMA, WAS, changes, row_key
from sqlwin.operators.contract import Stores
from sqlwin.operators.counting import Counting
from sqlwin.operators.numbering import BEFORE, COUNT, NUMBER, Numbering
from sqlwin.operators.revisions import Revisions, everything
from sqlwin.schema import PLACE, SEQ
from sqlwin.windows import Hop

RING = "ring"
SLOT, PANE = "__slot", "__pane"
FIRST, LAST = "__first", "__last"


@dataclass(frozen=True)
class TupleAggregator(Counting):
    """`hop` in messages of the partition, a prefix of `keys`."""

    stream: str
    hop: Hop
    below: dict[str, pl.DataType]
    partition: tuple[str, ...]
    keys: dict[str, pl.DataType]
    folds: tuple[Fold, ...]
    values: tuple[pl.DataType, ...]
    where: str | None = None
    withdraw: bool = False

    @property
    def revisions(self) -> Revisions:
        """Of the windows that an end of input showed before they were full."""
        remembered = tuple(fold.call.name for fold in self.folds) if self.withdraw else ()
        return Revisions((*self.keys, WINDOW), WINDOW, remembered)

    @property
    def output(self) -> dict[str, pl.DataType]:
        bounds = {"window_start": pl.Int64(), "window_end": pl.Int64()}
        names = (fold.call.name for fold in self.folds)
        return {**self.keys, **bounds, **dict(zip(names, self.values, strict=True))}

    @property
    def numbering(self) -> Numbering:
        return Numbering({name: self.keys[name] for name in self.partition})

    def sample(self) -> pl.DataFrame:
        """No panes, with the columns that panes have."""
        return self._lift(pl.DataFrame(schema={**self.below, **PLACE, NUMBER: pl.Int64()}))

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        numbered, counts = self.numbering.number(batch, stores)
        panes = self._merged([PANE], pl.concat([self._held(counts, stores), self._lift(numbered)]))
        self._keep(panes, counts, stores)
        ends = pl.col(WINDOW) + self.hop.size
        full = (ends > pl.col(BEFORE) + 1, ends <= pl.col(COUNT) + 1)
        return self._changes(self._closing(panes, counts, *full), stores)

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        counts = self.numbering.counts(stores)
        if counts.is_empty():
            return self.nothing()
        unfilled = pl.col(WINDOW) + self.hop.size > pl.col(COUNT) + 1
        windows = self._closing(self._held(counts, stores), counts, unfilled)
        known = self.revisions.was(windows, stores, otherwise=-1)
        self.revisions.settle(known, stores)
        return self._shown(known)

    def _lift(self, numbered: pl.DataFrame) -> pl.DataFrame:
        rows = numbered.filter(pl.col(self.where)) if self.where else numbered
        pane = pane_start(pl.col(NUMBER), self.hop.pane, 1).alias(PANE)
        lifted = [expr for fold in self.folds for expr in fold.lift()]
        extent = [pl.col(SEQ).min().alias(FIRST), pl.col(SEQ).max().alias(LAST)]
        return rows.group_by(*self.keys, pane).agg(*extent, *lifted)

    def _held(self, counts: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        ring = everything(stores, RING).drop(SLOT)
        return self.numbering.with_counts(ring, counts).select(ring.columns)

    def _keep(self, panes: pl.DataFrame, counts: pl.DataFrame, stores: Stores) -> None:
        slots = self.hop.size // self.hop.pane
        live = self.numbering.with_counts(panes, counts).filter(
            pl.col(PANE) + self.hop.size > pl.col(COUNT)
        )
        slot = ((pl.col(PANE) - 1) // self.hop.pane % slots).alias(SLOT)
        ring = stores[RING]
        ring.put(live.with_columns(slot).select(ring.scan(0, 0).columns))

    def _closing(self, panes: pl.DataFrame, counts: pl.DataFrame, *which: pl.Expr) -> pl.DataFrame:
        """Values of the windows that `which` picks by their partition's counts."""
        windows = self.numbering.with_counts(windows_of(panes, PANE, self.hop), counts)
        return self._finished(self._merged([WINDOW], windows.filter(*which)))

    def _changes(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        known = self.revisions.was(windows, stores, otherwise=-1)
        self.revisions.settle(known.filter(pl.col(WAS) >= 0), stores)
        return self._shown(known)

    def _shown(self, known: pl.DataFrame) -> pl.DataFrame:
        start = pl.col(WINDOW).alias("window_start")
        end = (pl.col(WINDOW) + self.hop.size).alias("window_end")
        keyed = known.with_columns(start, end).sort("window_end", *self.keys)
        identity = {**self.keys, "window_start": pl.Int64(), "window_end": pl.Int64()}
        emitted = changes(keyed.with_columns(row_key(identity)), "full", self.withdraw)
        return emitted.select(*self.output, *CHANGE_SCHEMA)

    def _merged(self, by: list[str], panes: pl.DataFrame) -> pl.DataFrame:
        merges = [expr for fold in self.folds for expr in fold.merge()]
        extent = [pl.col(FIRST).min(), pl.col(LAST).max()]
        return panes.group_by(*self.keys, *by).agg(*extent, *merges)

    def _finished(self, merged: pl.DataFrame) -> pl.DataFrame:
        values = []
        for fold in self.folds:
            try:
                values.append(fold.finish(merged))
            except Overflow as overflow:
                window = merged.row(overflow.row, named=True)
                last = f"its last row is {self.stream} at position {window[LAST]}"
                place = f"the window from message {window[WINDOW]}; {last}"
                raise OverflowInAggregate(fold.call.name, place) from None
        return merged.select(*self.keys, WINDOW, *values)
