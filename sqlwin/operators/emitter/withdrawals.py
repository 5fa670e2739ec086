"""Revisions of windows that may lose all their rows, for the input withdraws some.

A window that was told and holds no row any more is told so: `-D`, with the values last
told and one revision more, when its policy says, or when it becomes full. One that was
never told goes without a word. Until then it waits as any window that was touched, and
should rows come again it is what it was; after its `-D` it is a new one, `+I`, one revision
on, and not shown. Beside the columns of `Revisions` a record has

    __withdrawn   the last emission was its -D

Invariant: an open window that was told and holds no row has a record, and waits or is
withdrawn.

Worked example, EARLY ON UPDATE: a row comes, `+I` 0. It is withdrawn: `-D` 1. Another
comes: `+I` 2. That one is replaced: `+U` 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.instants import END, START
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.changes import WAS
from sqlwin.operators.emitter.revisions import (
    FULL,
    RECORD,
    SHOWN,
    UNRECORDED,
    WAITING,
    Revisions,
    recorded,
)
from sqlwin.operators.emitter.schema import ADDED, DUE, OLD, STORE
from sqlwin.policies import Late, Policy

WITHDRAWN = "__withdrawn"
IS = "__is."
"""Before the name of a key that a window has, where it goes out with the one last told."""
GONE = "__gone"
"""Of a window that goes out: it holds no row any more."""

OUT = (pl.col(WAS) >= 0) & ~pl.col(WITHDRAWN)
"""Whether the last emission of a window stands."""


@dataclass(frozen=True)
class Withdrawals(Revisions):
    """Of windows over rows that may be withdrawn. All their columns are remembered."""

    @property
    def record(self) -> dict[str, pl.DataType]:
        return {**RECORD, WITHDRAWN: pl.Boolean()}

    @property
    def _moving(self) -> list[str]:
        """Of the identity what a row that is told anew may have another value of."""
        return [name for name in self.identity if name in self.remembered]

    @property
    def absent(self) -> dict[str, int | bool]:
        return {**UNRECORDED, WITHDRAWN: False}

    def touch(self, touched: pl.DataFrame, stores: Stores, now: int, policy: Policy) -> None:
        super().touch(touched, stores, now, policy)
        if stores.pending is not None and not _always(policy):
            # what waited may be due no more, see `_kept`
            stores.pending = everything(stores, STORE)[DUE].min()  # type: ignore[assignment]

    def note(self, told: pl.DataFrame, shown: pl.Expr, stores: Stores) -> None:
        """Windows as `touch` is told of them have a record from now on; which are shown."""
        if told.is_empty():
            return
        noted = self.beside(told, stores).with_columns((pl.col(SHOWN) | shown).alias(SHOWN))
        stores[STORE].put(noted.select(*self.identity, *self.record, *self.old))

    def emptied(
        self, held: pl.DataFrame, stores: Stores, lo: int = START, hi: int = END
    ) -> pl.DataFrame:
        """Identities of windows with lo <= time < hi that are out, wait, and are not in `held`."""
        records = stores[STORE].scan(lo, hi).filter(OUT & (pl.col(WAITING) > 0))
        on = list(self.identity)
        return records.join(held, on=on, how="anti", nulls_equal=True).select(on)

    def with_emptied(
        self, windows: pl.DataFrame, valued: pl.DataFrame, stores: Stores
    ) -> pl.DataFrame:
        """`valued`, those of `windows` that hold a row, and those that do not and are out:
        `__gone`, with the values last told. Of the others nothing waits any more.
        """
        on = list(self.identity)
        empty = windows.join(valued, on=on, how="anti", nulls_equal=True)
        self._forget(empty.filter(~OUT), stores)
        out = empty.filter(OUT).with_columns(
            *(pl.col(OLD + name).alias(name) for name in self.remembered),
            *(pl.col(name).alias(IS + name) for name in self._moving),
            pl.lit(True).alias(GONE),
        )
        there = valued.with_columns(pl.lit(False).alias(GONE))
        return there if out.is_empty() else pl.concat([there, out], how="diagonal")

    def settle(self, sent: pl.DataFrame, stores: Stores, shown: bool = False) -> None:
        """As in `Revisions`; one that is gone is withdrawn now, and should it come again, new."""
        if sent.is_empty():
            return
        there = ~pl.col(GONE)
        moving = [name for name in self._moving if IS + name in sent.columns]
        told = sent.with_columns(
            (pl.col(WAS) + 1).cast(pl.Int32),
            (there & (pl.col(SHOWN) | pl.lit(shown))).alias(SHOWN),
            pl.col(GONE).alias(WITHDRAWN),
            *(pl.col(name).alias(OLD + name) for name in self.remembered),
            *(pl.when(there).then(name).otherwise(IS + name).alias(name) for name in moving),
        )
        self._put_quiet(told, stores)

    def _forget(self, untold: pl.DataFrame, stores: Stores) -> None:
        self._put_quiet(untold.filter(pl.col(WAITING) > 0), stores)

    def _put_quiet(self, records: pl.DataFrame, stores: Stores) -> None:
        """Records of windows in which nothing waits any more."""
        if records.is_empty():
            return
        waited = records[DUE].count() > 0
        quiet = records.with_columns(
            pl.lit(None, pl.Int64).alias(DUE), pl.lit(0, pl.Int64).alias(WAITING)
        )
        stores[STORE].put(quiet.select(*self.identity, *self.record, *self.old))
        if waited:
            stores.pending = everything(stores, STORE)[DUE].min()  # type: ignore[assignment]

    def _kept(self, records: pl.DataFrame, policy: Policy) -> pl.DataFrame:
        """And of windows that no policy tells, those of which something is to be known.

        One that is late and was not told would be taken for told; one that waited when it
        held other rows, full or open, waits no more.
        """
        told = recorded(policy)
        silent = ~told & ((pl.col(FULL) & ~OUT) | (pl.col(WAITING) > pl.col(ADDED)))
        waiting = pl.when(told).then(pl.col(WAITING)).otherwise(0)
        return records.filter(told | silent).with_columns(waiting.alias(WAITING))


def _always(policy: Policy) -> bool:
    """Whether every change of a window is told at some time."""
    return policy.early is not None and policy.late is not Late.NEVER
