"""What operators over time share: what waits goes out when its time comes.

An operator says which windows are full (`_judged`), which are open (`_open`), what
their values are (`_valued`) and how an emission looks (`_changes`). The rest is
one rule for all of them:

| call     | goes out                                                             |
|----------|----------------------------------------------------------------------|
| on_tick  | if the stream was silent for TIMEOUT, open windows not shown: `full`;  |
|          | then records due by now: `early` if the window is open, else `late`   |
| on_end   | full or shown windows that wait: `late`; then open ones not shown: `full` |

    _close(closing, stores)   windows that become full, for on_watermark -> emissions
    _again(records, stores)   records of `Revisions` -> emissions, early or late
    _send(known, emit, …)     windows of `Revisions.was`, with values -> emissions, settled

A frame of windows holds the identity and the columns `Revisions.was` adds. `_valued`
gets frames of `_open`, of `closing` and of records, and keeps their columns. It is
asked only for what is emitted: a sum may leave its type while it waits, and come back.

Worked example, EARLY EVERY 1 minute, TIMEOUT 5 minutes: a row at now = 0 opens a
window, which is due at 1 minute and goes out `early`, revision 0; nothing comes, and
at 5 minutes it goes out `full`, revision 1, and is shown: a row that comes then makes
it due again 10 s later, `late`, revision 2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import polars as pl

from sqlwin.operators.contract import Stores, silent_at
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA, WAS
from sqlwin.operators.emitter.revisions import LATE, SHOWN, WAITING, WORD, Revisions
from sqlwin.operators.emitter.withdrawals import Withdrawals
from sqlwin.operators.state_queries import stated
from sqlwin.policies import Late, Policy
from sqlwin.schema import REVISION, empty

WAITED = "__waited"


class Correcting(ABC):
    """A window operator that emits early, full and late.

    recorded: a window that goes out leaves a record, even where `closed` would say it all.
    """

    policy: Policy
    weighted: bool = False
    recorded: bool = False

    @property
    @abstractmethod
    def output(self) -> dict[str, pl.DataType]:
        """The columns of an emission, before those of a change."""

    @property
    @abstractmethod
    def revisions(self) -> Revisions: ...

    @abstractmethod
    def floors(self, stores: Stores) -> pl.DataFrame:
        """Bucket keys and `__floor`: of RETAIN n ROWS; a late row below its floor is expired."""

    @abstractmethod
    def _judged(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """`windows` with `__full`: whether `closed` says that they are."""

    @abstractmethod
    def _open(self, stores: Stores) -> pl.DataFrame:
        """Identities of the windows that hold a row and are not full."""

    @abstractmethod
    def _valued(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """`windows` with their values beside them; one that holds no row is left out."""

    @abstractmethod
    def _changes(self, known: pl.DataFrame, emit: str | pl.Expr) -> pl.DataFrame:
        """Emissions of windows with values and `__was`, ordered; `emit` as in `changes`."""

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        silent = self._silent(now, stores)  # before what is due: an early result is in it
        return pl.concat([silent, self._again(self.revisions.due(stores, now), stores)])

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        return pl.concat([self.all_late(stores), self.all_open(stores)])

    @property
    def ledger(self) -> Any:
        """Until all have one."""
        return self

    def all_late(self, stores: Stores) -> pl.DataFrame:
        """Every correction that waits, due or not."""
        return self._again(self.revisions.waiting(stores), stores, late_only=True)

    def next_deadline(self, stores: Stores) -> int | None:
        times = (stores.pending, silent_at(self.policy.timeout, stores))
        return min((time for time in times if time is not None), default=None)

    def as_they_are(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Emissions of these windows, whether their time has come or not, and `__waited`:
        whether they had rows not emitted. From now on they have none.
        """
        if windows.is_empty():
            return self.nothing().with_columns(pl.lit(False).alias(WAITED))
        judged = self._judged(self.revisions.was(windows, stores), stores)
        valued = self._with_emptied(judged, self._valued(judged, stores), stores)
        waited = pl.col(WAITING).fill_null(0) > 0
        self.revisions.settle(valued.filter(waited), stores)
        parts = ((valued.filter(waited), True), (valued.filter(~waited), False))
        emitted = [
            self._changes(part, WORD).with_columns(pl.lit(w).alias(WAITED)) for part, w in parts
        ]
        return pl.concat(emitted)

    def looked_at(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """These windows as `asking` has them, with values; nothing is emitted or settled."""
        judged = self._judged(self.revisions.was(windows, stores), stores)
        return stated(self._valued(judged, stores).with_columns(pl.col(WAS).alias(REVISION)))

    def nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})

    def _close(self, closing: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Windows that become full, each once: `full`, unless one was shown so already.

        What came into a shown one goes by the late policy, which has a time for it;
        under LATE NEVER this is its time.
        """
        if closing.is_empty():
            return self.nothing()
        known = self.revisions.was(closing, stores)
        full = self._tell(known.filter(~pl.col(SHOWN)), "full", stores)
        if self.policy.late is not Late.NEVER:
            return full
        changed = known.filter(pl.col(SHOWN), pl.col(WAITING) > 0)
        return pl.concat([full, self._tell(changed, "late", stores)])

    def _again(
        self, records: pl.DataFrame, stores: Stores, late_only: bool = False
    ) -> pl.DataFrame:
        """Emit windows of records: `late` the full and the shown ones, `early` the others."""
        if records.is_empty():
            return self.nothing()
        judged = self._judged(records, stores)
        return self._tell(judged.filter(LATE) if late_only else judged, WORD, stores)

    def _tell(
        self, windows: pl.DataFrame, emit: str | pl.Expr, stores: Stores, shown: bool = False
    ) -> pl.DataFrame:
        """`_send` with the values that windows have now."""
        if windows.is_empty():
            return self.nothing()
        valued = self._with_emptied(windows, self._valued(windows, stores), stores)
        return self._send(valued, emit, stores, shown)

    def _with_emptied(
        self, windows: pl.DataFrame, valued: pl.DataFrame, stores: Stores
    ) -> pl.DataFrame:
        if not isinstance(self.revisions, Withdrawals):
            return valued
        return self.revisions.with_emptied(windows, valued, stores)

    def _send(
        self, known: pl.DataFrame, emit: str | pl.Expr, stores: Stores, shown: bool = False
    ) -> pl.DataFrame:
        """Emit; windows with a record are settled, those without need none, unless `shown`:
        from now on they are known as shown."""
        if known.is_empty():
            return self.nothing()
        all_of_them = shown or self.recorded
        recorded = known if all_of_them else known.filter(pl.col(WAITING).is_not_null())
        self.revisions.settle(recorded, stores, shown)
        return self._changes(known, emit)

    def all_open(self, stores: Stores) -> pl.DataFrame:
        """Emit every open window full, if it was not yet."""
        known = self.revisions.was(self._open(stores), stores).filter(~pl.col(SHOWN))
        gone = self._emptied(known, stores)
        full = self._tell(known, "full", stores, shown=True)
        return pl.concat([self._tell(gone, "full", stores), full])

    def _emptied(self, held: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Open windows, not shown, that were told and hold no row any more; `held` do."""
        if not isinstance(self.revisions, Withdrawals):
            return held.clear()
        gone = self.revisions.emptied(held, stores)
        judged = self._judged(self.revisions.was(gone, stores), stores)
        return judged.filter(~LATE)

    def _silent(self, now: int, stores: Stores) -> pl.DataFrame:
        """The open windows, if TIMEOUT is over; it begins anew with the next row."""
        at = silent_at(self.policy.timeout, stores)
        if at is None or now < at:
            return self.nothing()
        stores.heard = None
        return self.all_open(stores)
