"""OVER frames: a window for each row, kept with the row in time slices.

A row is emitted when its frames are full (`fullness`). A row that comes later than
that goes into the frames of rows that were emitted; those, and only those, are
emitted again: which they are, the frames themselves say (`framing.changed`). Values
are computed from the rows within reach (`reading`), and, where frames have no
beginning, from sums of those before (`base_sums`). What retention evicts, `eviction`
drops, and `history` keeps the few old rows that ROWS frames still want.

| store       | record                                           |
|-------------|--------------------------------------------------|
| `rows`      | the row                                          |
| `base<n>`   | accumulators of (partition, slice), group n      |
| `past<n>`   | accumulators of a partition's rows that are gone |
| `history`   | rows of before, values of those that wait        |
| `revisions` | see `emitter.schema`                             |

Invariant: a row that is full at `watermark` was emitted, or is pending in the ledger.

Worked example, RANGE 2 minutes, watermark 9:05, all rows up to 9:04 emitted: a row
of 9:01 comes. It is late, and so emitted as revision 0 of its own; rows of 9:01 to
9:03 hold it and go out as revision 1; a row of 9:04 does not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from sqlwin.instants import END
from sqlwin.operators.contract import DOUBT, Stores, bounds, everything
from sqlwin.operators.emitter.changes import row_key, row_key_at
from sqlwin.operators.emitter.results import FULL, ResultLedger, Results
from sqlwin.operators.emitter.schema import ADDED, FINAL, FORCED, STORE
from sqlwin.operators.horizon import Horizons
from sqlwin.operators.over.base_sums import ROWS
from sqlwin.operators.over.eviction import Leaving
from sqlwin.operators.over.framing import FrameCall
from sqlwin.operators.over.fullness import Fullness
from sqlwin.operators.over.judging import FrameJudging
from sqlwin.operators.over.partition_groups import PartitionGroups, groups_of
from sqlwin.operators.over.reading import Reading, stored
from sqlwin.operators.over.retracting import Retracting
from sqlwin.operators.over.row_horizons import RowHorizons
from sqlwin.operators.over.stores import OverStores
from sqlwin.operators.over.touching import (
    FILLED,
    GONE,
    HELD,
    LEFT,
    NOW_FULL,
    REOPENED,
    Touching,
)
from sqlwin.operators.state_queries import STATE, MessageRange, StateQuery, of_keys
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.weights import SIGN, effective, split, there, weighed
from sqlwin.policies import Late, Policy
from sqlwin.schema import INSTANT, PART, PLACE, POSITION, REVISION, SEQ, TS, dropped, stacked, where
from sqlwin.state.records import least

__all__ = ["ROWS", "OverAggregator"]


@dataclass(frozen=True)
class OverAggregator(Results):
    """carried: the input columns and their dtypes. slice_width: of the row store, microseconds.

    per_instant: the rows of one partition and instant make one window, known by
    (partition, start, end); it needs all calls to share partition and frame.
    weighted: rows may be retracted, see `retracting`. recorded: as of `ResultLedger`; while
    rows are missing, one that is not there yet was not emitted, however full its frames are.
    """

    stream: str
    carried: dict[str, pl.DataType]
    calls: tuple[FrameCall, ...]
    policy: Policy
    slice_width: int
    per_instant: bool = False
    update_before: bool = False
    weighted: bool = False
    recorded: bool = False

    @property
    def identity(self) -> tuple[str, ...]:
        """With the keys where single ones have a horizon or a TTL: so records go by them."""
        if self.per_instant:
            return (*self.calls[0].partition, TS)
        keyed = self.row_horizons.keyed or self.policy.ttl is not None
        return (*(self.row_horizons.buckets if keyed else ()), *POSITION)

    @property
    def output(self) -> dict[str, pl.DataType]:
        window = {"window_start": INSTANT, "window_end": INSTANT} if self.per_instant else {}
        return {**self.carried, **window, **{c.name: c.dtype for c in self.calls}}

    @cached_property
    def ledger(self) -> ResultLedger:
        calls = tuple(c.name for c in self.calls)
        changing = self.weighted or self.update_before or self.per_instant
        kept = (*self.carried, *calls) if changing else calls
        return ResultLedger(self, self.identity, TS, kept, self.recorded or self.reopening)

    @property
    def reopening(self) -> bool:
        """Whether results are emitted again of which not each change was: a session may be open
        again, and LATE NEVER tells of it when it is full. Then being full implies nothing."""
        return self.policy.late is Late.NEVER and any(g.sessions for g in self.groups.each)

    @property
    def sign(self) -> dict[str, pl.DataType]:
        """What a record of the row store has beside the row."""
        return SIGN if self.weighted else {}

    @cached_property
    def groups(self) -> PartitionGroups:
        return groups_of(self.calls)

    @cached_property
    def reading(self) -> Reading:
        kept = (self.carried, self.groups, self.slice_width, self.weighted)
        return Reading(self.stream, *kept)

    @cached_property
    def fullness(self) -> Fullness:
        return Fullness(self.groups)

    @cached_property
    def row_horizons(self) -> RowHorizons:
        first, *others = [group.partition for group in self.groups.each]
        buckets = tuple(k for k in first if all(k in o for o in others))
        noted = self.weighted and self.policy.retain_rows is not None
        types = {key: self.carried[key] for key in buckets}
        return RowHorizons(self.policy, buckets, Horizons(types) if noted else None)

    @cached_property
    def leaving(self) -> Leaving:
        return Leaving(self.row_horizons, self.fullness, self.reading)

    @cached_property
    def judging(self) -> FrameJudging:
        return FrameJudging(self.reading, self.fullness)

    @cached_property
    def retracting(self) -> Retracting:
        early = self.policy.early is not None
        return Retracting(self.reading, self.leaving, self.ledger, self.per_instant, early)

    @cached_property
    def touching(self) -> Touching:
        enough = max(self.policy.early_rows, 1)
        return Touching(self.identity, self.reading, self.fullness, self.per_instant, enough)

    def stores(self) -> list[StoreSpec]:
        row = {**self.carried, **PLACE, **self.sign}
        parts = (self.reading, self.row_horizons, self.ledger, row, self.output, self.slice_width)
        return list(OverStores(*parts))

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        rows = effective(rows) if self.weighted else rows
        doubt = [name for name in DOUBT if name in rows.columns]
        return rows[[*self.carried, *POSITION, *self.sign, *doubt]]  # no query

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return self.row_horizons.horizons(stores)

    def without_eviction(self) -> OverAggregator:
        return replace(self, policy=self.policy.forever, recorded=True)

    def final_before(self, closed: int) -> int:
        return closed - self.fullness.after

    def judge(self, rows: pl.DataFrame, stores: Stores, ended: int) -> pl.DataFrame:
        return self.judging.expired(rows, stores, ended)

    def oldest(self, stores: Stores, ended: int) -> int:
        return END

    def repeated(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        removed = rows.filter(pl.col(TS) < stores[ROWS].horizon)  # admission knows the others
        if removed.is_empty():
            return removed
        history = self.reading.history.rows(stores)
        return removed.join(history, on=list(POSITION), how="semi", maintain_order="left")

    def restore(self, batch: pl.DataFrame, stores: Stores, now: int, since: int | None) -> None:
        """Put lost rows back, which all other stores have counted; see `Restoring`."""
        there = stores[ROWS].scan(*bounds(batch[TS]))
        lacking = batch.join(there, on=list(POSITION), how="anti").unique(POSITION)
        touched = self.touching.touched(lacking if since is not None else lacking.clear(), stores)
        anew = touched.filter(pl.col(TS) >= self.final_before(since or 0))
        known = self.ledger.before(anew, stores)
        stores[ROWS].put(lacking)
        self.ledger.on_batch(known, stores, now)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        if not self.weighted:
            return self._take(batch, stores, now)
        removed, added = split(batch)
        closed = self._retract(removed, stores, now)
        left, closed = (closed.filter(c).select(self.identity) for c in (GONE, ~pl.col(GONE)))
        kept = self.leaving.lasting(added, stores)
        again = self.retracting.returning(kept, left, stores)
        emitted = self._take(added, stores, now, again, closed)
        return pl.concat([emitted, self._rest(self.retracting.rest(kept, left, stores), stores)])

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

    def _take(
        self,
        batch: pl.DataFrame,
        stores: Stores,
        now: int,
        again: pl.DataFrame | None = None,
        closed: pl.DataFrame | None = None,
    ) -> pl.DataFrame:
        """New rows; `again`: identities of those that were emitted and not full, and come back;
        `closed`: of those that are full as others were retracted, and count as open until now."""
        touched = self.touching.touched(self._watched(batch, stores), stores)
        touched = self.leaving.lasting(touched, stores)
        if again is not None:
            touched = self.retracting.filled(touched, again)
        if closed is not None:
            touched = self.retracting.closed(touched, closed)
        if len(touched):
            before = (pl.col(FINAL) & ~pl.col(FILLED)) | pl.col(REOPENED)
            touched = touched.with_columns(before.alias(FINAL))
        known = self.ledger.before(touched, stores)
        stores[ROWS].put(weighed(batch, 1) if self.weighted else batch)
        for sums in self.reading.sums:
            sums.put(batch, stores)
        self.leaving.join(batch, stores)
        if known.is_empty():
            return self.nothing()
        known = self._reopened(known, stores)
        filled = known.filter(FILLED).select(self.identity)  # late rows were their followers
        changed = known.filter(~pl.col(FILLED) | pl.col(FORCED), pl.col(ADDED) > 0)
        self.ledger.on_batch(changed, stores, now)
        return self.ledger.close(filled, stores)

    def _reopened(self, known: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those that were emitted full and are open again count as emitted by force."""
        if not known[REOPENED].any():
            return known
        final, forced = pl.col(FINAL) & ~pl.col(REOPENED), pl.col(FORCED) | pl.col(REOPENED)
        reopened = known.with_columns(final.alias(FINAL), forced.alias(FORCED))
        self.ledger.note(reopened.filter(REOPENED), stores)
        return reopened

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        moved = watermark > stores.watermark
        if not moved and not self.row_horizons.by_rows:
            return self.nothing()
        self.row_horizons.note(stores)
        full = self._become_full(max(watermark, stores.watermark), stores)
        leaving = self.leaving.retired(self.ledger.pending(stores), stores)
        last = self.ledger.again(leaving, stores)
        self.leaving.leave(stores)
        return stacked([full, last])

    def _become_full(self, watermark: int, stores: Stores) -> pl.DataFrame:
        closed = stores.watermark
        if watermark == closed:
            return self.nothing()
        closing = self._closing(closed, watermark, stores)
        stores.watermark = watermark
        if not self.weighted or self.fullness.never:
            return self.ledger.close(closing, stores)
        after = self.fullness.after
        span = (closed - after, watermark - after)
        counting = self.fullness.counting  # then some that are there wait for others
        held = self._identities(self.reading.all_rows(stores)) if counting else closing
        emptied = self.ledger.emptied(held, stores, *span)
        return pl.concat([self.ledger.close(part, stores) for part in (emptied, closing)])

    # Which rows.

    def _watched(self, batch: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of a batch that may change what was emitted, or will be before it is full."""
        if self.policy.early is not None or everything(stores, STORE)[FORCED].any():
            return batch
        silent = self.policy.late is Late.NEVER and not self.fullness.counting
        if silent and not self.weighted:  # else it must be known what is in whose place
            return batch.clear()
        return where(batch, batch[TS] < stores.watermark)

    def _closing(self, closed: int, watermark: int, stores: Stores) -> pl.DataFrame:
        """Identities of rows that become full."""
        if self.fullness.never:
            return self._identities(stored(stores, 0, 0))
        if not self.fullness.counting:
            after = self.fullness.after
            return self._identities(stored(stores, closed - after, watermark - after))
        rows = self.reading.all_rows(stores)
        closes = self.fullness.at(rows, watermark) & ~self.fullness.at(rows, closed)
        return self._identities(rows.filter(pl.Series(closes)))

    def open_results(self, stores: Stores) -> pl.DataFrame:
        if not self.fullness.counting and not self.fullness.never:
            since = stores.watermark - self.fullness.after
            return self._identities(stored(stores, since))
        rows = self.reading.all_rows(stores)
        return self._identities(rows.filter(pl.Series(~self.fullness.at(rows, stores.watermark))))

    def next_full(self, stores: Stores) -> int | None:
        rows = None if self.fullness.never else self.open_results(stores)
        if rows is None or rows.is_empty():
            return None
        return max(least(rows[TS]) + self.fullness.after, stores.watermark) + 1

    def judged(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if not self.fullness.counting:
            final = pl.Series(FINAL, self.fullness.at(ids, stores.watermark))
            return ids.with_columns(final)
        still_open = self.open_results(stores).with_columns(pl.lit(False).alias(FINAL))
        on = list(self.identity)
        emitted = ids.join(still_open, on=on, how="left", nulls_equal=True, maintain_order="left")
        removed = pl.Series(self.fullness.timed(ids, stores.watermark))
        return emitted.with_columns(pl.col(FINAL).fill_null(removed))

    def _identities(self, rows: pl.DataFrame) -> pl.DataFrame:
        known = rows[list(self.identity)]
        return known.unique(maintain_order=True) if self.per_instant else known

    # State queries.

    @property
    def key(self) -> dict[str, pl.DataType]:
        return {name: self.carried[name] for name in self.row_horizons.buckets}

    @property
    def order(self) -> tuple[str, ...]:
        return POSITION

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """Of rows at an instant of the state query; a sliding window holds some instant of it."""
        reach = self.calls[0].frame.preceding if self.per_instant else 0
        last = END if reach is None else query.hi + reach
        rows = self.leaving.kept(query.lo, last + 1, stores)
        windows = self._identities(of_keys(rows, query.keys))
        known = self.ledger.looked_at(windows, stores).sort(POSITION)
        return known.select(*self.output, STATE, REVISION, *PLACE, self._row_key(known))

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        return there(between.stored(stores[ROWS]))

    # What goes out.

    def valued(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        valued = self.reading.values(self._rows_of(ids, stores), stores)
        return valued.with_columns(*self._window()) if self.per_instant else valued

    def implied(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        held = ids.filter(HELD) if not self.reopening else ids.clear()
        return self.valued(held, stores) if self.ledger.kept and len(held) else held

    def _rows_of(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The row of each window, in order; of peers that make one window the last."""
        on = list(self.identity)
        if self.fullness.counting:
            found = self.reading.all_rows(stores)
            rows = found.join(windows.select(on), on=on, how="semi", nulls_equal=True)
            rows = rows.sort(POSITION)
        else:
            rows = stored(stores, *bounds(windows[TS]))
        if self.per_instant:
            rows = rows.unique(on, keep="last", maintain_order=True)
        if len(rows) == len(windows) and rows[on].equals(windows[on]):
            return rows.hstack(dropped(windows, *on))
        return rows.join(windows, on=on, how="inner", nulls_equal=True, maintain_order="left")

    def presented(self, results: pl.DataFrame) -> pl.DataFrame:
        ordered = results.sort(TS, PART, SEQ) if len(results) > 1 else results
        if self.per_instant:
            ordered = ordered.with_columns(*self._window())
        return ordered.with_columns(self._row_key(ordered))

    def _window(self) -> list[pl.Expr]:
        reach = self.calls[0].frame.preceding
        start = pl.lit(None, pl.Int64) if reach is None else pl.col(TS) - reach
        return [
            start.cast(INSTANT).alias("window_start"),
            pl.col(TS).cast(INSTANT).alias("window_end"),
        ]

    def _row_key(self, rows: pl.DataFrame) -> pl.Expr:
        if self.per_instant:
            names = (*self.calls[0].partition, "window_start", "window_end")
            return row_key({name: rows.schema[name] for name in names})
        return self._key_of_row

    @cached_property
    def _key_of_row(self) -> pl.Expr:
        return row_key_at(self.stream)
