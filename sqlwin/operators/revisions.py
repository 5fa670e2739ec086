"""Which windows were emitted how often, and which wait to be emitted again.

Most windows are emitted once, when they are full, and need no record: that a
window ends by `Stores.closed` says it all. A record exists only for a window
that a late row touched, or that an end of input emitted before it was full:

    identity | revision | since | old.<value> …

revision: of the last emission, -1 where there was none. since: processing time
of the first change that was not emitted yet, NULL where nothing waits. old:
the values last emitted, kept only where withdrawals are wanted.

Invariant: `Stores.pending` is the least `since` of all records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from sqlwin.operators.changes import OLD, WAS
from sqlwin.operators.contract import Stores

STORE = "revisions"
SINCE = "since"
REV = "revision"


@dataclass(frozen=True)
class Revisions:
    """identity: the columns that know a window, `time` among them."""

    identity: tuple[str, ...]
    time: str
    remembered: tuple[str, ...]

    def columns(self, types: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
        """The columns of a record, given those of the operator's output."""
        return {
            **{name: types[name] for name in self.identity},
            REV: pl.Int32(),
            SINCE: pl.Int64(),
            **{OLD + name: types[name] for name in self.remembered},
        }

    def touch(self, windows: pl.DataFrame, stores: Stores, now: int) -> None:
        """Note that `windows` changed: identity, `__was` (-1: never emitted) and old values.

        `__was` and the old values are as they were before the change; a record
        that already waits keeps its own.
        """
        if windows.is_empty():
            return
        known = self._records(windows, stores)
        fresh = windows.rename({WAS: REV}).join(
            known.filter(pl.col(SINCE).is_not_null()),
            on=list(self.identity),
            how="anti",
            nulls_equal=True,
        )
        fresh = _or_known(fresh, known, self.identity)
        if fresh.is_empty():
            return
        stores[STORE].put(
            fresh.with_columns(pl.lit(now, pl.Int64).alias(SINCE)).select(known.columns)
        )
        stores.pending = now if stores.pending is None else min(stores.pending, now)

    def was(self, windows: pl.DataFrame, stores: Stores, otherwise: int) -> pl.DataFrame:
        """`windows` with `__was` and old values; `otherwise` where there is no record."""
        known = self._records(windows, stores).rename({REV: WAS}).drop(SINCE)
        if known.is_empty():
            nothing = [pl.lit(None, known.schema[name]).alias(name) for name in known.columns]
            first = pl.lit(otherwise, pl.Int32).alias(WAS)
            extra = [e for e in nothing if e.meta.output_name() not in (*self.identity, WAS)]
            return windows.with_columns(first, *extra)
        joined = windows.join(
            known, on=list(self.identity), how="left", nulls_equal=True, maintain_order="left"
        )
        return joined.with_columns(pl.col(WAS).fill_null(otherwise))

    def due(self, stores: Stores, by: int | None = None) -> pl.DataFrame:
        """Records that wait since `by` or longer; all that wait where `by` is None."""
        waiting = self._waiting(stores)
        return waiting if by is None else waiting.filter(pl.col(SINCE) <= by)

    def settle(self, emitted: pl.DataFrame, stores: Stores) -> None:
        """Record that `emitted` (identity, `__was`, values) went out as revision `__was` + 1."""
        if emitted.is_empty():
            return
        old = [pl.col(name).alias(OLD + name) for name in self.remembered]
        stores[STORE].put(
            emitted.select(
                *self.identity,
                (pl.col(WAS) + 1).cast(pl.Int32).alias(REV),
                pl.lit(None, pl.Int64).alias(SINCE),
                *old,
            )
        )
        stores.pending = self._waiting(stores)[SINCE].min()  # type: ignore[assignment]

    def _waiting(self, stores: Stores) -> pl.DataFrame:
        return everything(stores, STORE).filter(pl.col(SINCE).is_not_null())

    def _records(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if windows.is_empty():
            return stores[STORE].scan(0, 0)
        lo, hi = bounds(windows[self.time])
        return stores[STORE].scan(lo, hi)


def bounds(times: pl.Series) -> tuple[int, int]:
    """The half-open range of non-empty Int64 `times`."""
    return times.min(), times.max() + 1  # type: ignore[return-value,operator]


def everything(stores: Stores, name: str) -> pl.DataFrame:
    return stores[name].scan(-(2**63), 2**63 - 1)


def _or_known(fresh: pl.DataFrame, known: pl.DataFrame, identity: Sequence[str]) -> pl.DataFrame:
    """Where a record exists, its revision counts, not what the window's age tells."""
    recorded = known.select(*identity, pl.col(REV).alias("__recorded"))
    joined = fresh.join(recorded, on=list(identity), how="left", nulls_equal=True)
    return joined.with_columns(pl.coalesce("__recorded", REV).cast(pl.Int32).alias(REV)).drop(
        "__recorded"
    )
