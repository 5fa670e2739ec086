"""Records of results: what was emitted of each, and what is pending.

A record exists of a result that was changed under an early or late policy, or that an end of
input or a TIMEOUT emitted by force. Most results are emitted once, when they are final, and have
none: that the watermark is past one that held a row says that it went out, revision 0, and stands
with the values that it had before the batch. That is *implied*, but where every emission leaves
a record.

Invariants: `Stores.pending` is the least `__due` of all records. An open result that stands and
holds no row has a record and is pending.

Worked example, LATE EVERY 10 s: the total of [0, 60) was emitted when it was final, 1, and no
record was made. A late row at now = 5: implied are revision 0, that it stands, and 1 as the value
before. Its record has these, one row pending, and 15 as `__due`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.columns import beside, constant
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds, everything
from sqlwin.operators.emitter.kernel import due
from sqlwin.operators.emitter.schema import (
    ADDED,
    DUE,
    FINAL,
    FORCED,
    OLD,
    PENDING,
    RECORD,
    STANDS,
    STORE,
)
from sqlwin.polars_frames import where, whole
from sqlwin.policies import Late, Policy
from sqlwin.schema import REVISION

if TYPE_CHECKING:
    from sqlwin.operators.emitter.results import Results

IMPLIED, _BEFORE = "__implied", "__soon"

LATE = pl.col(FINAL) | pl.col(FORCED)


@dataclass(frozen=True)
class ResultRecords:
    """identity: the columns that know a result, `time` among them. kept: output columns whose
    last emitted values are kept: all that may change.

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

    # What is known of a result.

    def known(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """`ids`, each with its record beside it, in their order.

        Where there is none it was never emitted and is not forced, and all else is NULL; so
        `__pending` is NULL iff there is no record.
        """
        records = self._records(ids, stores)
        absent = {REVISION: -1, STANDS: False, FORCED: False}
        if records.is_empty():
            rest = {n: t for n, t in records.schema.items() if n not in self.identity}
            return beside(ids, *(constant(n, absent.get(n), t, len(ids)) for n, t in rest.items()))
        on = list(self.identity)
        ids, records = whole(ids), whole(records)
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
        known, held = whole(known), whole(held)
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
        changed = known.with_columns(counted, pl.col(DUE).alias(_BEFORE))
        renewed = self._worth(changed).with_columns(due(self.policy, LATE, now))
        self._put(renewed, stores, renewed[_BEFORE])

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
            return held.clear()[list(self.identity)]
        records = stores[STORE].scan(lo, hi).filter(STANDS, pl.col(PENDING) > 0)
        on = list(self.identity)
        return records.join(held, on=on, how="anti", nulls_equal=True).select(on)

    def pending(self, stores: Stores, before: int = END) -> pl.DataFrame:
        """Records with rows that were not emitted, of results whose time is below `before`."""
        held = stores[STORE].scan(START, before)
        return where(held, held[PENDING] > 0) if held.height else held

    def any_open(self, stores: Stores) -> bool:
        """Whether results that are not final have records."""
        return len(stores[STORE].scan(stores.watermark + 1, END)) > 0

    # Writing.

    def quiet(self, records: pl.DataFrame, stores: Stores) -> None:
        """Records of results of which nothing is pending any more."""
        nothing = {DUE: pl.lit(None, pl.Int64), PENDING: pl.lit(0, pl.Int64)}
        self._put(records.with_columns(**nothing), stores, records[DUE])

    def _put(self, records: pl.DataFrame, stores: Stores, before: pl.Series) -> None:
        """Write records; before: when they were due until now."""
        if records.is_empty():
            return
        stores[STORE].put(records[list(self.columns)])
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
