"""The ledger of joins: what becomes true or untrue of results, and when it goes out.

A *change* is a row of the output, `__sign` 1 where it becomes true and -1 where it no
longer is, and

    __row_key | __emit | __due | __at | the marks of the rows it is made of

`__due`: processing time to go out, NULL for never. A result with both signs is replaced.
Of one result only what changed since it was emitted counts: a change that is pending is undone
by its opposite, and what is pending already waits no longer for a further change. What is
emitted of the two, `kernel.changelog` says: with -1 the last emission stands, with 1 the result
exists.

| store       | record                                                         |
|-------------|----------------------------------------------------------------|
| `pending`   | a change, if there are periods; see `pending`                  |
| `revisions` | the last revision of a result, if it is not its first; with a TTL its marks |

Invariant: `Stores.pending` is the least `__due` of what is pending.

Worked example, LATE EVERY 10 s: at now = 3 a right row retracts a padded result, which is pending
as -1, and makes a pair, as 1; both are due at 10. The right row is retracted at now = 7: both are
void. Otherwise `-D` and `+I` go out at 10, and all records below 10 are evicted.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.operators.emitter.kernel import changelog
from sqlwin.operators.emitter.schema import DUE, EXISTS, OLD, SIGN, STANDS, STORE, WORD
from sqlwin.operators.joins.changes.consolidation import consolidated
from sqlwin.operators.joins.changes.due_changes import NEVER, Due, DueChanges, due, waits_for_rows
from sqlwin.operators.joins.changes.pending import PendingChanges
from sqlwin.operators.joins.pairing import AT, marked, marks_of
from sqlwin.operators.joins.sides import Columns, Side
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.polars_frames import empty, whole
from sqlwin.policies import Early, Late, Policy
from sqlwin.schema import EMIT, REVISION, ROW_KEY, TS
from sqlwin.state.combine import last_written

TIME = "__time"
RECORDED, GOES = "__recorded", "__goes"


@dataclass(frozen=True)
class ChangeLedger:
    """repeats: whether a result may change after it was emitted. Else no revision is kept."""

    output: Columns
    left: Side
    right: Side
    policy: Policy
    repeats: bool
    update_before: bool

    @property
    def batched(self) -> bool:
        """Whether anything is ever pending."""
        policy = self.policy
        early = policy.early is Early.EVERY and policy.early_period > 0
        late = policy.late is Late.EVERY and policy.late_period > 0
        return early or late or self.waits_for_rows

    @property
    def waits_for_rows(self) -> bool:
        return waits_for_rows(self.policy)

    @property
    def due_changes(self) -> DueChanges:
        pairs = zip(self.left.keys, self.right.keys, strict=True)
        keys = tuple([name for name in pair if name in self.output] for pair in pairs)
        return DueChanges(self.policy, keys, AT if self.dated else None, self.repeats)

    @property
    def dated(self) -> bool:
        """Whether a pair may be late: when the watermark had passed what has a time in it."""
        return self.left.dated or self.right.dated

    @property
    def columns(self) -> Columns:
        """Of a change."""
        emitted = {ROW_KEY: pl.String(), EMIT: pl.String(), DUE: pl.Int64(), AT: pl.Int64()}
        return {**self.output, SIGN: pl.Int8(), **emitted, **self._marks}

    @property
    def _marks(self) -> Columns:
        return marks_of(self.left, self.right)

    @cached_property
    def pending(self) -> PendingChanges:
        return PendingChanges({**self.columns, REVISION: pl.Int32()}, self.waits_for_rows)

    def stores(self) -> list[StoreSpec]:
        emitted = {TIME: pl.Int64(), ROW_KEY: pl.String(), REVISION: pl.Int32()}
        emitted |= self._marks if self.policy.ttls else {}
        revisions = layout_of(STORE, emitted, (), (TIME, ROW_KEY), self.left.slice_width)
        expected = self.left.expected(self.policy)
        words = "what was emitted of each result"
        repeats = StoreSpec(revisions, last_written(revisions), words, expected, "pair")
        return [self.pending.spec] * self.batched + [repeats] * self.repeats

    def none(self) -> pl.DataFrame:
        return empty(self.columns)

    def nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})

    # When.

    def due(self, now: int) -> Due:
        return due(self.policy, now)

    def emitted_ever(self, changes: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of `changes` that go out some time; LATE NEVER emits what is pending anyway."""
        if self.policy.late is not Late.NEVER or changes.is_empty():
            return changes
        ever = pl.col(DUE).is_not_null().any().over(ROW_KEY)
        if stores.pending is None:
            return changes.filter(ever)
        return changes.filter(
            ever | pl.col(ROW_KEY).is_in(self.pending.read(stores)[ROW_KEY].to_list())
        )

    # What goes out.

    def emit(
        self,
        changes: pl.DataFrame,
        stores: Stores,
        now: int,
        forced: bool = False,
        silent: bool = False,
    ) -> pl.DataFrame:
        """Take changes (of `emitted_ever`), and emit what is due; forced: all that is pending;
        silent: all that waits for rows, which do not come."""
        quiet = stores.pending is None or (now < stores.pending and not forced)
        if changes.is_empty() and quiet and not self.waits_for_rows:
            return self.nothing()
        fresh = self._revised(self._as_one(changes), stores)
        if not self.batched:
            return self._sent(fresh, stores)
        pending = self.pending.read(stores)
        own = pending.join(fresh, on=ROW_KEY, how="semi", maintain_order="left")
        rest = pending.join(fresh, on=ROW_KEY, how="anti", maintain_order="left")
        left = consolidated(own, fresh, tuple(self.output))
        both = pl.concat([left, rest.select(left.columns)])
        waiting = self.due_changes.goes(now, stores.watermark, silent)
        goes = pl.lit(True) if forced else waiting
        both = both.with_columns(goes.alias(GOES))
        left, rest = both.head(len(left)), both.tail(len(rest))
        later = left.filter(~pl.col(GOES))
        taken = pl.concat([own, rest.filter(GOES).select(own.columns)])
        kept = self.pending.replace(taken, later.select(own.columns), now, stores)
        times = pl.concat([kept[DUE], rest.filter(~pl.col(GOES))[DUE]])
        stores.pending = times.filter(times < NEVER).min()  # type: ignore[assignment]
        return self._sent(both.filter(GOES).drop(GOES), stores)

    def _as_one(self, changes: pl.DataFrame) -> pl.DataFrame:
        """Of a result that is replaced: one word, that of what becomes true, and one time."""
        if not self.repeats or changes.is_empty():
            return changes
        word = pl.col(EMIT).sort_by(SIGN).last().over(ROW_KEY)
        return changes.with_columns(word, pl.col(DUE).min().over(ROW_KEY))

    def _revised(self, changes: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """With the revision emitted last; without a record: 0 where it was emitted, or -1."""
        emitted = (pl.col(SIGN) < 0).any()
        plain = pl.when(emitted.over(ROW_KEY) if self.repeats else pl.col(SIGN) < 0).then(0)
        known = changes.with_columns(plain.otherwise(-1).cast(pl.Int32).alias(REVISION))
        if not self.repeats or changes.is_empty():
            return known
        times = known.select(self._time).to_series()
        found = stores[STORE].scan(*bounds(times))
        if found.is_empty():
            return known
        records = found.group_by(ROW_KEY).agg(pl.col(REVISION).max().alias(RECORDED))
        joined = whole(known).join(records, on=ROW_KEY, how="left", maintain_order="left")
        return joined.with_columns(pl.coalesce(RECORDED, REVISION).alias(REVISION)).drop(RECORDED)

    @property
    def _time(self) -> pl.Expr:
        """Where the record of a result lies: at its left row, of an unmatched right one there."""
        at = self.left.identity[0]
        return pl.coalesce(marked(self.left)[at], marked(self.right)[at]).alias(TIME)

    def _sent(self, changes: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if changes.is_empty():
            return self.nothing()
        stores.note(changes)
        results = self._results(changes)
        if self.repeats:  # revisions that are not the first
            last = results.with_columns(self._time, pl.col(REVISION) + 1)
            put = last.filter(pl.col(REVISION) > 0).select(*stores[STORE].layout.schema)
            stores[STORE].put(put)
        return changelog(results, self.output, self.update_before)

    def _results(self, changes: pl.DataFrame) -> pl.DataFrame:
        """A line a result, as the kernel has it: those that are no more, then by their rows."""
        known = changes.with_columns(pl.col(EMIT).alias(WORD))
        old = [pl.col(name).alias(OLD + name) for name in self.output]
        removed = known.filter(pl.col(SIGN) < 0).with_columns(*old, pl.lit(True).alias(STANDS))
        there = known.filter(pl.col(SIGN) > 0)
        if self.repeats:
            before = removed.select(ROW_KEY, STANDS, *(OLD + name for name in self.output))
            removed = removed.join(there, on=ROW_KEY, how="anti", maintain_order="left")
            there = whole(there).join(whole(before), on=ROW_KEY, how="left", maintain_order="left")
        else:
            there = there.with_columns(pl.lit(False).alias(STANDS))
        parts = [
            removed.with_columns(pl.lit(False).alias(EXISTS)),
            there.with_columns(pl.col(STANDS).fill_null(False), pl.lit(True).alias(EXISTS)),
        ]
        order = [AT, *(marked(s)[m] for s in (self.left, self.right) for m in (TS, *s.place))]
        both = pl.concat([part for part in parts if len(part)], how="diagonal")
        return both.sort(EXISTS, *order)  # NULL first: an unmatched row of the right

    def retire(self, stores: Stores, horizon: int) -> None:
        if self.repeats:
            stores[STORE].expire(horizon)
