"""The session operator: KIP-94's, with SAMZA-552's gap of messages.

For each row it finds the sessions of its key that the row reaches, or that reach it,
merges them, adds the row, stores the new session and removes the merged ones; what was
emitted of those is withdrawn. A batch does so for all its rows at once, so a session that
many rows change goes out once. Rows find their sessions in `session_spans`, what is emitted of
them is in `departures`.

Invariant: every session that ended before `closed` was emitted, or waits in the revision
store; what was emitted and is no session any more was withdrawn, or waits there too.

Worked example, a gap of 5, COUNT(*): rows at 0 and 9, watermark 15: [0, 5) and [9, 14) go
out full. A late row at 4 reaches to 9, which still joins: both are gone, [0, 14) is there
with 3 rows. Late every 10 s: then `-D` of both and `+I` of [0, 14) go out together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from sqlwin.instants import END, START, format_instant
from sqlwin.kernels.folds import Fold
from sqlwin.operators.asking import STATE, Question, Stretch, of_keys
from sqlwin.operators.changes import CHANGE_SCHEMA, OLD, WAS, changes, row_key
from sqlwin.operators.contents import EXTENT, FIRST, LAST, MESSAGES, ROWS
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.correcting import Correcting
from sqlwin.operators.departures import GONE, OUT, Departures
from sqlwin.operators.folded import Folded
from sqlwin.operators.numbering import COUNT, NUMBER, Numbering
from sqlwin.operators.numbering import STORE as COUNTS
from sqlwin.operators.revisions import ADDED, FULL
from sqlwin.operators.session_parts import Parted
from sqlwin.operators.session_retention import SessionRetention
from sqlwin.operators.session_spans import Merged, Spans
from sqlwin.operators.spanning import RUN, extent_of, within
from sqlwin.policies import Expired, Policy
from sqlwin.schema import EMIT, INSTANT, OP, PLACE, POSITION, REVISION, ROW_KEY, SEQ, TS, empty
from sqlwin.state.contract import FLOOR
from sqlwin.state.session_store import FROM, UNTIL
from sqlwin.windows import Session, Unit

WORD = "__word"


@dataclass(frozen=True)
class SessionAggregator(Folded, Correcting):
    """partition: what sessions are of, some of the keys. where: of messages that were counted."""

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

    @cached_property
    def spans(self) -> Spans:
        parted = self.window.cut or set(self.partition) != set(self.keys)
        made = Parted if parted else Merged
        return made(self.window, self.partition, tuple(self.keys), self.incremental)

    @property
    def by_count(self) -> bool:
        return self.window.unit is Unit.ROWS

    @property
    def numbering(self) -> Numbering:
        return Numbering({})

    @property
    def edges(self) -> dict[str, pl.DataType]:
        bound = pl.Int64() if self.by_count else INSTANT
        return {"window_start": bound, "window_end": bound}

    @property
    def output(self) -> dict[str, pl.DataType]:
        names = (fold.call.name for fold in self.folds)
        return {**self.keys, **self.edges, **dict(zip(names, self.values, strict=True))}

    @cached_property
    def revisions(self) -> Departures:
        """Old values are always kept: a session may have to be withdrawn."""
        remembered = tuple(fold.call.name for fold in self.folds)
        return Departures(self.spans.identity, UNTIL, remembered, tuple(self.keys), self.by_count)

    @cached_property
    def retention(self) -> SessionRetention:
        return SessionRetention(self.spans, self.revisions)

    @property
    def message(self) -> dict[str, pl.DataType]:
        """The columns of a message: keys, what full-state aggregates read, position."""
        types = {**self.below, **PLACE}
        return {name: types[name] for name in self.read(self.keys, self.whole)}

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Sessions of these rows alone where they are enough, else what is read of them."""
        if not self._takes_rows:
            return self.spans.lift(rows)
        window = self.window
        marks = (window.gap_by, window.starts, window.ends, self.where)
        kept = [*self.read(self.keys, self.folds), *(mark for mark in marks if mark is not None)]
        return rows.select(list(dict.fromkeys(kept)))

    @property
    def _takes_rows(self) -> bool:
        return self.by_count or bool(self.whole) or self.policy.expired is Expired.EMIT

    def floors(self, stores: Stores) -> pl.DataFrame:
        return empty({FLOOR: pl.Int64()})

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        if not self.by_count:
            alone, rows = self._parted(batch, stores)
            return pl.concat([self._alone(alone), self._take(rows, stores, now)])
        closed = self._closed(stores)
        numbered, _ = self.numbering.number(batch, stores)
        rows = numbered.filter(pl.col(self.where)) if self.where else numbered
        self._take(rows.with_columns(pl.col(NUMBER).alias(TS)), stores, now)  # none is late
        full = self._close(self.spans.ending(closed, self._closed(stores), stores), stores)
        self.retention.retire(self._closed(stores), stores)
        return full

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        if watermark <= stores.closed or self.by_count:
            stores.closed = max(stores.closed, watermark)
            return self.nothing()
        closing = self.spans.ending(stores.closed, watermark, stores)
        stores.closed = watermark
        full = self._close(closing, stores)
        if self.policy.retain is None:
            return full
        horizon = watermark - self.policy.retain
        last = self._again(self.revisions.waiting(stores, horizon), stores)
        self.retention.retire(horizon, stores)
        return pl.concat([full, last])

    # What was lost.

    def restore(self, batch: pl.DataFrame, stores: Stores, now: int, since: int | None) -> None:
        """Put lost messages back; the store keeps one of each. No window goes out meanwhile."""
        assert since is None
        stores[MESSAGES].put(batch.select(*self.message))

    def told_before(self, closed: int) -> int:
        return closed

    def patient(self) -> SessionAggregator:
        return replace(self, policy=replace(self.policy, retain=None))

    # What is asked.

    @property
    def key(self) -> dict[str, pl.DataType]:
        return self.keys

    @property
    def order(self) -> tuple[str, ...]:
        return ("window_end", "window_start", *self.keys)

    def windows(self, question: Question, stores: Stores) -> pl.DataFrame:
        """Those that overlap it."""
        retain = None if self.by_count else self.policy.retain
        horizon = START if retain is None else stores.closed - retain
        keys = question.keys.select(self.partition).unique() if question.keys is not None else None
        wanted = keys if self.partition else None
        found = self.spans.sessions(stores).find_sessions(horizon, question.hi, wanted)
        overlapping = found.filter(pl.col(UNTIL) - self._beyond > question.lo)
        held = of_keys(self.spans.windows(overlapping, stores), question.keys)
        known = self._keyed(self.looked_at(held, stores))
        return known.select(*self.output, STATE, REVISION, *EXTENT, ROW_KEY)

    def messages(self, stretch: Stretch, stores: Stores) -> pl.DataFrame:
        if self.whole and self.by_count:
            return stretch.counted(everything(stores, MESSAGES))
        if self.whole:
            return stretch.stored(stores[MESSAGES])
        raise self.no_messages()

    # Rows come in.

    def _take(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        """What a late row parts an open session into goes out with it, where that is full."""
        if batch.is_empty():
            return self.nothing()
        lifted = self.spans.lift(batch) if self._takes_rows else batch
        old, new = self.spans.change(lifted, stores)
        told = self._told(old, stores)  # before the messages of the batch are there
        if self.whole:
            stores[MESSAGES].put(batch.select(*self.message))
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
        return self._tell(filled, "full", stores)

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
        extent = [pl.col(SEQ).first().alias(name) for name in (FIRST, LAST)]
        span = [pl.col(TS).first().alias(FROM), self.spans.reach.first().alias(UNTIL)]
        lifted = [expr for fold in self.folds for expr in fold.lift()]
        numbered = rows.sort(POSITION).with_row_index(RUN)
        each = numbered.group_by(RUN, *self.keys).agg(*extent, *span, *lifted)
        there = {WAS: pl.lit(-1, pl.Int32), GONE: pl.lit(False), OUT: pl.lit(False)}
        return self._changes(self.finished(each).with_columns(**there), "late")

    def _told(self, old: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Windows as they were, with what is known of those that have no record: the full
        ones went out once, as they are."""
        judged = self._judged(old.select(self.spans.identity), stores)
        plain = self.revisions.unrecorded(judged.filter(FULL), stores)
        emitted = self._finished(self._joined(old, plain), stores)
        values = [pl.col(name).alias(OLD + name) for name in self.revisions.remembered]
        on = list(self.spans.identity)
        was = emitted.select(*on, pl.lit(0, pl.Int32).alias(WAS), *values)
        known = judged.join(was, on=on, how="left", nulls_equal=True)
        return known.with_columns(pl.col(WAS).fill_null(-1))

    # What `correcting` asks.

    def _closed(self, stores: Stores) -> int:
        """What ends below it is full."""
        if not self.by_count:
            return stores.closed
        counted = everything(stores, COUNTS)[COUNT]
        return int(counted[0]) + 1 if len(counted) else START

    def _judged(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """One of messages that is full is told at once, and waits no more."""
        full = pl.lit(False) if self.by_count else pl.col(UNTIL) < stores.closed
        return windows.with_columns(full.alias(FULL))

    def _open(self, stores: Stores) -> pl.DataFrame:
        return self.spans.ending(self._closed(stores), END, stores)

    def _valued(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Of what has vanished the values it was emitted with."""
        there = windows.filter(~pl.col(GONE))
        merged = there if ROWS in windows.columns else self.spans.of(there, stores)
        valued = self._finished(merged, stores)
        gone = windows.filter(pl.col(GONE), pl.col(OUT))
        if gone.is_empty():
            return valued
        return pl.concat([valued, self._as_it_was(gone)], how="diagonal")

    def _close(self, closing: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if not self.by_count:
            return super()._close(closing, stores)
        if closing.is_empty():
            return self.nothing()
        return self._tell(self.revisions.was(closing, stores), "full", stores)

    def _send(
        self, known: pl.DataFrame, emit: str | pl.Expr, stores: Stores, shown: bool = False
    ) -> pl.DataFrame:
        """With them go the vanished windows that they overlap, and who else makes room."""
        word = pl.lit(emit) if isinstance(emit, str) else emit
        worded = self._with_rivals(known.with_columns(word.alias(WORD)), stores)
        return super()._send(self._with_displaced(worded, stores), pl.col(WORD), stores, shown)

    def _with_rivals(self, worded: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        rivals = self.revisions.rivals(worded.filter(~pl.col(GONE)), WORD, stores)
        if rivals.is_empty():
            return worded
        valued = self._valued(rivals, stores)
        return self._with_rivals(pl.concat([worded, valued], how="diagonal"), stores)

    def _with_displaced(self, worded: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        displaced = self.revisions.displaced(worded.filter(~pl.col(GONE)), WORD, stores)
        if displaced.is_empty():
            return worded
        on = list(self.spans.identity)
        others = worded.join(displaced, on=on, how="anti", nulls_equal=True)
        return pl.concat([others, self._as_it_was(displaced)], how="diagonal")

    def _as_it_was(self, gone: pl.DataFrame) -> pl.DataFrame:
        return gone.with_columns(
            pl.col(OLD + name).alias(name) for name in self.revisions.remembered
        )

    def _changes(self, known: pl.DataFrame, emit: str | pl.Expr) -> pl.DataFrame:
        named = self._keyed(known).sort(UNTIL, FROM, *self.keys)
        columns = [*self.output, *CHANGE_SCHEMA]
        there = named.filter(~pl.col(GONE))
        told = changes(there, emit, self.withdraw, pl.col(OUT)).select(columns)
        gone = named.filter(pl.col(GONE)).with_columns(
            pl.lit("-D").alias(OP),
            (pl.lit(emit) if isinstance(emit, str) else emit).alias(EMIT),
            (pl.col(WAS) + 1).cast(pl.Int32).alias(REVISION),
        )
        return pl.concat([gone.select(columns), told])

    def _keyed(self, known: pl.DataFrame) -> pl.DataFrame:
        edges = (pl.col(FROM), pl.col(UNTIL) - self._beyond)
        shown = [
            edge.cast(type_).alias(name)
            for edge, (name, type_) in zip(edges, self.edges.items(), strict=True)
        ]
        return known.with_columns(shown).with_columns(row_key({**self.keys, **self.edges}))

    @property
    def _beyond(self) -> int:
        """How much further than its window a session reaches: of messages the last one counts."""
        return self.window.gap or 0 if self.by_count else 0

    # From accumulators to values.

    def _joined(self, windows: pl.DataFrame, wanted: pl.DataFrame) -> pl.DataFrame:
        on = list(self.spans.identity)
        return windows.join(wanted.select(on), on=on, how="semi", nulls_equal=True)

    def _finished(self, merged: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self.finished(self._with_whole(merged, stores) if self.whole else merged)

    def _with_whole(self, merged: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """With the accumulators of full-state aggregates, lifted from the messages."""
        found = stores[MESSAGES].scan(*extent_of(merged))
        held = within(found, TS, merged, tuple(self.keys)).sort(POSITION)
        lifted = [expr for fold in self.whole for expr in fold.lift()]
        whole = held.group_by(self.spans.identity).agg(lifted)
        return merged.join(whole, on=list(self.spans.identity), how="left", nulls_equal=True)

    def _place(self, window: dict[str, Any]) -> str:
        start, end = window[FROM], window[UNTIL]
        if not self.by_count:
            start, end = format_instant(start), format_instant(end)
        keys = ", ".join(f"{key} = {window[key]!r}" for key in self.keys)
        of = f" of {keys}" if keys else ""
        last = f"the last row of the window is {self.stream} at position {window[LAST]}"
        return f"window [{start}, {end}){of}; {last}"
