"""The session operator: KIP-94's, with SAMZA-552's gap of messages.

For each row it finds the sessions of its key that the row reaches, or that reach it,
merges them, adds the row, stores the new session and removes the merged ones; what was
emitted of those is retracted. A batch does so for all its rows at once, so a session that
many rows change goes out once. Rows find their sessions in `merging` and `splitting`, what these
hold is in `contents`, what goes out when in `emitter.superseding`, how in `emission`, when they are
evicted in `retention`, state queries in `state_queries`.

Invariant: every session that ended before `watermark` was emitted, or is pending in the
ledger; what was emitted and is no session any more was retracted, or is pending there too.

Worked example, a gap of 5, COUNT(*): rows at 0 and 9, watermark 15: [0, 5) and [9, 14) go
out full. A late row at 4 reaches to 9, which still joins: both are gone, [0, 14) is there
with 3 rows. Late every 10 s: then `-D` of both and `+I` of [0, 14) go out together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.results import FULL
from sqlwin.operators.emitter.schema import ADDED, EXISTS, FINAL, FORCED, PENDING, STANDS, WORD
from sqlwin.operators.order.numbering import COUNT, NUMBER
from sqlwin.operators.order.numbering import STORE as COUNTS
from sqlwin.operators.sessions.aggregated_sessions import AggregatedSessions
from sqlwin.policies import Expired
from sqlwin.schema import POSITION, REVISION, TS
from sqlwin.state.records import least
from sqlwin.state.stores.session_store import UNTIL


@dataclass(frozen=True)
class SessionAggregator(AggregatedSessions):
    """Fields as of `AggregatedSessions`."""

    def without_eviction(self) -> SessionAggregator:
        return replace(self, restoring=True)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        if not self.arriving:
            alone, rows = self._split(batch, stores)
            return pl.concat([self._alone(alone), self._take(rows, stores, now)])
        closed = self._closed(stores)
        numbered, counts = self.numbering.number(batch, stores)
        rows = numbered.filter(pl.col(self.where)) if self.where else numbered
        self._take(rows.with_columns(pl.col(NUMBER).alias(TS)), stores, now)  # none is late
        closing = self.spans.ending(closed, self._closed(stores), stores)
        full = self.ledger.emit_all(self._closing(closing, stores), stores)
        if self.past.newest is not None:
            ended = self.found(closing, stores).with_columns(pl.col(REVISION).fill_null(0))
            self.past.keep(ended, counts, stores)
        self.retention.drop(self._closed(stores), stores)
        return full

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        ended = self.retention.horizon(stores)
        closed, stores.watermark = stores.watermark, max(stores.watermark, watermark)
        retires = self.retention.by_rows or stores.horizon is not None
        if self.arriving or (watermark <= closed and not retires):
            return self.ledger.emit_all(self._leaving_orphans(stores), stores)
        self.retention.note(stores)
        out = self.ledger.emit_all(self._leaving(closed, watermark, stores), stores)
        if not self.restoring:
            self._close(ended, stores)
            self.retention.retire(stores)
        return out

    def _close(self, ended: int, stores: Stores) -> None:
        """Write down the sessions that take no row any more. ended: the horizon before."""
        if not self.closed.queried:
            return
        closing = self.spans.ending(ended, self.retention.horizon(stores), stores)
        self.closed.put(self._superseded(closing, stores), stores, superseded=True)
        self.closed.put(self.found(closing, stores), stores)
        self.closed.expire(stores)

    def _leaving(self, closed: int, watermark: int, stores: Stores) -> Iterator[pl.DataFrame]:
        """Sessions that become final, and what is pending in those that retire."""
        yield from self._closing(self.spans.ending(closed, watermark, stores), stores)
        yield from self._filling_orphans(closed, watermark, stores)
        if not self.restoring:
            yield self.ledger.own(self.retention.leaving(stores), stores)
            yield from self._leaving_orphans(stores)

    # Rows come in.

    def _take(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        """What a late row parts an open session into goes out with it, where that is full."""
        if batch.is_empty():
            return self.nothing()
        lifted = self.contents.lift(batch) if self._takes_rows else batch
        old, new = self.spans.change(lifted, stores)
        were = self.ledger.known(self.judged(old.select(self.spans.identity), stores), stores)
        once = self._emitted_once(old, were, stores)  # before the messages of the batch are there
        self.contents.put(batch, stores)
        on = list(self.spans.identity)
        changed = new.filter(pl.col(ADDED).is_not_null()).select(*on, pl.max_horizontal(ADDED, 1))
        added = self.ledger.known(self.judged(changed, stores), stores)
        removed = were.join(new, on=on, how="anti", nulls_equal=True)
        left = removed.with_columns(pl.lit(1, pl.Int64).alias(ADDED))
        added, left = (self.ledger.implying(known, once) for known in (added, left))
        filled = self.ledger.on_change(added, left, stores, now)
        return self.ledger.emit_all(self._at_once(filled, lifted, stores), stores)

    def _at_once(
        self, filled: pl.DataFrame, lifted: pl.DataFrame, stores: Stores
    ) -> Iterator[pl.DataFrame]:
        if len(filled):
            yield filled.filter(~pl.col(FORCED)).with_columns(FULL.alias(WORD))
            yield filled.filter(FORCED).with_columns(pl.lit("late").alias(WORD))
        if self.weighted:
            overdue = self.orphans.overdue(lifted, stores).select(self.spans.identity)
            yield from self._closing(overdue, stores)

    def _split(self, batch: pl.DataFrame, stores: Stores) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Rows beyond retention, where they are to be emitted, and those within."""
        retain = self.policy.retain
        if self.policy.expired is not Expired.EMIT or retain is None:
            return batch.clear(), batch
        ended = stores.watermark - retain
        if self.judging is None:
            removed = pl.col(TS) < ended
            return batch.filter(removed), batch.filter(~removed)
        refused = self.judging.refused(batch, stores, ended).select(POSITION)
        on = list(POSITION)
        return batch.join(refused, on=on, how="semi"), batch.join(refused, on=on, how="anti")

    def _alone(self, rows: pl.DataFrame) -> pl.DataFrame:
        """KIP-94's rule: each is a session of its own, emitted and not stored."""
        if rows.is_empty():
            return self.nothing()
        new = {REVISION: pl.lit(-1, pl.Int32), EXISTS: pl.lit(True), STANDS: pl.lit(False)}
        late = self.contents.alone(rows).with_columns(**new, **{WORD: pl.lit("late")})
        return self.ledger.changes(late)

    def _emitted_once(self, old: pl.DataFrame, were: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Of sessions as they were before the batch those that went out once, as they are:
        the final ones without a record."""
        plain = were.filter(FINAL, pl.col(PENDING).is_null(), pl.lit(self.ranks is None))
        return (
            plain
            if plain.is_empty()
            else self.contents.valued(self.contents.of(old, plain), stores)
        )

    # What the ledger asks for.

    def _closed(self, stores: Stores) -> int:
        if not self.arriving:
            return stores.watermark
        counted = everything(stores, COUNTS)[COUNT]
        return int(counted[0]) + 1 if len(counted) else START

    def judged(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """One of messages that is full is emitted at once, and waits no more."""
        full = pl.lit(False) if self.arriving else pl.col(UNTIL) < stores.watermark
        return ids.with_columns(full.alias(FINAL))

    def open_results(self, stores: Stores) -> pl.DataFrame:
        return self.spans.ending(self._closed(stores), END, stores)

    def next_full(self, stores: Stores) -> int | None:
        there = self.open_results(stores)
        return None if there.is_empty() else least(there[UNTIL]) + 1

    def _closing(self, closing: pl.DataFrame, stores: Stores) -> Iterator[pl.DataFrame]:
        """Those of messages go out full, forced or not: nothing of them is late."""
        if self.arriving:
            yield self.ledger.known(closing, stores).with_columns(FULL.alias(WORD))
        else:
            yield from self.ledger.closing(closing, stores)
