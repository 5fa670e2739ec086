"""A side of a join in ROWS where rows of either side are numbered by event time.

Rows of a result are numbered by `ordering`: one that comes between others, or goes, gives those
behind it other numbers. To the join these are rows that go at the old number and come at the new
one. The other side may be one whose messages come with their numbers; then its rows have the time
at which the watermark stood when they came, so that what they are in is late as any result is.

A row is known by its time and position, whatever its number is, and so is what is kept of it
beside the row itself. Rows lie by their numbers, for by these partners are found:

| store                       | message key                           |
|-----------------------------|---------------------------------------|
| `left`, `right`             | number, position                      |
| `left_known`, `right_known` | time, position                        |

Where the window is large they begin with the equal keys.

Invariant: in the order of numbers rows are in that of their times.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.joins.arrivals import Arrivals
from sqlwin.operators.joins.pairing import of_pairs
from sqlwin.operators.joins.schema import PASSED_WHERE, POS
from sqlwin.operators.joins.sides import Columns, Side
from sqlwin.operators.order.numbering import NUMBER
from sqlwin.operators.order.ordering import CERTAIN, COUNTERS, FIXED, Ordering
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.weights import effective, split
from sqlwin.schema import POSITION, TS, WEIGHT
from sqlwin.state.contract import Layout


@dataclass(frozen=True)
class NumberedSide(Side):
    """by_time: its rows are numbered by event time, and weighted.

    slice_width: of what lies by time. rows_per_slice: of what lies by number.
    """

    by_time: bool = field(kw_only=True)
    rows_per_slice: int = field(kw_only=True)

    def __post_init__(self) -> None:
        if self.at != POS or self.weighted != self.by_time:
            raise ValueError("such a side counts rows; those numbered by event time have weights")

    @cached_property
    def ordering(self) -> Ordering:
        return Ordering((), {**self.columns, PASSED_WHERE: pl.Boolean()}, self.name)

    @property
    def dated(self) -> bool:
        return True

    @property
    def identity(self) -> tuple[str, ...]:
        return (TS, *self.place)

    @property
    def order(self) -> tuple[str, ...]:
        return self.identity

    @cached_property
    def layout(self) -> Layout:
        weight: Columns = {WEIGHT: pl.Int8()} if self.weighted else {}
        columns = tuple({**self.row, **weight}.items())
        return Layout(self.name, columns, self.first, (POS, *self.place), self.rows_per_slice)

    def order_stores(self, retain: int | None) -> list[StoreSpec]:
        """None of these pins positions: no recovery fills a join again."""
        numbered = self.ordering.stores(retain) if self.by_time else []
        return [replace(spec, ttl=None, pins=False) for spec in numbered]

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows as `arrivals` takes them; of those numbered by event time blanks as well."""
        if not self.by_time:
            return rows.select(*self.row)
        return effective(rows).select(*self.ordering.carried, *POSITION, WEIGHT)

    # Rows that come.

    def arrivals(self, batch: pl.DataFrame, stores: Stores) -> Arrivals:
        if not self.by_time:
            rows = batch.with_columns(pl.lit(stores.watermark, pl.Int64).alias(TS)).select(
                *self.row
            )
            return Arrivals(rows, rows.clear())
        if batch.is_empty():
            nothing = self.layout.empty().select(*self.row)
            return Arrivals(nothing, nothing)
        changed = self.ordering.change(batch, stores).filter(PASSED_WHERE).rename({NUMBER: POS})
        removed, added = split(changed.select(*self.row, WEIGHT))
        same = removed.join(added, on=list(self.row), how="semi", nulls_equal=True)
        removed, added = self.less(removed, same), self.less(added, same)
        moved = removed.join(added, on=self._but_number, how="semi", nulls_equal=True)
        return Arrivals(added, self.less(removed, moved), moved)

    def fresh(self, arrivals: Arrivals, *pairs: pl.DataFrame) -> Arrivals:
        """Without rows that have another number alone, and are in none of `pairs`."""
        if arrivals.moved is None:
            return arrivals
        merely = arrivals.moved
        for each in pairs:
            merely = self.less(merely, of_pairs(self, each))
        return Arrivals(self.less(arrivals.new, merely), arrivals.removed)

    @property
    def _but_number(self) -> list[str]:
        return [name for name in self.row if name != POS]

    # Numbers that change no more.

    def pass_by(self, watermark: int, retain: int | None, stores: Stores) -> None:
        """The watermark is about to come to `watermark`."""
        if not self.by_time:
            return
        self.ordering.pass_by(watermark, stores)
        if retain is not None:
            self.ordering.fix(watermark - retain, stores)

    def complete(self, counted: int, stores: Stores) -> int:
        """How many rows the watermark has passed. counted: messages that have come."""
        return self._counter(CERTAIN, stores) if self.by_time else counted

    def final(self, counted: int, stores: Stores) -> int:
        """How many rows are out of retention."""
        return self._counter(FIXED, stores) if self.by_time else counted

    def _counter(self, name: str, stores: Stores) -> int:
        known = self.ordering.counts(stores)[name]
        return int(known[0]) if len(known) else COUNTERS[name]

    def final_below(self, own: int, others: int) -> int:
        """Rows at earlier numbers are among the first `own` of their side, and their partners
        among the first `others` of the other side."""
        reach = self.window.high
        if reach is None:
            return START
        return min(own + 1 if self.by_time else END, others - reach + 1)

    def evict(self, horizon: int, stores: Stores) -> int:
        """Forget rows before this number; the time before which all are forgotten by now."""
        removed = self.scan(stores, START, horizon)[TS]
        stores[self.name].expire(horizon)
        return int(removed.max()) if len(removed) else START  # type: ignore[arg-type]
