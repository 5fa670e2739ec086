"""How sessions go out: those that are there, and those that have vanished.

With a window go the vanished ones that it makes room for, and the other late ones that
these make room for: whatever is emitted first withdraws what it overlaps, and what was
told of a row is never gone without what tells it now.

Worked example, a gap of 5: [0, 5) and [9, 14) are out, and a late row at 4 has made them
[0, 14). When that goes out, `late`, the emission has `-D` of both, and `+I` of it.
"""

from __future__ import annotations

from abc import abstractmethod

import polars as pl

from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA, WAS, changes, row_key
from sqlwin.operators.emitter.correcting import WAITED, Correcting
from sqlwin.operators.emitter.departures import GONE, OUT, Departures
from sqlwin.operators.emitter.revisions import WAITING
from sqlwin.operators.emitter.revisions import WORD as OWN_WORD
from sqlwin.operators.emitter.schema import OLD
from sqlwin.operators.sessions.contents import SessionContents
from sqlwin.operators.windows.contents import ROWS
from sqlwin.schema import EMIT, INSTANT, OP, PLACE, REVISION, TS
from sqlwin.state.session_store import FROM, UNTIL

WORD = "__word"


class SessionTelling(Correcting):
    """restoring: lost messages come back, so that what is told now is told again. It has a
    record then, for nothing else could say what was told."""

    withdraw: bool
    restoring: bool

    @property
    @abstractmethod
    def contents(self) -> SessionContents: ...

    @property
    @abstractmethod
    def revisions(self) -> Departures: ...

    @property
    def edges(self) -> dict[str, pl.DataType]:
        bound = pl.Int64() if self.contents.by_count else INSTANT
        return {"window_start": bound, "window_end": bound}

    def as_they_are(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """As of `Correcting`; with what waited go those that it makes room for."""
        judged = self._judged(self.revisions.was(windows, stores), stores)
        if judged.is_empty():
            return self.nothing().with_columns(pl.lit(False).alias(WAITED))
        valued = self._valued(judged, stores)
        waited = pl.col(WAITING).fill_null(0) > 0
        sent = self._send(valued.filter(waited), OWN_WORD, stores)
        rest = self._changes(valued.filter(~waited), OWN_WORD)
        parts = ((sent, True), (rest, False))
        return pl.concat([part.with_columns(pl.lit(w).alias(WAITED)) for part, w in parts])

    def _valued(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Of what has vanished the values it was emitted with."""
        there = windows.filter(~pl.col(GONE))
        merged = there if ROWS in windows.columns else self.contents.spans.of(there, stores)
        valued = self.contents.valued(merged, stores)
        gone = windows.filter(pl.col(GONE), pl.col(OUT))
        if gone.is_empty():
            return valued
        return pl.concat([valued, self._as_it_was(gone)], how="diagonal")

    def _send(
        self, known: pl.DataFrame, emit: str | pl.Expr, stores: Stores, shown: bool = False
    ) -> pl.DataFrame:
        """With them go the vanished windows that they overlap, and who else makes room."""
        word = pl.lit(emit) if isinstance(emit, str) else emit
        worded = self._with_rivals(known.with_columns(word.alias(WORD)), stores)
        all_ = self._with_displaced(worded, stores)
        if self.restoring:
            all_ = all_.with_columns(pl.col(WAITING).fill_null(0))
        return super()._send(all_, pl.col(WORD), stores, shown)

    def _with_rivals(self, worded: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        # of rows that are withdrawn, what overlaps one that is gone may be due later than it
        first = worded if self.weighted else worded.filter(~pl.col(GONE))
        rivals = self.revisions.rivals(first, WORD, stores)
        if rivals.is_empty():
            return worded
        valued = self._valued(rivals, stores)
        return self._with_rivals(pl.concat([worded, valued], how="diagonal"), stores)

    def _with_displaced(self, worded: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        displaced = self.revisions.displaced(worded.filter(~pl.col(GONE)), WORD, stores)
        if displaced.is_empty():
            return worded
        on = list(self.contents.spans.identity)
        others = worded.join(displaced, on=on, how="anti", nulls_equal=True)
        return pl.concat([others, self._as_it_was(displaced)], how="diagonal")

    def _as_it_was(self, gone: pl.DataFrame) -> pl.DataFrame:
        return gone.with_columns(
            pl.col(OLD + name).alias(name) for name in self.revisions.remembered
        )

    def _changes(self, known: pl.DataFrame, emit: str | pl.Expr) -> pl.DataFrame:
        named = self._keyed(known).sort(UNTIL, FROM, *self.contents.by.names)
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
        # another window may have the bounds of one that an expired row makes alone
        place = {name: t for name, t in PLACE.items() if name in known.columns and name != TS}
        key = row_key({**self.contents.by.types, **self.edges, **place})
        return known.with_columns(shown).with_columns(key)

    @property
    def _beyond(self) -> int:
        """How much further than its window a session reaches: of messages the last one counts."""
        return self.contents.window.gap or 0 if self.contents.by_count else 0
