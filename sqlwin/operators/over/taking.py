"""What a batch does to results: which it touches, and what the ledger notes of them.

Retracted rows are taken out first, then new ones come in (see `retracting`). Each step finds the
windows that it touches, asks the ledger what was emitted of them while the values of before can
still be computed, changes the stores, and lets the ledger note what changed.

Worked example, RANGE 2 minutes, watermark 9:05: a row of 9:01 comes. It and the rows of 9:01 to
9:03 are touched and full, so they are due as corrections; a row of 9:06 changes nothing that was
emitted, and is only stored.
"""

from __future__ import annotations

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds, everything
from sqlwin.operators.emitter.results import FULL, ResultLedger
from sqlwin.operators.emitter.schema import ADDED, FINAL, FORCED, STORE
from sqlwin.operators.over.base_sums import ROWS
from sqlwin.operators.over.eviction import Leaving
from sqlwin.operators.over.fullness import Fullness
from sqlwin.operators.over.reading import Reading
from sqlwin.operators.over.recent.closing import RecentClosing
from sqlwin.operators.over.retracting import Retracting
from sqlwin.operators.over.touching import FILLED, GONE, LEFT, NOW_FULL, REOPENED, Touching
from sqlwin.operators.weights import split, weighed
from sqlwin.polars_frames import where
from sqlwin.policies import Late, Policy
from sqlwin.schema import POSITION, TS
from sqlwin.state.records import least


@dataclass(frozen=True)
class Taking:
    """weighted: rows may be retracted."""

    policy: Policy
    leaving: Leaving
    touching: Touching
    retracting: Retracting
    recent: RecentClosing
    weighted: bool

    @property
    def ledger(self) -> ResultLedger:
        return self.retracting.ledger

    @property
    def reading(self) -> Reading:
        return self.leaving.reading

    @property
    def fullness(self) -> Fullness:
        return self.leaving.fullness

    @property
    def identity(self) -> tuple[str, ...]:
        return self.touching.identity

    def take(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        """Take a batch with rows; gives what goes out at once."""
        if not self.weighted:
            return self._add(batch, stores, now)
        removed, added = split(batch)
        closed = self._retract(removed, stores, now)
        left, closed = (closed.filter(c).select(self.identity) for c in (GONE, ~pl.col(GONE)))
        kept = self.leaving.lasting(added, stores)
        again = self.retracting.returning(kept, left, stores)
        emitted = self._add(added, stores, now, again, closed)
        return pl.concat([emitted, self._rest(self.retracting.rest(kept, left, stores), stores)])

    def restore(self, batch: pl.DataFrame, stores: Stores, now: int, since: int | None) -> None:
        """Put lost rows back, which all other stores have counted; see `Restoring`."""
        there = stores[ROWS].scan(*bounds(batch[TS]))
        lacking = batch.join(there, on=list(POSITION), how="anti").unique(POSITION)
        touched = self.touching.touched(lacking if since is not None else lacking.clear(), stores)
        anew = touched.filter(pl.col(TS) >= (since or 0) - self.fullness.after)
        known = self.ledger.before(anew, stores)
        stores[ROWS].put(lacking)
        stores.cached = None
        self.ledger.on_batch(known, stores, now)

    def _rest(self, known: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Windows of no row, which became full as rows went: this is the time of the forced ones
        too where they have no other."""
        full = self.ledger.emit(known.filter(~pl.col(FORCED)), FULL, stores)
        forced = known.filter(FORCED, pl.lit(self.policy.late is Late.NEVER))
        return pl.concat([full, self.ledger.emit(forced, pl.lit("late"), stores)])

    def _retract(self, removed: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        """Take rows out; those that were open, and wait for nothing any more, with `__gone`."""
        rows = self.retracting.known(removed, stores)
        touched = self.touching.retracted(self._watched(rows, stores), stores)
        touched = self.leaving.lasting(touched, stores)
        known = self.ledger.before(touched, stores)
        self.retracting.take_out(rows, stores)
        if known.is_empty():
            return known.select(*self.identity, GONE)
        # one that lacks followers from now on was emitted full, which time no longer says
        reopened = known.with_columns(pl.col(FORCED) | pl.col(FILLED))
        self.ledger.note(reopened.filter(FINAL, pl.col(FILLED) | pl.col(GONE)), stores)
        still_open = reopened.with_columns((pl.col(NOW_FULL) & ~pl.col(LEFT)).alias(FINAL))
        self.ledger.on_batch(still_open, stores, now)
        return known.filter(LEFT).select(*self.identity, GONE)

    def _add(
        self,
        batch: pl.DataFrame,
        stores: Stores,
        now: int,
        again: pl.DataFrame | None = None,
        closed: pl.DataFrame | None = None,
    ) -> pl.DataFrame:
        """New rows; `again`: identities of those that were emitted and not full, and come back;
        `closed`: of those that are full as others were retracted, and count as open until now."""
        watched = self._watched(batch, stores)
        if watched.is_empty() and again is None and closed is None:
            self._store(batch, stores)
            return self.ledger.results.nothing()
        touched = self.touching.touched(watched, stores)
        touched = self.leaving.lasting(touched, stores)
        if again is not None:
            touched = self.retracting.filled(touched, again)
        if closed is not None:
            touched = self.retracting.closed(touched, closed)
        if len(touched):
            before = (pl.col(FINAL) & ~pl.col(FILLED)) | pl.col(REOPENED)
            touched = touched.with_columns(before.alias(FINAL))
        known = self.ledger.before(touched, stores)
        self._store(batch, stores)
        if known.is_empty():
            return self.ledger.results.nothing()
        known = self._reopened(known, stores)
        filled = known.filter(FILLED).select(self.identity)  # late rows were their followers
        changed = known.filter(~pl.col(FILLED) | pl.col(FORCED), pl.col(ADDED) > 0)
        self.ledger.on_batch(changed, stores, now)
        return self.ledger.close(filled, stores)

    def _store(self, batch: pl.DataFrame, stores: Stores) -> None:
        self.recent.came(batch, stores)
        stores[ROWS].put(weighed(batch, 1) if self.weighted else batch)
        for sums in self.reading.sums:
            sums.put(batch, stores)
        self.leaving.join(batch, stores)

    def _reopened(self, known: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those that were emitted full and are open again count as emitted by force."""
        if not known[REOPENED].any():
            return known
        final, forced = pl.col(FINAL) & ~pl.col(REOPENED), pl.col(FORCED) | pl.col(REOPENED)
        reopened = known.with_columns(final.alias(FINAL), forced.alias(FORCED))
        self.ledger.note(reopened.filter(REOPENED), stores)
        return reopened

    def _watched(self, batch: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of a batch that may change what was emitted, or will be before it is full."""
        if self.policy.early is not None or batch.is_empty():
            return batch
        records = everything(stores, STORE)
        if len(records) and records[FORCED].any():
            return batch
        silent = self.policy.late is Late.NEVER and not self.fullness.counting
        if silent and not self.weighted:  # else it must be known what is in whose place
            return batch.clear()
        if least(batch.get_column(TS)) >= stores.watermark:  # nothing is late, as mostly
            return batch.clear()
        return where(batch, batch[TS] < stores.watermark)
