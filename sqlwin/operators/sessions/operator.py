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
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.folds import Fold
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.results import FULL
from sqlwin.operators.emitter.schema import ADDED, EXISTS, FINAL, FORCED, PENDING, STANDS, WORD
from sqlwin.operators.emitter.superseding import SupersedingLedger
from sqlwin.operators.order.numbering import COUNT, NUMBER, Numbering
from sqlwin.operators.order.numbering import STORE as COUNTS
from sqlwin.operators.ranks.cohorts import Ranks, rank_of
from sqlwin.operators.sessions.contents import SessionContents
from sqlwin.operators.sessions.judging import SessionJudging, judged_gap
from sqlwin.operators.sessions.merging import Spans
from sqlwin.operators.sessions.ranking import RankedSessions
from sqlwin.operators.sessions.restoring import SessionRestoring
from sqlwin.operators.sessions.retention import SessionRetention
from sqlwin.operators.sessions.stores import SessionStores
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.windows.grouping import EXTENT, Grouping
from sqlwin.operators.windows.past import PastWindows
from sqlwin.policies import Expired, Policy
from sqlwin.schema import POSITION, REVISION, TS
from sqlwin.state.records import least
from sqlwin.state.stores.session_store import UNTIL
from sqlwin.windows import Unit
from sqlwin.windows.group import Session


@dataclass(frozen=True)
class SessionAggregator(SessionRestoring):
    """partition: what sessions are of, some of the keys. where: of messages that were counted.

    sets: the GROUPING SETS, each some of the keys; none where there is no such clause.
    restoring: lost messages come back, and what goes out now goes out again: so all of it has a
    record, and nothing is evicted. weighted: rows may be retracted, see `changes`. ranks: of the
    sessions, or groups, that have the same bounds.
    """

    stream: str
    window: Session
    below: dict[str, pl.DataType]
    partition: tuple[str, ...]
    keys: dict[str, pl.DataType]
    folds: tuple[Fold, ...]
    values: tuple[pl.DataType, ...]
    policy: Policy
    where: str | None = None
    update_before: bool = False
    sets: tuple[tuple[str, ...], ...] = ()
    restoring: bool = False
    weighted: bool = False
    ranks: Ranks | None = None

    def __post_init__(self) -> None:
        if self.weighted and self.policy.expired is Expired.EMIT:
            raise ValueError("rows that may be retracted make no such sessions")

    @cached_property
    def by(self) -> Grouping:
        return Grouping(self.keys, self.sets)

    @cached_property
    def contents(self) -> SessionContents:
        """RETAIN n ROWS counts rows by instant, or past sessions by message."""
        instants = self.policy.retain_rows is not None and not self.arriving
        rest = (self.by, self.folds, self.where, instants, self.weighted)
        return SessionContents(self.stream, self.window, self.below, self.partition, *rest)

    @property
    def spans(self) -> Spans:
        return self.contents.spans

    @property
    def by_count(self) -> bool:
        return self.window.unit is Unit.ROWS

    @property
    def arriving(self) -> bool:
        """Whether messages are numbered as they come; those with weights have their numbers."""
        return self.by_count and not self.weighted

    @property
    def numbering(self) -> Numbering:
        return Numbering({})

    @property
    def output(self) -> dict[str, pl.DataType]:
        names = (fold.call.name for fold in self.folds)
        values = dict(zip(names, self.values, strict=True))
        return {**self.by.types, **self.edges, **values, **rank_of(self.ranks)}

    @cached_property
    def declared(self) -> SessionStores:
        parts = (self.contents, self.retention, self.ledger, self.closed)
        return SessionStores(*parts, self.below, self.output)

    def stores(self) -> list[StoreSpec]:
        """Messages of all keys are counted together, so that expires with none of them."""
        counts = [self.numbering.spec(ttl=None)] if self.arriving else []
        return [*self.declared, *counts, *self.past.stores()]

    @cached_property
    def past(self) -> PastWindows:
        """Of messages; those of time are kept as sessions."""
        newest = self.policy.retain_rows if self.arriving else None
        columns = {**self.output, **dict.fromkeys(EXTENT, pl.Int64())}
        return PastWindows(newest, (), self.by.names, columns, max(self.window.gap or 0, 1))

    @cached_property
    def ledger(self) -> SupersedingLedger:
        """Old values are always kept: a session may have to be retracted."""
        kept = tuple(fold.call.name for fold in self.folds)
        known, how = self.spans.identity, (self.by.names, self.arriving)
        if self.ranks is not None:
            return RankedSessions(self, known, UNTIL, (*kept, self.ranks.name), True, *how)
        return SupersedingLedger(self, known, UNTIL, kept, self.restoring, *how)

    @cached_property
    def retention(self) -> SessionRetention:
        judged = None if self.judging is None else self.judging.gap
        policy = replace(self.policy, retain_rows=None) if self.arriving else self.policy
        return SessionRetention(policy, self.spans, self.ledger, self.weighted, judged)

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Sessions of these rows alone where they are enough, else what is read of them."""
        return self.contents.prepare(rows, self._takes_rows)

    @property
    def _takes_rows(self) -> bool:
        emits = self.policy.expired is Expired.EMIT
        return self.by_count or bool(self.contents.whole) or emits

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return self.retention.horizons(stores)

    @cached_property
    def judging(self) -> SessionJudging | None:
        """How rows are judged by their sessions; None: by their own time."""
        gap = judged_gap(self.window, self.policy, bool(self.sets), self.weighted)
        return None if gap is None else SessionJudging(gap, self.spans.partition, self.spans.store)

    def judge(self, rows: pl.DataFrame, stores: Stores, ended: int) -> pl.DataFrame:
        assert self.judging is not None
        return self.judging.refused(rows, stores, ended)

    def repeated(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return rows.clear()

    def oldest(self, stores: Stores, ended: int) -> int:
        assert self.judging is not None
        return self.judging.oldest(stores, ended)

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
