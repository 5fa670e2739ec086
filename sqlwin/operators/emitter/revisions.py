"""Which windows were emitted how often, and which wait to be emitted again.

Most windows are emitted once, when they are full, and need no record: that
`Stores.closed` is past a window says it all. A record exists only for a window
that a row touched under an early or late policy, or that an end of input or a
TIMEOUT emitted before it was full:

    identity | __was | __due | __waiting | __shown | __old.<value> …

`__was`: revision of the last emission, -1 where there was none. `__due`: processing
time of the next emission, NULL where no clock brings one. `__waiting`: rows not
emitted yet. `__shown`: an end or a TIMEOUT emitted it full. `__old.*`: the values last
emitted, kept only where withdrawals are wanted.

Invariant: `Stores.pending` is the least `__due` of all records.

    touch        rows came into windows: counts them, sets what is due
    was          windows with their records beside them
    unrecorded   windows that have none
    due, waiting the records due by an instant, those with rows not emitted
    settle       windows went out: one revision more, nothing waits

Worked example, EARLY EVERY 4 ROWS, LATE EVERY 10 s: 3 rows at now = 0 leave
(-1, NULL, 3, false), 2 more at now = 5 make it (-1, 5, 5, false); it goes out and
is (0, NULL, 0, false). It becomes full, goes out again: (1, NULL, 0, false). A late
row at now = 20 s: (1, 30 s, 1, false).
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.instants import END, START
from sqlwin.operators.contract import Stores, bounds, everything
from sqlwin.operators.emitter.changes import WAS
from sqlwin.operators.emitter.schema import ADDED, DUE, FINAL, FORCED, OLD, PENDING, STORE
from sqlwin.policies import Early, Late, Policy

WAITING, SHOWN, FULL = PENDING, FORCED, FINAL
RECORD: dict[str, pl.DataType] = {
    WAS: pl.Int32(),
    DUE: pl.Int64(),
    WAITING: pl.Int64(),
    SHOWN: pl.Boolean(),
}
UNRECORDED: dict[str, int | bool] = {WAS: -1, SHOWN: False}
"""What stands in the record of a window that has none; all else is NULL."""

LATE = pl.col(FULL) | pl.col(SHOWN)
WORD = pl.when(LATE).then(pl.lit("late")).otherwise(pl.lit("early"))
"""What an emission of a window with its record beside it is called, at its close aside."""


@dataclass(frozen=True)
class Revisions:
    """identity: the columns that know a window, `time` among them.

    remembered: the output columns kept as old values, none where none is withdrawn.
    """

    identity: tuple[str, ...]
    time: str
    remembered: tuple[str, ...]

    @property
    def record(self) -> dict[str, pl.DataType]:
        """The columns of a record between its identity and its old values."""
        return RECORD

    @property
    def absent(self) -> dict[str, int | bool]:
        """What stands in the record of a window that has none."""
        return UNRECORDED

    @property
    def old(self) -> tuple[str, ...]:
        return tuple(OLD + name for name in self.remembered)

    def columns(self, types: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
        """The columns of a record, given those of the operator's output."""
        known = {name: types[name] for name in self.identity}
        return {**known, **self.record, **{OLD + name: types[name] for name in self.remembered}}

    def touch(self, touched: pl.DataFrame, stores: Stores, now: int, policy: Policy) -> None:
        """Rows came into windows: one line for each window, whose record is made or renewed.

        touched: identity, `__added` (Int64, how many rows came), `__full` (Boolean, whether
        `closed` says that it is full) and, for a window that has no record, what is
        known without one: `__was` (Int32: 0 where it went out full, else -1) and the
        `__old.*` of that. A record's own win. A window that was shown counts as full.
        """
        if touched.is_empty():
            return
        records = self.beside(touched, stores).with_columns(pl.col(WAITING) + pl.col(ADDED))
        due = pl.when(LATE).then(late_due(policy, now)).otherwise(early_due(policy, now))
        kept = self._kept(records.with_columns(due.cast(pl.Int64).alias(DUE)), policy)
        stores[STORE].put(kept.select(*self.identity, *self.record, *self.old))
        stores.pending = sooner(stores.pending, kept[DUE].min())  # type: ignore[arg-type]

    def beside(self, touched: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Windows as `touch` is told of them, with records: their own, else what is told."""
        told = touched.rename({name: f"{name}.told" for name in (WAS, *self.old)})
        first = pl.col(WAITING).is_null()
        known = self.was(told, stores).with_columns(
            pl.when(first).then(pl.col(f"{name}.told")).otherwise(name).alias(name)
            for name in (WAS, *self.old)
        )
        return known.with_columns(pl.col(WAITING).fill_null(0))

    def was(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """`windows`, each with its record beside it, in their order.

        Where there is none, `__was` is -1, `__shown` false and all else NULL;
        so `__waiting` is NULL iff there is no record.
        """
        known = self._records(windows, stores)
        if known.is_empty():
            rest = {name: t for name, t in known.schema.items() if name not in self.identity}
            return windows.with_columns(
                pl.lit(self.absent.get(name), t).alias(name) for name, t in rest.items()
            )
        return self._join(windows, known).with_columns(
            pl.col(name).fill_null(pl.lit(value, self.record[name]))
            for name, value in self.absent.items()
        )

    def unrecorded(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of `windows` that have no record, in their order."""
        known = self._records(windows, stores)
        if known.is_empty():
            return windows
        on = list(self.identity)
        return windows.join(known, on=on, how="anti", nulls_equal=True, maintain_order="left")

    def due(self, stores: Stores, now: int) -> pl.DataFrame:
        """Records whose time has come; nothing is read where none's has."""
        if stores.pending is None or now < stores.pending:
            return stores[STORE].layout.empty()
        return everything(stores, STORE).filter(pl.col(DUE) <= now)

    def waiting(self, stores: Stores, before: int = END) -> pl.DataFrame:
        """Records with rows not emitted, of windows whose time is below `before`."""
        return stores[STORE].scan(START, before).filter(pl.col(WAITING) > 0)

    def settle(self, sent: pl.DataFrame, stores: Stores, shown: bool = False) -> None:
        """Record that `sent` (of `was`, with values) went out as revision `__was` + 1.

        shown: an end or a TIMEOUT emitted them full; else each stays what it was.
        """
        if sent.is_empty():
            return
        waited = sent[DUE].count() > 0
        stores[STORE].put(
            sent.select(
                *self.identity,
                (pl.col(WAS) + 1).cast(pl.Int32),
                pl.lit(None, pl.Int64).alias(DUE),
                pl.lit(0, pl.Int64).alias(WAITING),
                pl.lit(True).alias(SHOWN) if shown else pl.col(SHOWN),
                *(pl.col(name).alias(OLD + name) for name in self.remembered),
            )
        )
        if waited:
            stores.pending = everything(stores, STORE)[DUE].min()  # type: ignore[assignment]

    def _kept(self, records: pl.DataFrame, policy: Policy) -> pl.DataFrame:
        return records.filter(recorded(policy))

    def _join(self, windows: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
        return windows.join(
            known, on=list(self.identity), how="left", nulls_equal=True, maintain_order="left"
        )

    def _records(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return stores[STORE].scan(*bounds(windows[self.time]))


def early_due(policy: Policy, now: int) -> pl.Expr:
    """When an open window goes out; what is due sooner stays so."""
    due, at = pl.col(DUE), pl.lit(now, pl.Int64)
    if policy.early is Early.EVERY:
        return pl.min_horizontal(due, at + policy.early_period)
    if policy.early is Early.ON_UPDATE:
        return pl.min_horizontal(due, at)
    if policy.early is Early.ROWS:
        enough = pl.when(pl.col(WAITING) >= policy.early_rows).then(at)
        return pl.min_horizontal(due, enough)
    return pl.lit(None, pl.Int64)


def late_due(policy: Policy, now: int) -> pl.Expr:
    """When a full window goes out again: no later than an early change of it was to."""
    if policy.late is Late.NEVER:
        return pl.lit(None, pl.Int64)
    due = now + (policy.late_period if policy.late is Late.EVERY else 0)
    return pl.min_horizontal(DUE, pl.lit(due, pl.Int64))


def recorded(policy: Policy) -> pl.Expr:
    """Whether a change of the window will ever go out before it is full, or after.

    LATE NEVER keeps count of a window that was shown and is not full yet: its real
    close is to tell what the end of input could not know.
    """
    corrected = ~pl.col(FULL) if policy.late is Late.NEVER else pl.lit(True)
    return pl.when(LATE).then(corrected).otherwise(pl.lit(policy.early is not None))


def sooner(one: int | None, other: int | None) -> int | None:
    return min((time for time in (one, other) if time is not None), default=None)
