"""What becomes true or untrue of results, and when it goes out.

A *change* is a row of the output, `__sign` 1 where it becomes true and -1 where it no
longer is, and

    __row_key | __emit | __due | __at | the marks of the rows it is made of

`__due`: processing time to go out, NULL for never. A result with both signs is replaced.
Of one result only what changed since it was told counts: a change that waits is undone by
its opposite, and what waits already waits no longer for a further change.

| told  | true  | goes out                                                   |
|-------|-------|------------------------------------------------------------|
| no    | yes   | `+I`, one revision more, 0 for the first                   |
| yes   | no    | `-D`, one revision more                                    |
| yes   | other | `+U`, one revision more, below a `-U` where withdrawals are wanted |

| store     | record                                                           |
|-----------|------------------------------------------------------------------|
| `waiting` | a change, if there are periods; `__void` where it was undone     |
| `told`    | the last revision of a result, if it is not its first; with a TTL its marks |

Invariant: `Stores.pending` is the least `__due` of what waits. What waits of one result
has the same `__due`, and of each sign one row at most.

Records of `waiting` lie in generations, each a slice of the store: when some go out the
rest moves to the next, and the store lets the old one go.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.operators.contract import Stores, bounds, everything
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.operators.emitter.schema import DUE
from sqlwin.operators.emitter.undoing import SIGN, WAS, merged
from sqlwin.operators.joins.pairing import AT, marked
from sqlwin.operators.joins.sides import Columns, Side
from sqlwin.operators.load import nothing
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.policies import Early, Late, Policy, end_of_period
from sqlwin.schema import EMIT, OP, REVISION, ROW_KEY, TS, empty
from sqlwin.state.combine import last_written

WAITING, TOLD = "waiting", "told"
VOID, GENERATION, TIME = "__void", "__generation", "__time"
ONE_SLICE = 1


@dataclass(frozen=True)
class Due:
    """When a change that comes now goes out; None: never."""

    early: int
    late: int | None


@dataclass(frozen=True)
class Telling:
    """repeats: whether a result may change after it was told. Else no revision is kept."""

    output: Columns
    left: Side
    right: Side
    policy: Policy
    repeats: bool
    withdraw: bool

    @property
    def waits(self) -> bool:
        """Whether anything ever waits."""
        policy = self.policy
        early = policy.early is Early.EVERY and policy.early_period > 0
        return early or (policy.late is Late.EVERY and policy.late_period > 0)

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
        return {
            name: side.marks[old]
            for side in (self.left, self.right)
            for old, name in marked(side).items()
        }

    def stores(self) -> list[StoreSpec]:
        kept = {GENERATION: pl.Int64(), WAS: pl.Int32(), VOID: pl.Boolean(), **self.columns}
        waiting = layout_of(WAITING, kept, (), (GENERATION, ROW_KEY, SIGN), ONE_SLICE)
        emitted = {TIME: pl.Int64(), ROW_KEY: pl.String(), WAS: pl.Int32()}
        emitted |= self._marks if self.policy.ttls else {}
        revisions = layout_of(TOLD, emitted, (), (TIME, ROW_KEY), self.left.slice_width)
        words = ("changes that wait for the end of a period", "revisions of results")
        waits = StoreSpec(waiting, last_written(waiting), words[0], nothing, "pair")
        expected = self.left.expected(self.policy)
        repeats = StoreSpec(revisions, last_written(revisions), words[1], expected, "pair")
        return [waits] * self.waits + [repeats] * self.repeats

    def none(self) -> pl.DataFrame:
        return empty(self.columns)

    def nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})

    # When.

    def due(self, now: int) -> Due:
        """Periods end at multiples of them: at the same time for all keys, wherever they lie."""
        policy = self.policy
        early = end_of_period(now, policy.early_period) if policy.early is Early.EVERY else now
        late = end_of_period(now, policy.late_period) if policy.late is Late.EVERY else now
        return Due(early, None if policy.late is Late.NEVER else late)

    def taken(self, changes: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of `changes` that go out some time; LATE NEVER tells what waits anyway."""
        if self.policy.late is not Late.NEVER or changes.is_empty():
            return changes
        ever = pl.col(DUE).is_not_null().any().over(ROW_KEY)
        if stores.pending is None:
            return changes.filter(ever)
        return changes.filter(
            ever | pl.col(ROW_KEY).is_in(self._pending(stores)[ROW_KEY].to_list())
        )

    # What goes out.

    def tell(
        self, changes: pl.DataFrame, stores: Stores, now: int, everything_due: bool = False
    ) -> pl.DataFrame:
        """Take changes (of `taken`), and emit what is due."""
        quiet = stores.pending is None or (now < stores.pending and not everything_due)
        if changes.is_empty() and quiet:
            return self.nothing()
        fresh = self._revised(self._as_one(changes), stores)
        if not self.waits:
            return self._sent(fresh, stores)
        pending = self._pending(stores)
        own = pending.join(fresh, on=ROW_KEY, how="semi", maintain_order="left")
        left = merged(own, fresh, tuple(self.output))
        rest = pending.join(fresh, on=ROW_KEY, how="anti", maintain_order="left")
        goes = pl.lit(True) if everything_due else pl.col(DUE) <= now
        later = self._wait(own, left.filter(~goes), rest, goes, stores)
        stores.pending = later[DUE].min()  # type: ignore[assignment]
        return self._sent(pl.concat([left, rest.select(left.columns)]).filter(goes), stores)

    def _pending(self, stores: Stores) -> pl.DataFrame:
        if not self.waits:
            return self.none().with_columns(pl.lit(0, pl.Int32).alias(WAS))
        found = everything(stores, WAITING).filter(~pl.col(VOID))
        return found.select(*self.columns, WAS)

    def _as_one(self, changes: pl.DataFrame) -> pl.DataFrame:
        """Of a result that is replaced: one word, that of what becomes true, and one time."""
        if not self.repeats or changes.is_empty():
            return changes
        word = pl.col(EMIT).sort_by(SIGN).last().over(ROW_KEY)
        return changes.with_columns(word, pl.col(DUE).min().over(ROW_KEY))

    def _revised(self, changes: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """With `__was`, the revision told last; without a record: 0 where it is told, or -1."""
        emitted = (pl.col(SIGN) < 0).any()
        plain = pl.when(emitted.over(ROW_KEY) if self.repeats else pl.col(SIGN) < 0).then(0)
        known = changes.with_columns(plain.otherwise(-1).cast(pl.Int32).alias(WAS))
        if not self.repeats or changes.is_empty():
            return known
        times = known.select(self._time).to_series()
        records = stores[TOLD].scan(*bounds(times)).select(ROW_KEY, pl.col(WAS).alias("__record"))
        if records.is_empty():
            return known
        joined = known.join(records, on=ROW_KEY, how="left", maintain_order="left")
        return joined.with_columns(pl.coalesce("__record", WAS).alias(WAS)).drop("__record")

    @property
    def _time(self) -> pl.Expr:
        """Where the record of a result lies: at its left row, of a right one alone there."""
        at = self.left.identity[0]
        return pl.coalesce(marked(self.left)[at], marked(self.right)[at]).alias(TIME)

    def _wait(
        self,
        own: pl.DataFrame,
        fresh: pl.DataFrame,
        rest: pl.DataFrame,
        goes: pl.Expr,
        stores: Stores,
    ) -> pl.DataFrame:
        """Keep what waits on; what waits then. own: records that `fresh` stands for."""
        store = stores[WAITING]
        generation, kept = max(store.floor, 0), rest.filter(~goes)
        later = pl.concat([fresh, kept.select(fresh.columns)])
        if len(kept) < len(rest):
            store.expire(generation + 1)
            self._put(later, generation + 1, stores)
            return later
        undone = own.join(fresh, on=[ROW_KEY, SIGN], how="anti", maintain_order="left")
        self._put(undone, generation, stores, void=True)
        self._put(fresh, generation, stores)
        return later

    def _put(
        self, changes: pl.DataFrame, generation: int, stores: Stores, void: bool = False
    ) -> None:
        stores[WAITING].put(
            changes.with_columns(
                pl.lit(generation, pl.Int64).alias(GENERATION), pl.lit(void).alias(VOID)
            ).select(stores[WAITING].layout.schema.names())
        )

    def _sent(self, changes: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if changes.is_empty():
            return self.nothing()
        both = [(pl.col(SIGN) == sign).any().over(ROW_KEY) for sign in (-1, 1)]
        was, now = both if self.repeats else [pl.col(SIGN) < 0, pl.col(SIGN) > 0]
        order = [AT, *(marked(s)[m] for s in (self.left, self.right) for m in (TS, *s.place))]
        known = changes.with_columns(was.alias("__old"), now.alias("__new"))
        known = known.sort("__new", *order, SIGN)  # NULL first: alone on the right
        self._note(known, stores)
        stores.note(known)
        update, minus = pl.col("__old") & pl.col("__new"), pl.col(SIGN) < 0
        if not self.withdraw:
            known = known.filter(~(update & minus))
        op = (
            pl.when(update & minus)
            .then(pl.lit("-U"))
            .when(update)
            .then(pl.lit("+U"))
            .when(minus)
            .then(pl.lit("-D"))
            .otherwise(pl.lit("+I"))
        )
        one_more = (pl.col(WAS) + (~(update & minus)).cast(pl.Int32)).cast(pl.Int32)
        return known.select(*self.output, op.alias(OP), EMIT, one_more.alias(REVISION), ROW_KEY)

    def _note(self, known: pl.DataFrame, stores: Stores) -> None:
        """Keep the revisions that are not the first."""
        if self.repeats:
            last = known.with_columns(self._time, pl.col(WAS) + 1).unique(ROW_KEY)
            stores[TOLD].put(last.filter(pl.col(WAS) > 0).select(*stores[TOLD].layout.schema))

    def retire(self, stores: Stores, floor: int) -> None:
        if self.repeats:
            stores[TOLD].expire(floor)
