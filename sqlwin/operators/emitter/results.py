"""The ledger of results that are computed anew when they go out: windows, frames of OVER, ranks.

It knows of each result what was emitted and what is pending, and decides when it goes out. An
operator says what a batch touches, which results become final, which are open, and what their
values are now (`Results`). Values are asked for only when something is emitted: a sum may leave
its type while it waits, and come back.

**Implied.** Most results are emitted once, when they are final, and have no record: that the
watermark is past one that held a row says that it went out, revision 0, and stands with the
values that it had before the batch. A record exists of a result that was changed under an early
or late policy, or that an end of input or a TIMEOUT emitted by force.

| call      | goes out                                                              |
|-----------|-----------------------------------------------------------------------|
| `close`   | what becomes final: `full`, once; if it was forced before, by LATE    |
| `on_tick` | if TIMEOUT is over, open results, not forced yet: `full`, by force;   |
|           | then what is due: `late` if final or forced, else `early`             |
| `on_end`  | final or forced ones that are pending: `late`; then open ones, by force |

A result that holds no row any more and stands goes out `-D`, by the same rules; one that does
not stand goes without a word.

Invariants: `Stores.pending` is the least `__due` of all records. An open result that stands and
holds no row has a record and is pending.

Worked example, EARLY EVERY 4 ROWS, LATE EVERY 10 s: 3 rows at now = 0 leave revision -1, 3
pending, no due; 2 more at now = 5 make it due; it goes out `+I early 0`, nothing pending. It
becomes final: `+U full 1`. A late row at now = 20 s: due at 30 s, then `+U late 2`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from sqlwin.instants import END, START
from sqlwin.operators.contract import Stores, bounds, everything, timeout_at
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.operators.emitter.kernel import changelog, due
from sqlwin.operators.emitter.schema import (
    ADDED,
    DUE,
    EXISTS,
    FINAL,
    FORCED,
    OLD,
    PENDING,
    RECORD,
    STANDS,
    STORE,
    WORD,
)
from sqlwin.operators.state_queries import stated
from sqlwin.policies import Late, Policy
from sqlwin.schema import REVISION, empty

WAITED = "__waited"
IMPLIED = "__implied"

LATE = pl.col(FINAL) | pl.col(FORCED)
OWN = pl.when(LATE).then(pl.lit("late")).otherwise(pl.lit("early"))
"""What an emission of a result is called by itself, when it becomes final aside."""
FULL = pl.lit("full")


class Results(ABC):
    """An operator whose results a ledger emits. ids: a frame with the ledger's identity."""

    policy: Policy
    withdraw: bool = False
    weighted: bool = False

    @property
    @abstractmethod
    def output(self) -> dict[str, pl.DataType]:
        """The columns of an emission, before those of a change."""

    @property
    @abstractmethod
    def ledger(self) -> ResultLedger: ...

    @abstractmethod
    def judged(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """`ids` with `__final`."""

    @abstractmethod
    def open_results(self, stores: Stores) -> pl.DataFrame:
        """Identities of those that hold a row and are not final."""

    @abstractmethod
    def valued(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """`ids` with their values beside them; one that holds no row is left out."""

    def implied(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of final, unrecorded `ids` that held a row before the batch, with their values
        where the ledger keeps any; the batch is not stored yet."""
        return self.valued(ids, stores)

    @abstractmethod
    def presented(self, results: pl.DataFrame) -> pl.DataFrame:
        """Results in the order in which they are emitted, with `output` and `__row_key`."""

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        return self.ledger.on_tick(now, stores)

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        return self.ledger.on_end(stores)

    def next_deadline(self, stores: Stores) -> int | None:
        times = (stores.pending, timeout_at(self.policy.timeout, stores))
        return min((time for time in times if time is not None), default=None)

    def nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})


@dataclass(frozen=True)
class ResultLedger:
    """identity: the columns that know a result, `time` among them. kept: output columns whose
    last emitted values are kept, none where nothing is retracted.

    recorded: each result that goes out leaves a record, for its being final implies nothing.
    """

    results: Results
    identity: tuple[str, ...]
    time: str
    kept: tuple[str, ...]
    recorded: bool = False

    @property
    def policy(self) -> Policy:
        return self.results.policy

    @cached_property
    def old(self) -> tuple[str, ...]:
        return tuple(OLD + name for name in self.kept)

    @property
    def columns(self) -> tuple[str, ...]:
        """Of a record."""
        return (*self.identity, *RECORD, *self.old)

    def schema(self, types: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
        """Of a record, given the types of the identity and of the output."""
        known = {name: types[name] for name in self.identity}
        return {**known, **RECORD, **{OLD + name: types[name] for name in self.kept}}

    # Records.

    def known(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """`ids`, each with its record beside it, in their order.

        Where there is none it was never emitted and is not forced, and all else is NULL; so
        `__pending` is NULL iff there is no record.
        """
        records = self._records(ids, stores)
        absent = {REVISION: -1, STANDS: False, FORCED: False}
        if records.is_empty():
            rest = {n: t for n, t in records.schema.items() if n not in self.identity}
            return ids.with_columns(pl.lit(absent.get(n), t).alias(n) for n, t in rest.items())
        on = list(self.identity)
        joined = ids.join(records, on=on, how="left", nulls_equal=True, maintain_order="left")
        return joined.with_columns(
            pl.col(name).fill_null(pl.lit(value, RECORD[name])) for name, value in absent.items()
        )

    def before(self, touched: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Results that a batch touches, which is not stored yet, with what was emitted of them.

        touched: identity, `__added` and `__final`, one line a result: those that are open
        under EARLY, forced, or final and not LATE NEVER; where rows may be retracted all that
        are final or recorded.
        """
        if touched.is_empty():
            return touched
        known = self.known(touched, stores)
        plain = known.filter(pl.col(PENDING).is_null(), FINAL).select(touched.columns)
        return (
            known if plain.is_empty() else self.implying(known, self.results.implied(plain, stores))
        )

    def implying(self, known: pl.DataFrame, once: pl.DataFrame) -> pl.DataFrame:
        """`known`, where those that are among `once` and have no record were emitted once, with
        the values that they have there."""
        if once.is_empty():
            return known
        held = once.select(
            *self.identity,
            pl.lit(True).alias(IMPLIED),
            *(pl.col(name).alias(f"{IMPLIED}.{name}") for name in self.kept),
        )
        on = list(self.identity)
        joined = known.join(held, on=on, how="left", nulls_equal=True, maintain_order="left")
        emitted = pl.col(IMPLIED).is_not_null()
        old = [
            pl.when(emitted).then(f"{IMPLIED}.{name}").otherwise(OLD + name).alias(OLD + name)
            for name in self.kept
        ]
        return joined.with_columns(
            pl.when(emitted).then(0).otherwise(REVISION).cast(pl.Int32).alias(REVISION),
            (pl.col(STANDS) | emitted).alias(STANDS),
            *old,
        ).drop(held.columns[len(on) :])

    def on_batch(self, known: pl.DataFrame, stores: Stores, now: int) -> None:
        """Note what a batch changed; known: of `before`, and the batch is stored since."""
        if known.is_empty():
            return
        counted = pl.col(PENDING).fill_null(0) + pl.col(ADDED)
        changed = known.with_columns(counted, pl.col(DUE).alias("__soon"))
        renewed = self._worth(changed).with_columns(due(self.policy, LATE, now))
        self._put(renewed, stores, renewed["__soon"])

    @property
    def _goes(self) -> pl.Expr:
        """Whether a policy will emit a change of a result.

        LATE NEVER emits one that was forced when it becomes final, for the force could not know.
        """
        corrected = ~pl.col(FINAL) if self.policy.late is Late.NEVER else pl.lit(True)
        return pl.when(LATE).then(corrected).otherwise(pl.lit(self.policy.early is not None))

    def _worth(self, changed: pl.DataFrame) -> pl.DataFrame:
        """Those that need a record: they will be emitted, or without it something is implied
        that is not so. Of these nothing is pending."""
        untrue = (pl.col(FINAL) & ~pl.col(STANDS)) | (pl.col(PENDING) > pl.col(ADDED))
        pending = pl.when(self._goes).then(PENDING).otherwise(0).alias(PENDING)
        return changed.filter(self._goes | (untrue & self.results.weighted)).with_columns(pending)

    def note(self, known: pl.DataFrame, stores: Stores) -> None:
        """These have such records from now on; when they are due stays."""
        if len(known):
            noted = known.with_columns(pl.col(PENDING).fill_null(0))
            stores[STORE].put(noted.select(self.columns))

    def emptied(
        self, held: pl.DataFrame, stores: Stores, lo: int = START, hi: int = END
    ) -> pl.DataFrame:
        """Identities of results with lo <= time < hi that stand, are pending, and are not among
        `held`, those that hold a row."""
        if not self.results.weighted:
            return held.select(self.identity).clear()
        records = stores[STORE].scan(lo, hi).filter(STANDS, pl.col(PENDING) > 0)
        on = list(self.identity)
        return records.join(held, on=on, how="anti", nulls_equal=True).select(on)

    def pending(self, stores: Stores, before: int = END) -> pl.DataFrame:
        """Records with rows that were not emitted, of results whose time is below `before`."""
        return stores[STORE].scan(START, before).filter(pl.col(PENDING) > 0)

    def any_open(self, stores: Stores) -> bool:
        """Whether results that are not final have records."""
        return len(stores[STORE].scan(stores.watermark + 1, END)) > 0

    # When it goes out.

    def close(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Results that become final, each once: `full`, unless it was forced.

        What came into a forced one goes by LATE, which has a time for it; under LATE NEVER
        this is its time.
        """
        if ids.is_empty():
            return self.results.nothing()
        known = self.known(ids, stores)
        full = self.emit(known.filter(~pl.col(FORCED)), FULL, stores)
        if self.policy.late is not Late.NEVER:
            return full
        changed = known.filter(FORCED, pl.col(PENDING) > 0)
        return pl.concat([full, self.emit(changed, pl.lit("late"), stores)])

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        silent = self._silent(now, stores)  # before what is due: an early result is in it
        if stores.pending is None or now < stores.pending:
            return silent
        records = everything(stores, STORE).filter(pl.col(DUE) <= now)
        return pl.concat([silent, self.again(records, stores)])

    def on_end(self, stores: Stores) -> pl.DataFrame:
        return pl.concat([self.all_late(stores), self.all_open(stores)])

    def again(self, records: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Emit results of records by their own word."""
        if records.is_empty():
            return self.results.nothing()
        return self.emit(self.results.judged(records, stores), OWN, stores)

    def all_late(self, stores: Stores) -> pl.DataFrame:
        """Every correction that is pending, due or not."""
        records = self.pending(stores)
        if records.is_empty():
            return self.results.nothing()
        return self.emit(self.results.judged(records, stores).filter(LATE), OWN, stores)

    def all_open(self, stores: Stores) -> pl.DataFrame:
        """Emit every open result full, by force, if it was not yet."""
        known = self.known(self.results.open_results(stores), stores).filter(~pl.col(FORCED))
        gone = self.known(self.emptied(known, stores), stores)
        gone = self.results.judged(gone, stores).filter(~LATE) if len(gone) else gone
        full = self.emit(known, FULL, stores, forced=True)
        return pl.concat([self.emit(gone, FULL, stores), full])

    def _silent(self, now: int, stores: Stores) -> pl.DataFrame:
        """The open results, if TIMEOUT is over; it begins anew with the next row."""
        at = timeout_at(self.policy.timeout, stores)
        if at is None or now < at:
            return self.results.nothing()
        stores.last_input = None
        return self.all_open(stores)

    # What goes out.

    def emit(
        self, known: pl.DataFrame, word: pl.Expr, stores: Stores, forced: bool = False
    ) -> pl.DataFrame:
        """Emit these results as they are now, and settle their records.

        known: with their records beside them. A first, unforced emission leaves no record.
        """
        if known.is_empty():
            return self.results.nothing()
        results = self._now(known.with_columns(word.alias(WORD)), stores)
        return self.emit_valued(results, stores, forced)

    def emit_valued(
        self, results: pl.DataFrame, stores: Stores, forced: bool = False
    ) -> pl.DataFrame:
        """As `emit`, of results with values, `__exists` and `__word`."""
        if results.is_empty():
            return self.results.nothing()
        results = self.cohort(results, stores)
        every = forced or self.recorded
        recorded = results if every else results.filter(pl.col(PENDING).is_not_null())
        self._settle(recorded, stores, forced)
        return self.changes(results)

    def cohort(self, results: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """`results`, and what must go out with them."""
        return results

    def as_they_are(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Emissions of these results, whether their time has come or not, and `__waited`:
        whether they were pending. From now on they are not.
        """
        if ids.is_empty():
            return self.results.nothing().with_columns(pl.lit(False).alias(WAITED))
        judged = self.results.judged(self.known(ids, stores), stores)
        results = self._now(judged.with_columns(OWN.alias(WORD)), stores)
        waited = pl.col(PENDING).fill_null(0) > 0
        sent = self.emit_valued(results.filter(waited), stores)
        parts = ((sent, True), (self.changes(results.filter(~waited)), False))
        return pl.concat([part.with_columns(pl.lit(w).alias(WAITED)) for part, w in parts])

    def looked_at(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Results as a state query has them, with values; nothing is emitted or settled."""
        judged = self.results.judged(self.known(ids, stores), stores)
        return stated(self.results.valued(judged, stores))

    def _now(self, known: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """With values and `__exists`; of what holds no row that which stands."""
        there = self.results.valued(known, stores).with_columns(pl.lit(True).alias(EXISTS))
        if len(there) == len(known):
            return there
        empty_ = known.join(there, on=list(self.identity), how="anti", nulls_equal=True)
        self._quiet(empty_.filter(~pl.col(STANDS), pl.col(PENDING) > 0), stores)
        gone = empty_.filter(STANDS).with_columns(pl.lit(False).alias(EXISTS))
        return pl.concat([there, gone], how="diagonal") if len(gone) else there

    def changes(self, results: pl.DataFrame) -> pl.DataFrame:
        """What is emitted of results with values, `__exists` and `__word`."""
        return changelog(
            self.results.presented(results), self.results.output, self.results.withdraw
        )

    def _settle(self, sent: pl.DataFrame, stores: Stores, forced: bool = False) -> None:
        """These went out: one revision more, and nothing is pending."""
        if sent.is_empty():
            return
        there = pl.col(EXISTS)
        last = [pl.when(there).then(n).otherwise(OLD + n).alias(OLD + n) for n in self.kept]
        self._quiet(
            sent.with_columns(
                (pl.col(REVISION) + 1).cast(pl.Int32),
                there.alias(STANDS),
                (there & (pl.col(FORCED) | pl.lit(forced))).alias(FORCED),
                *last,
            ),
            stores,
        )

    def _quiet(self, records: pl.DataFrame, stores: Stores) -> None:
        """Records of results of which nothing is pending any more."""
        nothing = {DUE: pl.lit(None, pl.Int64), PENDING: pl.lit(0, pl.Int64)}
        self._put(records.with_columns(**nothing), stores, records[DUE])

    def _put(self, records: pl.DataFrame, stores: Stores, before: pl.Series) -> None:
        """Write records; before: when they were due until now."""
        if records.is_empty():
            return
        stores[STORE].put(records.select(self.columns))
        later = records[DUE].is_null() | (records[DUE] > before)
        if (later & before.is_not_null()).any():
            self.renew_deadline(stores)
        else:
            stores.pending = least([stores.pending, records[DUE].min()])

    def renew_deadline(self, stores: Stores) -> None:
        """Records were written or dropped that were due."""
        stores.pending = everything(stores, STORE)[DUE].min()  # type: ignore[assignment]

    def _records(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return stores[STORE].scan(*bounds(ids[self.time]))


def least(times: Iterable[object]) -> int | None:
    return min((int(time) for time in times if time is not None), default=None)  # type: ignore[call-overload]
