"""Sessions in ROWS over a result: the gap is rows of other keys.

All rows are numbered in the order of event time, see `ordering`. By their numbers they are the
rows of a session operator, as of one with a gap of time, which may be retracted; its watermark is
how many are complete, and out of retention is what ends before the last that is final.

Invariant: beyond a call here, `watermark` of the stores is the watermark, and never a number.

Worked example, a gap of 1: a at 10, b at 20, a at 30 have the numbers 1, 2, 3: [1, 4) of a. A
late b at 15 makes the second a number 4, two rows behind: [1, 2) and [4, 5).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.order.ordering import (
    BEFORE,
    CLOSED,
    COUNTERS,
    FIXED,
    NEW,
    Ordering,
    by_number,
)
from sqlwin.operators.sessions.operator import SessionAggregator
from sqlwin.operators.state_queries import MessageRange, StateQuery
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.weights import effective
from sqlwin.polars_frames import PLACE
from sqlwin.policies import Policy
from sqlwin.schema import POSITION, WEIGHT


@dataclass(frozen=True)
class OrderedSessions:
    """inner: in ROWS, of rows that may be retracted."""

    inner: SessionAggregator

    @cached_property
    def ordering(self) -> Ordering:
        below = self.inner.below
        read = self.inner.prepare(pl.DataFrame(schema={**below, **PLACE, WEIGHT: pl.Int8()}))
        carried = {name: below[name] for name in read.columns if name in below}
        return Ordering((), carried)

    @property
    def policy(self) -> Policy:
        return self.inner.policy

    @property
    def output(self) -> dict[str, pl.DataType]:
        return self.inner.output

    def stores(self) -> list[StoreSpec]:
        """Messages lie by number, so admission goes by the numbered rows."""
        by_number = [replace(spec, pins=False) for spec in self.inner.stores()]
        return [*by_number, *self.ordering.stores(self.policy.retain)]

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return effective(rows).select(*self.ordering.carried, *POSITION, WEIGHT)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.inner.nothing()
        changed = by_number(self.ordering.change(batch, stores))
        where = self.inner.where
        rows = changed.filter(pl.col(where)) if where else changed
        with self._by_number(stores) as numbered:
            emitted = self.inner.on_batch(rows.drop(NEW), numbered, now)
        return pl.concat([emitted, self._rise(stores, now)])

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        if watermark <= stores.watermark:
            return self.inner.nothing()
        self.ordering.pass_by(watermark, stores)
        stores.watermark = watermark
        if self.policy.retain is not None:
            self.ordering.fix(watermark - self.policy.retain, stores)
        return self._rise(stores, now)

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        with self._by_number(stores) as numbered:
            return self.inner.on_tick(now, numbered)

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        with self._by_number(stores) as numbered:
            return self.inner.on_end(numbered, now)

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return self.inner.horizons(stores)

    def next_deadline(self, stores: Stores) -> int | None:
        return self.inner.next_deadline(stores)

    # State queries.

    @property
    def key(self) -> dict[str, pl.DataType]:
        return self.inner.key

    @property
    def order(self) -> tuple[str, ...]:
        return self.inner.order

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        with self._by_number(stores) as numbered:
            return self.inner.windows(query, numbered)

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        return self.ordering.messages(between, stores)

    # Numbers for time.

    def _rise(self, stores: Stores, now: int) -> pl.DataFrame:
        """Let the inner operator know how many rows are complete and final."""
        risen = self.ordering.rise(stores)
        with self._by_number(stores) as numbered:
            complete = numbered.watermark
            if len(risen):
                numbered.watermark = risen[BEFORE][0]
            return self.inner.on_watermark(complete, numbered, now)

    @contextmanager
    def _by_number(self, stores: Stores) -> Iterator[Stores]:
        counts = self.ordering.counts(stores)
        closed, final = (
            counts[name][0] if len(counts) else COUNTERS[name] for name in (CLOSED, FIXED)
        )
        horizon = None if self.policy.retain is None else final + 1
        numbered = replace(stores, watermark=closed, horizon=horizon)
        yield numbered
        stores.pending, stores.last_input = numbered.pending, numbered.last_input
