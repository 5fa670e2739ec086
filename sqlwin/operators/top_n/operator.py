"""The first n rows of each partition, in an order that is not event time.

A ranking is never full: any row may still come before those that are in it. So
every emission is `early`, when the policy says: on each update, every so often,
every n rows of the partition, or not before the end of input or a TIMEOUT, where all
that waits goes out. But where a partition is of one instant (`becomes_final`) it is full when that
one is beyond retention: what waits goes out, and the partition is forgotten.

An emission says what became of the partition since the one before: a row that is new is
inserted (`+I`), one that has moved is updated (`+U`), one that was pushed out is
retracted (`-D`, as it was last emitted, one revision on).

Mostly rows come and stay: a row that has come beyond retention is not accepted, while
those already ranked stay. So a place only ever falls, and what falls beyond `limit` need
not be kept. Where the input retracts rows (`weighted`), all are: see `changes`. Else:

Invariant: `top` holds every row whose place is within `limit`, and besides them
only rows that were emitted and have not been retracted yet; the places counted
off among the held rows are right up to `limit`, and beyond it wherever they are
beyond it among all rows. For let r be beyond among all rows. Then at least
`limit` rows (row_number), strictly better rows (rank) or strictly better values
(dense_rank) come before r, and the best `limit` of these are held, each having a
place within `limit`; so r is beyond among the held rows too. And if r is within,
all that come before r are within, therefore held, therefore counted.

The rows lie in slots: see `held`.

Worked example, the best row by points: b (5 points) comes, is emitted `+I` with
place 1, revision 0. c (7 points) comes: b is retracted, `-D` revision 1, and c
inserted, `+I` revision 0. Of a (1 point) nothing is emitted or kept. By `ts DESC`
this keeps the last row of each key: deduplication.
"""

from __future__ import annotations

import polars as pl

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything, timeout_at
from sqlwin.operators.emitter.changes import row_key_at
from sqlwin.operators.emitter.kernel import changelog
from sqlwin.operators.emitter.schema import DUE, EXISTS, OLD, PENDING, STANDS, WORD
from sqlwin.operators.state_queries import OPEN_WINDOW, STATE, MessageRange, StateQuery, of_keys
from sqlwin.operators.top_n.changes import SENT
from sqlwin.operators.top_n.held import AT, INT, NEW, RANKINGS, SLOT, TOP, HeldRows
from sqlwin.operators.weights import effective, split
from sqlwin.polars_frames import PLACE
from sqlwin.schema import POSITION, REVISION, TS, WEIGHT


@dataclass(frozen=True)
class TopRows(HeldRows):
    """Fields as of `HeldRows`."""

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows beyond `limit` among these alone are beyond it among all."""
        if self.weighted:
            return effective(rows).select(*self.carried, *POSITION, WEIGHT)
        taken = rows.select(*self.carried, *POSITION)
        if self.policy.early_rows:  # which counts every row
            return taken
        return self._placed(taken).filter(self._within).drop(self.name)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        rankings = self._touched(batch, stores)
        if self.weighted:
            return self._change(batch, rankings, stores, now)
        held = self._held(rankings, stores).with_columns(pl.lit(False).alias(NEW))
        never = [pl.lit(0, INT), pl.lit(None, INT), pl.lit(-1, pl.Int32), pl.lit(True)]
        added = batch.with_columns(
            e.alias(c) for e, c in zip(never, (SLOT, SENT, REVISION, NEW), strict=True)
        )
        placed = self._placed(pl.concat([held, added.select(held.columns)]))
        kept = placed.filter(self._within | (pl.col(REVISION) >= 0))
        self._keep(kept, self._waiting(rankings, kept, now), stores)
        return self.nothing()

    def _change(
        self, batch: pl.DataFrame, rankings: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        removed, added = split(batch)
        rows = self.changing.applied(self._held(rankings, stores), removed, added)
        differs = self.changing.differs(self._within)
        kept = self._all_placed(rows).with_columns(differs.alias(NEW))
        self._keep(kept, self._waiting(rankings, kept, now), stores)
        return self.nothing()

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        stores.watermark = max(stores.watermark, watermark)
        if not self.becomes_final or self.policy.retain is None:
            return self.nothing()
        horizon = stores.watermark - self.policy.retain
        out = self._emit(self._waits & (pl.col(AT) < horizon), stores, "full")
        for name in (TOP, RANKINGS):
            stores[name].expire(horizon)
        self._renew_deadline(stores)
        return out

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        silent = timeout_at(self.policy.timeout, stores)
        if silent is not None and now >= silent:
            stores.last_input = None
            return self.on_end(stores, now)
        if stores.pending is None or now < stores.pending:
            return self.nothing()
        out = self._emit(pl.col(DUE) <= now, stores)
        self._renew_deadline(stores)  # it may be that of rankings whose TTL expired
        return out

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        return self._emit(self._waits, stores)

    def next_deadline(self, stores: Stores) -> int | None:
        times = (stores.pending, timeout_at(self.policy.timeout, stores))
        return min((time for time in times if time is not None), default=None)

    # State queries.

    @property
    def key(self) -> dict[str, pl.DataType]:
        return {name: self.carried[name] for name in self.partition}

    @property
    def order(self) -> tuple[str, ...]:
        return (*self.partition, self.name, *POSITION)

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """The rows that have a place within `limit` now, and whose event time is queried."""
        rankings = of_keys(everything(stores, RANKINGS), query.keys)
        placed = self._all_placed(self._held(rankings, stores)).filter(self._within)
        found = placed.filter(pl.col(TS) >= query.lo, pl.col(TS) <= query.hi)
        revision = pl.when(pl.col(SENT).is_not_null()).then(pl.col(REVISION)).alias(REVISION)
        state = pl.lit(OPEN_WINDOW).alias(STATE)
        return found.select(*self.output, state, revision, *PLACE, row_key_at(self.stream))

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        raise QueryError("the query keeps no messages, but the rows that are ranked: windows(…)")

    # What goes out.

    @property
    def _waits(self) -> pl.Expr:
        return pl.col(DUE).is_not_null() | (pl.col(PENDING) > 0)

    def _emit(self, which: pl.Expr, stores: Stores, emit: str = "early") -> pl.DataFrame:
        rankings = everything(stores, RANKINGS).filter(which)
        if rankings.is_empty():
            return self.nothing()
        placed = self._all_placed(self._held(rankings, stores))
        if self.weighted:
            return self._emit_changes(placed, rankings, stores, emit)
        moved = ~pl.col(self.name).eq_missing(pl.col(SENT))
        removed = self._changes(placed.filter(~self._within), False, emit)
        out = self._changes(placed.filter(self._within & moved), True, emit)
        revision = (
            pl.when(moved).then(pl.col(REVISION) + 1).otherwise(pl.col(REVISION)).cast(pl.Int32)
        )
        kept = placed.filter(self._within).with_columns(revision, pl.col(self.name).alias(SENT))
        self._settle(kept, rankings, stores)
        return pl.concat([removed, out])

    def _emit_changes(
        self, placed: pl.DataFrame, rankings: pl.DataFrame, stores: Stores, emit: str
    ) -> pl.DataFrame:
        differs = self.changing.differs(self._within)
        removed = self._changes(placed.filter(differs & ~self._within), False, emit)
        out = self._changes(placed.filter(differs & self._within), True, emit)
        self._settle(self.changing.emitted(placed, self._within), rankings, stores)
        return pl.concat([removed, out])

    def _settle(self, kept: pl.DataFrame, rankings: pl.DataFrame, stores: Stores) -> None:
        done = rankings.with_columns(pl.lit(None, INT).alias(DUE), pl.lit(0, INT).alias(PENDING))
        self._keep(kept, done, stores)
        self._renew_deadline(stores)

    def _renew_deadline(self, stores: Stores) -> None:
        stores.pending = everything(stores, RANKINGS)[DUE].min()  # type: ignore[assignment]

    def _changes(self, rows: pl.DataFrame, within: bool, emit: str) -> pl.DataFrame:
        """What is emitted of rows that are within the limit or, if not, pushed out of it."""
        known = rows.with_columns(
            pl.col(SENT).alias(OLD + self.name),
            pl.col(SENT).is_not_null().alias(STANDS),
            pl.lit(within).alias(EXISTS),
            pl.lit(emit).alias(WORD),
            row_key_at(self.stream),
        )
        return changelog(known, self.output, self.update_before)
