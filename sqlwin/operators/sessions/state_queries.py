"""What is found of sessions: by state queries, and by ranks.

Worked example, a gap of 5, sessions [0, 7) and [20, 25) of ann and [0, 7) of bob: a query
from 6 to 30 finds all three; `sharing` of ann's [0, 7), ranked by its bounds, both of [0, 7).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property

import polars as pl

from sqlwin.instants import START
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.sessions.emission import SessionResults
from sqlwin.operators.sessions.retention import SessionRetention
from sqlwin.operators.state_queries import STATE, MessageRange, StateQuery, of_keys
from sqlwin.operators.windows.closed import KEPT, ClosedWindows
from sqlwin.operators.windows.messages import MESSAGES
from sqlwin.operators.windows.past import PastWindows
from sqlwin.state.stores.session_store import FROM, UNTIL


class SessionQueries(SessionResults):
    restoring: bool

    @property
    @abstractmethod
    def retention(self) -> SessionRetention: ...

    @property
    @abstractmethod
    def past(self) -> PastWindows: ...

    @abstractmethod
    def _closed(self, stores: Stores) -> int:
        """What ends below it is full."""

    @property
    def key(self) -> dict[str, pl.DataType]:
        return self.contents.by.keys

    @property
    def order(self) -> tuple[str, ...]:
        ranked = None if self.ranks is None else self.ranks.sorted_by
        return ("window_end", "window_start", *(ranked or self.contents.by.names))

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """Those that overlap it; ranked among all of a window, whatever key the query asks for."""
        keys = query.keys
        if self.ranks is not None:
            query = replace(query, keys=None)
        spans, of = self.contents.spans, self.contents.partition
        wanted = query.keys.select(of).unique() if query.keys is not None and of else None
        found = spans.sessions(stores).find_sessions(START, query.hi, wanted)
        overlapping = found.filter(pl.col(UNTIL) - self._beyond > query.lo)
        held = of_keys(spans.windows(overlapping, stores), query.keys)
        if self.contents.by_count and not self.weighted:  # a full one takes no message any more
            held = held.filter(pl.col(UNTIL) >= self._closed(stores))
        else:
            removed, on = self.retention.retired(held, stores), list(spans.identity)
            held = held.join(removed, on=on, how="anti", nulls_equal=True)
        columns = (*self.output, STATE, *KEPT)
        closed = self.closed.within(query, stores)
        if len(closed):
            closed = self._without(closed, self._superseded(held, stores))
        past = [] if self.past.newest is None else [self.past.found(query, stores)]
        answers = (*past, closed, self.found(held, stores))
        return of_keys(pl.concat([frame.select(columns) for frame in answers]), keys)

    @cached_property
    def closed(self) -> ClosedWindows:
        return ClosedWindows(self.policy, self.contents.spans.identity, UNTIL, self.output)

    def found(self, sessions: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Sessions as a state query has them."""
        return self._keyed(self.ledger.looked_at(sessions, stores))

    def _superseded(self, sessions: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Closed sessions that late rows have made part of one of `sessions`."""
        on = list(self.contents.spans.identity)
        closed = self.closed.within(StateQuery(), stores)
        parts = self.ledger.overlapping(closed, sessions.select(on)).select(closed.columns)
        return self._without(parts.unique(on), sessions)

    def _without(self, closed: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
        on = list(self.contents.spans.identity)
        return closed.join(others, on=on, how="anti", nulls_equal=True)

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        if not self.contents.whole:
            raise self.contents.no_messages()
        if self.contents.by_count:
            return between.counted(everything(stores, MESSAGES))
        return between.stored(stores[MESSAGES])

    def sharing(self, results: pl.DataFrame, family: list[str], stores: Stores) -> pl.DataFrame:
        shared = results.select(family).unique()
        first, last = shared[UNTIL].min(), shared[FROM].max()
        spans, on = self.contents.spans, list(self.contents.spans.identity)
        found = spans.sessions(stores).find_sessions(first, last)  # type: ignore[arg-type]
        bounded = found.join(shared, on=[FROM, UNTIL], how="semi")
        near = spans.windows(bounded, stores).select(on)
        near = near.join(shared, on=family, how="semi", nulls_equal=True)
        return near.join(self.retention.retired(near, stores), on=on, how="anti", nulls_equal=True)
