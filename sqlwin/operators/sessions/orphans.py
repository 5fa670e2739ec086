"""Vanished sessions that nothing takes the place of, for their rows were withdrawn.

One that grew is withdrawn with what it became. One whose rows are gone is *deserted*: no open
window overlaps it. It goes out by its own policy, and where that has no time for it, when it
becomes full or leaves. A window that overlapped it may be deserted later, when it is long full.

Worked example, EARLY EVERY 3 ROWS, a gap of 5: [0, 7) was told of three rows, and they are
withdrawn in one batch, which counts as one row. It waits for two more; at watermark 8 it
goes out, `-D`, `full`. If a row at 5 had come beside it, [5, 10) would have taken it along.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from sqlwin.instants import END, START
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.departures import GONE, OUT, Departures
from sqlwin.operators.emitter.revisions import SHOWN, WAITING
from sqlwin.operators.emitter.schema import DUE, STORE
from sqlwin.operators.sessions.merging import Spans
from sqlwin.operators.sessions.retention import SessionRetention
from sqlwin.operators.sessions.state_queries import SessionAsking
from sqlwin.state.session_store import FROM, UNTIL


@dataclass(frozen=True)
class Deserted:
    """Each gives records."""

    spans: Spans
    revisions: Departures

    def filling(self, first: int, after: int, stores: Stores) -> pl.DataFrame:
        """Those with first <= until < after."""
        return self._among(stores[STORE].scan(first, after), stores)

    def open(self, stores: Stores) -> pl.DataFrame:
        """Those that are not late."""
        return self.filling(stores.closed, END, stores).filter(~pl.col(SHOWN))

    def overdue(self, touched: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Full ones that wait, and that nothing else will send; of the keys of `touched`."""
        keys = touched.select(self.spans.partition) if self.spans.partition else None
        records = stores[STORE].scan(START, stores.closed, keys)
        return self._among(records.filter(pl.col(WAITING) > 0, pl.col(DUE).is_null()), stores)

    def waiting(self, before: int, stores: Stores) -> pl.DataFrame:
        """Those that end below `before` and wait."""
        return self._among(self.revisions.waiting(stores, before), stores)

    def _among(self, records: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        left = records.filter(pl.col(GONE) & pl.col(OUT))
        if left.is_empty():
            return left
        keys = left.select(self.spans.partition) if self.spans.partition else None
        first, last = left[FROM].min(), left[UNTIL].max()
        near = self.spans.sessions(stores).find_sessions(first, last, keys)  # type: ignore[arg-type]
        there = self.revisions.was(self.spans.windows(near, stores), stores)
        still_open = there.filter(pl.col(UNTIL) >= stores.closed, ~pl.col(SHOWN))
        on = list(self.revisions.identity)
        replaced = self.revisions.overlapping(left, still_open.select(on))
        return left.join(replaced, on=on, how="anti", nulls_equal=True)


class Deserting(SessionAsking):
    @property
    @abstractmethod
    def retention(self) -> SessionRetention: ...

    @cached_property
    def deserted(self) -> Deserted:
        return Deserted(self.contents.spans, self.revisions)

    def all_open(self, stores: Stores) -> pl.DataFrame:
        there = super().all_open(stores)
        if not self.weighted:
            return there
        return pl.concat([there, self._tell(self.deserted.open(stores), "full", stores)])

    def _filling_alone(self, closed: int, watermark: int, stores: Stores) -> pl.DataFrame:
        if not self.weighted:
            return self.nothing()
        left = self.deserted.filling(closed, watermark, stores)
        return self._close(left.select(self.contents.spans.identity), stores)

    def _leaving_alone(self, stores: Stores) -> pl.DataFrame:
        if not self.weighted or self.restoring:
            return self.nothing()
        waiting = self.deserted.waiting(self.retention.reach(stores), stores)
        return self._again(self.retention.retired(waiting, stores), stores)
