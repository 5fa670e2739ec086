"""The ledger of results that are computed anew when they go out: windows, frames of OVER, ranks.

It knows of each result what was emitted and what is pending (`records`), and decides when it goes
out. An operator says what a batch touches, which results become final, which are open, and what
their values are now (`Results`). Values are asked for only when something is emitted: a sum may
leave its type while it waits, and come back.

| call      | goes out                                                              |
|-----------|-----------------------------------------------------------------------|
| `close`   | what becomes final: `full`, once; if it was forced before, by LATE    |
| `on_tick` | if TIMEOUT is over, open results, not forced yet: `full`, by force;   |
|           | then what is due: `late` if final or forced, else `early`             |
| `on_end`  | final or forced ones that are pending: `late`; then open ones, by force |

A result that holds no row any more and stands goes out `-D`, by the same rules; one that does
not stand goes without a word. Early and late, one that is as it was emitted does not go out.

Results are *chosen*, identities with their records and `__word`, and then emitted with their
cohort: all that must go out with them.

Worked example, EARLY EVERY 4 ROWS, LATE EVERY 10 s: 3 rows at now = 0 leave revision -1, 3
pending, no due; 2 more at now = 5 make it due; it goes out `+I early 0`, nothing pending. It
becomes final: `+U full 1`. A late row at now = 20 s: due at 30 s, then `+U late 2`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property

import polars as pl

from sqlwin.kernels.columns import beside, constant
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything, timeout_at
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.operators.emitter.kernel import changelog, goes_out, is_first
from sqlwin.operators.emitter.records import LATE, ResultRecords
from sqlwin.operators.emitter.schema import DUE, EXISTS, FORCED, OLD, PENDING, STANDS, STORE, WORD
from sqlwin.operators.state_queries import stated
from sqlwin.polars_frames import empty, stacked, where
from sqlwin.policies import Late, Policy
from sqlwin.schema import REVISION

OWN = pl.when(LATE).then(pl.lit("late")).otherwise(pl.lit("early"))
"""What an emission of a result is called by itself, when it becomes final aside."""
FULL = pl.lit("full")


class Results(ABC):
    """An operator whose results a ledger emits. ids: a frame with the ledger's identity."""

    policy: Policy
    update_before: bool = False
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
        return self._nothing

    @cached_property
    def _nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})


@dataclass(frozen=True)
class ResultLedger(ResultRecords):
    # When it goes out.

    def close(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self.emit_all(self.closing(ids, stores), stores)

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        out = self.emit_all(self._due(now, stores), stores)
        if stores.pending is not None and stores.pending <= now:  # of records whose TTL expired
            self.renew_deadline(stores)
        return out

    def on_end(self, stores: Stores) -> pl.DataFrame:
        late = self.emit_all(self._all_late(stores), stores)
        return pl.concat([late, self.emit_all(self.all_open(stores), stores)])

    def emit(self, known: pl.DataFrame, word: pl.Expr, stores: Stores) -> pl.DataFrame:
        return self.emit_all([known.with_columns(word.alias(WORD))], stores)

    def again(self, records: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Emit results of records by their own word."""
        return self.emit_all([self.own(records, stores)], stores)

    def retire(self, horizons: pl.DataFrame, stores: Stores) -> None:
        """Drop records of keys below `__floor`; what was pending there was emitted."""
        stores[STORE].cut(horizons)

    # What is chosen.

    def closing(self, ids: pl.DataFrame, stores: Stores) -> Iterator[pl.DataFrame]:
        """Results that become final, each once: `full`, unless it was forced.

        What came into a forced one goes by LATE, which has a time for it; under LATE NEVER
        this is its time.
        """
        if ids.is_empty():
            return
        known = self.known(ids, stores)
        full = where(known, ~known[FORCED])
        yield beside(full, constant(WORD, "full", pl.String(), len(full)))
        if self.policy.late is Late.NEVER:
            changed = known.filter(FORCED, pl.col(PENDING) > 0)
            yield changed.with_columns(pl.lit("late").alias(WORD))

    def own(self, records: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Results of records, by their own word."""
        if records.is_empty():
            return records
        return self.results.judged(records, stores).with_columns(OWN.alias(WORD))

    def all_open(self, stores: Stores) -> Iterator[pl.DataFrame]:
        """Every open result full, by force, if it was not yet."""
        known = self.known(self.results.open_results(stores), stores).filter(~pl.col(FORCED))
        removed = self.known(self.emptied(known, stores), stores)
        removed = self.results.judged(removed, stores).filter(~LATE) if len(removed) else removed
        yield removed.with_columns(FULL.alias(WORD))
        yield known.with_columns(FULL.alias(WORD), pl.lit(True).alias(FORCED))

    def _all_late(self, stores: Stores) -> Iterator[pl.DataFrame]:
        """Every correction that is pending, due or not."""
        records = self.pending(stores)
        if len(records):
            yield self.own(records, stores).filter(LATE)

    def _due(self, now: int, stores: Stores) -> Iterator[pl.DataFrame]:
        at = timeout_at(self.policy.timeout, stores)
        if at is not None and now >= at:  # before what is due: an early result is in it
            stores.last_input = None  # TIMEOUT begins anew with the next row
            yield from self.all_open(stores)
        if stores.pending is not None and now >= stores.pending:
            yield self.own(everything(stores, STORE).filter(pl.col(DUE) <= now), stores)

    # What goes out.

    def emit_all(self, chosen: Iterable[pl.DataFrame], stores: Stores) -> pl.DataFrame:
        """Emit results as they are now, and settle their records; one after the other: what goes
        out is settled before the next are chosen."""
        return stacked([self.results.nothing(), *(self._emit(one, stores) for one in chosen)])

    def _emit(self, chosen: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if chosen.is_empty():
            return self.results.nothing()
        results = self._now(chosen, stores)
        return self.send(self.cohort(results, stores) if len(results) else results, stores)

    def send(self, results: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Emit results with values, `__exists` and `__word`. A first, unforced emission leaves no
        record."""
        if results.is_empty():
            return self.results.nothing()
        goes = goes_out(self.kept)
        known = pl.col(PENDING).is_not_null() | pl.col(FORCED)
        unknown = results[PENDING].null_count() == len(results) and not results[FORCED].any()
        if self.recorded or not unknown:
            recorded = results if self.recorded else results.filter(known)
            went = self.revised(recorded.filter(goes))
            self.quiet(pl.concat([went, recorded.filter(~goes).select(went.columns)]), stores)
        return self.changes(results if is_first(results) else results.filter(goes))

    def cohort(self, results: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """`results`, and what must go out with them."""
        return results

    def looked_at(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Results as a state query has them, with values; nothing is emitted or settled."""
        judged = self.results.judged(self.known(ids, stores), stores)
        return stated(self.results.valued(judged, stores))

    def _now(self, known: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """With values and `__exists`; of what holds no row that which stands."""
        there = self.results.valued(known, stores)
        there = beside(there, constant(EXISTS, True, pl.Boolean(), len(there)))
        if len(there) == len(known):
            return there
        empty_ = known.join(there, on=list(self.identity), how="anti", nulls_equal=True)
        self.quiet(empty_.filter(~pl.col(STANDS), pl.col(PENDING) > 0), stores)
        removed = empty_.filter(STANDS).with_columns(pl.lit(False).alias(EXISTS))
        return pl.concat([there, removed], how="diagonal") if len(removed) else there

    def changes(self, results: pl.DataFrame) -> pl.DataFrame:
        """What is emitted of results with values, `__exists` and `__word`."""
        return changelog(
            self.results.presented(results), self.results.output, self.results.update_before
        )

    def revised(self, sent: pl.DataFrame) -> pl.DataFrame:
        """Records of results that go out: one revision more, with the values of now."""
        there = pl.col(EXISTS)
        return sent.with_columns(
            (pl.col(REVISION) + 1).cast(pl.Int32),
            there.alias(STANDS),
            (there & pl.col(FORCED)).alias(FORCED),
            *(pl.when(there).then(n).otherwise(OLD + n).alias(OLD + n) for n in self.kept),
        )
