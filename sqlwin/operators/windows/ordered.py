"""Windows in ROWS over a result, tumbling and hopping.

Rows are numbered in the order of event time, see `ordering`. With their numbers for a time
they are those of the windowed aggregator over rows that may be retracted: a late row retracts
at their old numbers the rows behind it and brings them at their new ones, so a window that loses
one and wins another is corrected. Here each partition has a watermark of its own, which is its
complete rows: a window is full when its n-th row is there and the watermark is past it. One
that was full stays so, though rows of it go.

Rows that fail WHERE are numbered like all others and take no other part.

Invariant: a window is retired when its rows are final, all n of them.

Worked example, 2 rows every 2, rows at 10, 20 and 30, watermark 25: [1, 3) is full, the row at
30 is in [3, 5). A late one at 15 makes [1, 3) the rows at 10 and 15, `late`; [3, 5) has those
at 20 and 30.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.panes import WINDOW_END, earliest, ends_of, pane_of
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.schema import ADDED, FINAL, STORE
from sqlwin.operators.order.ordering import BEFORE, CLOSED, FIXED, NEW, Ordering, by_number
from sqlwin.operators.state_queries import STATE, MessageRange, StateQuery
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.weights import effective
from sqlwin.operators.windows.aggregator import WindowAggregator
from sqlwin.operators.windows.grouping import EXTENT, PANE
from sqlwin.operators.windows.messages import MESSAGES, PANES
from sqlwin.polars_frames import PLACE
from sqlwin.schema import PART, POSITION, REVISION, ROW_KEY, SEQ, TS, WEIGHT
from sqlwin.state.contract import HORIZON
from sqlwin.windows.group import Hop


@dataclass(frozen=True)
class OrderedAggregator(WindowAggregator):
    """`window` in rows of the partition, a prefix of `keys`; each of the sets has it."""

    weighted: bool = True
    partition: tuple[str, ...] = ()
    where: str | None = None

    @property
    def hop(self) -> Hop:
        assert isinstance(self.window, Hop)
        return self.window

    @cached_property
    def ordering(self) -> Ordering:
        marks = [] if self.where is None else [self.where]
        names = dict.fromkeys([*self.contents.read(self.by.keys, self.folds), *marks])
        carried = {name: self.below[name] for name in names if name not in PLACE}
        return Ordering(self.partition, carried)

    def stores(self) -> list[StoreSpec]:
        """Messages lie by number, so admission goes by the numbered rows."""
        by_number = [replace(spec, pins=False) for spec in super().stores()]
        return [*by_number, *self.ordering.stores(self.policy.retain)]

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return effective(rows).select(*self.ordering.carried, *POSITION, WEIGHT)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        changed = by_number(self.ordering.change(batch, stores))
        rows = changed.filter(pl.col(self.where)) if self.where else changed
        prepared = self.contents.prepare(rows.drop(NEW))
        known = self.ledger.before(self.judged(self._changed(rows), stores), stores)
        self.contents.put(prepared, self.contents.panes(prepared), stores)
        self.ledger.on_batch(known, stores, now)
        return self._fill(stores)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        if watermark <= stores.watermark:
            return self.nothing()
        self.ordering.pass_by(watermark, stores)
        stores.watermark = watermark
        full = self._fill(stores)
        if self.policy.retain is None:
            return full
        evictable = self.ordering.fix(watermark - self.policy.retain, stores)
        last = self.ledger.again(self._retired(self.ledger.pending(stores), stores), stores)
        self._cut(evictable, stores)
        return pl.concat([full, last])

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """Those that overlap it, by the numbers of rows."""
        held = self.contents.within(query, stores)
        removed = self._retired(held, stores)
        kept = held.join(removed, on=list(self.contents.identity), how="anti", nulls_equal=True)
        known = self._keyed(self._edged(self.ledger.looked_at(kept, stores)))
        return known.select(*self.output, STATE, REVISION, *EXTENT, ROW_KEY)

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        return self.ordering.messages(between, stores)

    # Rows with numbers to windows.

    def _changed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Identities of windows that other rows are in than before, or a row that is another;
        `__added`: how many rows came.
        """
        placed = self.by.spread(rows).with_columns(pane_of(pl.col(TS), self.hop).alias(PANE))
        keys = [*self.by.names, PART, SEQ]
        removed, added = _apart(*_by_weight(placed), [*keys, PANE])
        were, are = (ends_of(part, PANE, self.hop) for part in (removed, added))
        left, entered = _apart(were, are, [*keys, WINDOW_END])
        fresh = pl.col(NEW) & (pl.col(WEIGHT) > 0)
        both = pl.concat([left, entered]).group_by(self.contents.identity)
        return both.agg(pl.max_horizontal(fresh.sum().cast(pl.Int64), 1).alias(ADDED))

    def _fill(self, stores: Stores) -> pl.DataFrame:
        """The windows whose n-th row is complete now."""
        risen = self.ordering.rise(stores)
        if risen.is_empty():
            return self.nothing()
        since: int = risen[BEFORE].min()  # type: ignore[assignment]
        until: int = risen[CLOSED].max()  # type: ignore[assignment]
        keys = risen.select(self.partition) if self.partition else None
        closing = self._filling(self.contents.closing(since, until, stores, keys), risen)
        removed = self.ledger.emptied(closing, stores, since + 1, until + 1)
        emptied = self._filling(removed, risen)
        return pl.concat([self.ledger.close(part, stores) for part in (emptied, closing)])

    def _filling(self, windows: pl.DataFrame, risen: pl.DataFrame) -> pl.DataFrame:
        known = self.ordering.beside(windows, risen.select(*self.ordering.by, BEFORE, CLOSED))
        filling = pl.col(WINDOW_END).is_between(pl.col(BEFORE), pl.col(CLOSED), closed="right")
        return known.filter(filling).drop(BEFORE, CLOSED)

    # What the ledger asks for.

    def judged(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        known = self.ordering.with_counts(ids, stores)
        final = (pl.col(WINDOW_END) <= pl.col(CLOSED)).alias(FINAL)
        return known.select(*(pl.col(name) for name in ids.columns if name != FINAL), final)

    def open_results(self, stores: Stores) -> pl.DataFrame:
        there = self.contents.closing(START, END, stores)
        return self.judged(there, stores).filter(~pl.col(FINAL)).drop(FINAL)

    # Retention.

    def _retired(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        known = self.ordering.with_counts(windows, stores)
        removed = pl.col(WINDOW_END) <= pl.col(FIXED) + 1
        return known.filter(removed).select(windows.columns)

    def _cut(self, evictable: pl.DataFrame, stores: Stores) -> None:
        """Drop what only windows need whose rows are all final."""
        if evictable.is_empty():
            return
        after = pl.col(FIXED) + 2
        stores[STORE].cut(evictable.select(*self.partition, after.alias(HORIZON)))
        first = evictable.select(*self.partition, earliest(after, self.hop).alias(HORIZON))
        for name in (PANES, MESSAGES):
            if name in stores.named:
                stores[name].cut(first)


def _by_weight(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    removed = pl.col(WEIGHT) < 0
    return rows.filter(removed), rows.filter(~removed)


def _apart(
    removed: pl.DataFrame, added: pl.DataFrame, on: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Without rows that go and come at one place, but for those that are others now."""
    stay = added.filter(~pl.col(NEW))
    left = removed.join(stay, on=on, how="anti", nulls_equal=True)
    entered = stay.join(removed, on=on, how="anti", nulls_equal=True)
    return left, pl.concat([entered, added.filter(NEW)])
