"""The session operator: KIP-94's, with SAMZA-552's gap of messages.

For each row it finds the sessions of its key that the row reaches, or that reach it,
merges them, adds the row, stores the new session and removes the merged ones; what was
emitted of those is withdrawn. A batch does so for all its rows at once, so a session that
many rows change goes out once. Rows find their sessions in `session_spans`, what these hold
is in `session_contents`, what is emitted of them in `departures`, how in `session_telling`,
when they go in `session_retention`, who looks at them in `session_asking`.

Invariant: every session that ended before `closed` was emitted, or waits in the revision
store; what was emitted and is no session any more was withdrawn, or waits there too.

Worked example, a gap of 5, COUNT(*): rows at 0 and 9, watermark 15: [0, 5) and [9, 14) go
out full. A late row at 4 reaches to 9, which still joins: both are gone, [0, 14) is there
with 3 rows. Late every 10 s: then `-D` of both and `+I` of [0, 14) go out together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.folds import Fold
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.changes import WAS
from sqlwin.operators.emitter.departures import GONE, OUT, Departures
from sqlwin.operators.emitter.revisions import FULL, SHOWN
from sqlwin.operators.emitter.schema import ADDED, OLD
from sqlwin.operators.order.numbering import COUNT, NUMBER, Numbering
from sqlwin.operators.order.numbering import STORE as COUNTS
from sqlwin.operators.sessions.contents import SessionContents
from sqlwin.operators.sessions.merging import Spans
from sqlwin.operators.sessions.restoring import SessionRestoring
from sqlwin.operators.sessions.retention import SessionRetention
from sqlwin.operators.windows.grouping import Grouping
from sqlwin.policies import Expired, Policy
from sqlwin.schema import TS
from sqlwin.state.session_store import UNTIL
from sqlwin.windows import Session, Unit


@dataclass(frozen=True)
class SessionAggregator(SessionRestoring):
    """partition: what sessions are of, some of the keys. where: of messages that were counted.

    sets: the GROUPING SETS, each some of the keys; none where there is no such clause.
    restoring: as of `SessionTelling`; then nothing retires. weighted: rows may be withdrawn,
    see `session_changes`.
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
    withdraw: bool = False
    sets: tuple[tuple[str, ...], ...] = ()
    restoring: bool = False
    weighted: bool = False

    def __post_init__(self) -> None:
        if self.weighted and self.policy.expired is Expired.EMIT:
            raise ValueError("rows that may be withdrawn make no such sessions")

    @cached_property
    def by(self) -> Grouping:
        return Grouping(self.keys, self.sets)

    @cached_property
    def contents(self) -> SessionContents:
        """RETAIN n ROWS counts rows by instant."""
        instants = self.policy.retain_rows is not None
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
        return {**self.by.types, **self.edges, **dict(zip(names, self.values, strict=True))}

    @cached_property
    def revisions(self) -> Departures:
        """Old values are always kept: a session may have to be withdrawn."""
        remembered = tuple(fold.call.name for fold in self.folds)
        how = (self.by.names, self.arriving, self.weighted)
        return Departures(self.spans.identity, UNTIL, remembered, *how)

    @cached_property
    def retention(self) -> SessionRetention:
        return SessionRetention(self.policy, self.spans, self.revisions, self.weighted)

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Sessions of these rows alone where they are enough, else what is read of them."""
        return self.contents.prepare(rows, self._takes_rows)

    @property
    def _takes_rows(self) -> bool:
        emits = self.policy.expired is Expired.EMIT
        return self.by_count or bool(self.contents.whole) or emits

    def floors(self, stores: Stores) -> pl.DataFrame:
        return self.retention.floors(stores)

    def patient(self) -> SessionAggregator:
        return replace(self, restoring=True)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        if not self.arriving:
            alone, rows = self._parted(batch, stores)
            return pl.concat([self._alone(alone), self._take(rows, stores, now)])
        closed = self._closed(stores)
        numbered, _ = self.numbering.number(batch, stores)
        rows = numbered.filter(pl.col(self.where)) if self.where else numbered
        self._take(rows.with_columns(pl.col(NUMBER).alias(TS)), stores, now)  # none is late
        full = self._close(self.spans.ending(closed, self._closed(stores), stores), stores)
        self.retention.drop(self._closed(stores), stores)
        return full

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        closed, stores.closed = stores.closed, max(stores.closed, watermark)
        retires = self.retention.by_rows or stores.horizon is not None
        if self.arriving or (watermark <= closed and not retires):
            return self._leaving_alone(stores)
        self.retention.note(stores)
        full = self._close(self.spans.ending(closed, watermark, stores), stores)
        alone = self._filling_alone(closed, watermark, stores)
        if self.restoring:
            return pl.concat([full, alone])
        last = self._again(self.retention.leaving(stores), stores)
        left = self._leaving_alone(stores)
        self.retention.retire(stores)
        return pl.concat([full, alone, last, left])

    # Rows come in.

    def _take(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        """What a late row parts an open session into goes out with it, where that is full."""
        if batch.is_empty():
            return self.nothing()
        lifted = self.contents.lift(batch) if self._takes_rows else batch
        old, new = self.spans.change(lifted, stores)
        told = self._told(old, stores)  # before the messages of the batch are there
        self.contents.put(batch, stores)
        on = list(self.spans.identity)
        gone = told.join(new, on=on, how="anti", nulls_equal=True)
        names = [WAS, *self.revisions.old]
        changed = new.filter(pl.col(ADDED).is_not_null()).select(*on, ADDED)
        came = self._judged(changed, stores).join(
            told.select(*on, *names), on=on, how="left", nulls_equal=True
        )
        least = pl.max_horizontal(ADDED, 1).alias(ADDED)
        never = pl.col(WAS).fill_null(-1)
        left = gone.with_columns(pl.lit(1, pl.Int64).alias(ADDED))
        came = came.with_columns(least, never)
        filled = self.revisions.change(came, left, stores, now, self.policy)
        full = self._tell(filled.filter(~pl.col(SHOWN)), "full", stores)
        parts = [full, self._tell(filled.filter(pl.col(SHOWN)), "late", stores)]
        if self.weighted:
            overdue = self.deserted.overdue(lifted, stores).select(on)
            parts.append(self._close(overdue, stores))
        return pl.concat(parts)

    def _parted(self, batch: pl.DataFrame, stores: Stores) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Rows beyond retention, where they are to be emitted, and those within."""
        retain = self.policy.retain
        if self.policy.expired is not Expired.EMIT or retain is None:
            return batch.clear(), batch
        gone = pl.col(TS) < stores.closed - retain
        return batch.filter(gone), batch.filter(~gone)

    def _alone(self, rows: pl.DataFrame) -> pl.DataFrame:
        """KIP-94's rule: each is a session of its own, emitted and not stored."""
        if rows.is_empty():
            return self.nothing()
        there = {WAS: pl.lit(-1, pl.Int32), GONE: pl.lit(False), OUT: pl.lit(False)}
        return self._changes(self.contents.alone(rows).with_columns(**there), "late")

    def _told(self, old: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Windows as they were, with what is known of those that have no record: the full
        ones went out once, as they are."""
        judged = self._judged(old.select(self.spans.identity), stores)
        plain = self.revisions.unrecorded(judged.filter(FULL), stores)
        emitted = self.contents.valued(self.contents.of(old, plain), stores)
        values = [pl.col(name).alias(OLD + name) for name in self.revisions.remembered]
        on = list(self.spans.identity)
        was = emitted.select(*on, pl.lit(0, pl.Int32).alias(WAS), *values)
        known = judged.join(was, on=on, how="left", nulls_equal=True)
        return known.with_columns(pl.col(WAS).fill_null(-1))

    # What `correcting` asks.

    def _closed(self, stores: Stores) -> int:
        if not self.arriving:
            return stores.closed
        counted = everything(stores, COUNTS)[COUNT]
        return int(counted[0]) + 1 if len(counted) else START

    def _judged(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """One of messages that is full is told at once, and waits no more."""
        full = pl.lit(False) if self.arriving else pl.col(UNTIL) < stores.closed
        return windows.with_columns(full.alias(FULL))

    def _open(self, stores: Stores) -> pl.DataFrame:
        return self.spans.ending(self._closed(stores), END, stores)

    def _close(self, closing: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if not self.arriving:
            return super()._close(closing, stores)
        if closing.is_empty():
            return self.nothing()
        return self._tell(self.revisions.was(closing, stores), "full", stores)
