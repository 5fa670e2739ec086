"""Superseded sessions that nothing takes the place of, for their rows were retracted.

One that grew is retracted with what it became. One whose rows are gone is *orphaned*: no open
window overlaps it. It goes out by its own policy, and where that has no time for it, when it
becomes full or leaves. A window that overlapped it may be orphaned later, when it is long full.

Worked example, EARLY EVERY 3 ROWS, a gap of 5: [0, 7) was emitted of three rows, and they are
retracted in one batch, which counts as one row. It waits for two more; at watermark 8 it
goes out, `-D`, `full`. If a row at 5 had come beside it, [5, 10) would have taken it along.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.schema import DUE, EXISTS, FORCED, PENDING, STANDS, STORE
from sqlwin.operators.emitter.superseding import SupersedingLedger
from sqlwin.operators.sessions.merging import Spans
from sqlwin.operators.sessions.retention import SessionRetention
from sqlwin.operators.sessions.state_queries import SessionQueries
from sqlwin.state.stores.session_store import FROM, UNTIL


@dataclass(frozen=True)
class Orphans:
    """Each gives records."""

    spans: Spans
    ledger: SupersedingLedger

    def filling(self, first: int, after: int, stores: Stores) -> pl.DataFrame:
        """Those with first <= until < after."""
        return self._among(stores[STORE].scan(first, after), stores)

    def open(self, stores: Stores) -> pl.DataFrame:
        """Those that are not late."""
        return self.filling(stores.watermark, END, stores).filter(~pl.col(FORCED))

    def overdue(self, touched: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Full ones that wait, and that nothing else will send; of the keys of `touched`."""
        keys = touched.select(self.spans.partition) if self.spans.partition else None
        records = stores[STORE].scan(START, stores.watermark, keys)
        return self._among(records.filter(pl.col(PENDING) > 0, pl.col(DUE).is_null()), stores)

    def pending(self, before: int, stores: Stores) -> pl.DataFrame:
        """Those that end below `before` and are pending."""
        return self._among(self.ledger.pending(stores, before), stores)

    def _among(self, records: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        left = records.filter(~pl.col(EXISTS), STANDS)
        if left.is_empty():
            return left
        keys = left.select(self.spans.partition) if self.spans.partition else None
        first, last = left[FROM].min(), left[UNTIL].max()
        near = self.spans.sessions(stores).find_sessions(first, last, keys)  # type: ignore[arg-type]
        there = self.ledger.known(self.spans.windows(near, stores), stores)
        still_open = there.filter(pl.col(UNTIL) >= stores.watermark, ~pl.col(FORCED))
        on = list(self.ledger.identity)
        replaced = self.ledger.overlapping(left, still_open.select(on))
        return left.join(replaced, on=on, how="anti", nulls_equal=True)


class OrphanedSessions(SessionQueries):
    @property
    @abstractmethod
    def retention(self) -> SessionRetention: ...

    @abstractmethod
    def _closing(self, closing: pl.DataFrame, stores: Stores) -> Iterator[pl.DataFrame]:
        """Choose sessions that become final."""

    @cached_property
    def orphans(self) -> Orphans:
        return Orphans(self.contents.spans, self.ledger)

    def orphaned(self, stores: Stores) -> pl.DataFrame:
        return self.orphans.open(stores)

    def _filling_orphans(
        self, closed: int, watermark: int, stores: Stores
    ) -> Iterator[pl.DataFrame]:
        if self.weighted:
            left = self.orphans.filling(closed, watermark, stores)
            yield from self._closing(left.select(self.contents.spans.identity), stores)

    def _leaving_orphans(self, stores: Stores) -> Iterator[pl.DataFrame]:
        if self.weighted and not self.restoring:
            pending = self.orphans.pending(self.retention.reach(stores), stores)
            yield self.ledger.own(self.retention.retired(pending, stores), stores)
