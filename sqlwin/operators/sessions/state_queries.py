"""What sessions answer when they are looked at: by who asks, and by ranks.

Worked example, a gap of 5, sessions [0, 7) and [20, 25) of ann and [0, 7) of bob: asked
from 6 to 30, all three; `others` of ann's [0, 7), ranked by its bounds: bob's.
"""

from __future__ import annotations

from abc import abstractmethod

import polars as pl

from sqlwin.instants import START
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.sessions.emission import SessionResults
from sqlwin.operators.sessions.retention import SessionRetention
from sqlwin.operators.state_queries import STATE, MessageRange, StateQuery, of_keys
from sqlwin.operators.windows.contents import EXTENT, MESSAGES
from sqlwin.schema import REVISION, ROW_KEY
from sqlwin.state.session_store import FROM, UNTIL


class SessionQueries(SessionResults):
    restoring: bool

    @property
    @abstractmethod
    def retention(self) -> SessionRetention: ...

    @abstractmethod
    def _closed(self, stores: Stores) -> int:
        """What ends below it is full."""

    @property
    def key(self) -> dict[str, pl.DataType]:
        return self.contents.by.keys

    @property
    def order(self) -> tuple[str, ...]:
        return ("window_end", "window_start", *self.contents.by.names)

    def windows(self, question: StateQuery, stores: Stores) -> pl.DataFrame:
        """Those that overlap it."""
        spans, of = self.contents.spans, self.contents.partition
        wanted = question.keys.select(of).unique() if question.keys is not None and of else None
        found = spans.sessions(stores).find_sessions(START, question.hi, wanted)
        overlapping = found.filter(pl.col(UNTIL) - self._beyond > question.lo)
        held = of_keys(spans.windows(overlapping, stores), question.keys)
        if self.contents.by_count and not self.weighted:  # a full one takes no message any more
            held = held.filter(pl.col(UNTIL) >= self._closed(stores))
        else:
            gone, on = self.retention.retired(held, stores), list(spans.identity)
            held = held.join(gone, on=on, how="anti", nulls_equal=True)
        known = self._keyed(self.ledger.looked_at(held, stores))
        return known.select(*self.output, STATE, REVISION, *EXTENT, ROW_KEY)

    def messages(self, stretch: MessageRange, stores: Stores) -> pl.DataFrame:
        if not self.contents.whole:
            raise self.contents.no_messages()
        if self.contents.by_count:
            return stretch.counted(everything(stores, MESSAGES))
        return stretch.stored(stores[MESSAGES])

    def vanished(self, stores: Stores) -> pl.DataFrame:
        """The `__row_key` of sessions that exist no more, and are not retracted yet."""
        return self._keyed(self.ledger.departed(stores)).select(ROW_KEY)

    def others(
        self, emitted: pl.DataFrame, partition: tuple[str, ...], stores: Stores
    ) -> pl.DataFrame:
        """Identities of groups that share a window and `partition` with emitted ones, and are
        neither among them nor retired."""
        known = emitted.with_columns(
            pl.col("window_start").cast(pl.Int64).alias(FROM),
            pl.col("window_end").cast(pl.Int64).alias(UNTIL),
        )
        shared = known.select(FROM, UNTIL, *partition).unique()
        first, last = shared[UNTIL].min(), shared[FROM].max()
        spans, on = self.contents.spans, list(self.contents.spans.identity)
        found = spans.sessions(stores).find_sessions(first, last)  # type: ignore[arg-type]
        bounded = found.join(shared, on=[FROM, UNTIL], how="semi")
        near = spans.windows(bounded, stores).select(on)
        near = near.join(shared, on=shared.columns, how="semi", nulls_equal=True)
        for out in (known, self.retention.retired(near, stores)):
            near = near.join(out, on=on, how="anti", nulls_equal=True)
        return near
