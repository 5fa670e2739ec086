"""What a window operator answers about its state, between two batches.

An answer is read from the stores as they are: nothing is emitted, written or retired,
so queries have no side effects. An operator that can be queried says how its
windows are found, `Queryable.windows`, and which messages it keeps, `Queryable.messages`; all
others are refused by name.

    windows    those that hold an instant of lo <= t <= hi, or a message of these numbers,
               and are not retired: the operator's output as of now (of a join those of
               each side, see `join_scopes`), and
               `__state`     full, if it was emitted so or its time has come; else open
               `__revision`  last emitted, NULL where nothing was
               `__row_key`   as an emission has it
               and what else is kept: `__first`, `__last`, `__rows`, a row's position
    messages   those from one (time, offset) to another, both included; of a join with
               `__side`      left or right

A full window without a record was emitted once, for all the state knows: under LATE
NEVER one that a late row opened, which is never emitted, looks the same.

Worked example, tumbling minutes, rows of 9:00:10 and 9:01:20, no delay: a query of 9:00
to 9:01, both minutes hold an instant of that. The first is full, revision 0; the
second is open, revision NULL.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import polars as pl

from sqlwin.errors import QueryError
from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.schema import FINAL, FORCED, PENDING
from sqlwin.operators.weights import there
from sqlwin.schema import POSITION, REVISION, SEQ, TS
from sqlwin.state.contract import Store

STATE, SIDE = "__state", "__side"
EDGES = ("__window_start", "__window_end")
"""Of the windows of a join, whose rows may have columns called `window_start`."""
OPEN_WINDOW, FULL_WINDOW = "open", "full"


@dataclass(frozen=True)
class StateQuery:
    """Which windows. lo, hi: both included. keys: a frame of `Queryable.key`; None: all."""

    keys: pl.DataFrame | None = None
    lo: int = START
    hi: int = END


@dataclass(frozen=True)
class MessageRange:
    """Which messages: (time, offset) of the first and of the last. keys: as in `StateQuery`."""

    first: tuple[int, int]
    last: tuple[int, int]
    keys: pl.DataFrame | None = None

    def stored(self, store: Store) -> pl.DataFrame:
        """Those of a store that is ordered by position."""
        return self.of(store.scan(self.first[0], self.last[0] + 1))

    def counted(self, messages: pl.DataFrame) -> pl.DataFrame:
        """Those of `messages` whose time is their number: they are known by offset alone."""
        return self.of(messages.with_columns(pl.lit(0, pl.Int64).alias(TS)))

    def of(self, messages: pl.DataFrame) -> pl.DataFrame:
        """Those of `messages`, which have their position, in order."""
        (since, first), (until, last) = self.first, self.last
        begun = (pl.col(TS) > since) | ((pl.col(TS) == since) & (pl.col(SEQ) >= first))
        going = (pl.col(TS) < until) | ((pl.col(TS) == until) & (pl.col(SEQ) <= last))
        return of_keys(there(messages), self.keys).filter(begun, going).sort(POSITION)


@runtime_checkable
class Queryable(Protocol):
    """An operator that answers."""

    @property
    def key(self) -> dict[str, pl.DataType]:
        """The columns that `StateQuery.keys` has; none where windows are known by time alone."""

    @property
    def order(self) -> tuple[str, ...]:
        """The columns of an answer that it is sorted by."""

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """As the module says; QueryError where none are kept."""

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        """With their positions; QueryError, with the reason, where none are kept."""


@runtime_checkable
class Stage(Protocol):
    """What stands around an operator, and answers for it where it does not itself."""

    @property
    def inner(self) -> object: ...


def queryable(operator: object) -> Queryable:
    if isinstance(operator, Queryable):
        return operator
    if isinstance(operator, Stage):
        return queryable(operator.inner)
    raise QueryError(f"{type(operator).__name__} does not say how its windows are found")


def stated(windows: pl.DataFrame) -> pl.DataFrame:
    """Judged windows of `ResultLedger.known`, with `__state` and `__revision`."""
    full = pl.col(FINAL) | pl.col(FORCED)
    once = pl.col(FINAL) & pl.col(PENDING).is_null()
    was = pl.when(pl.col(REVISION) >= 0).then(REVISION)
    return windows.with_columns(
        said(full),
        pl.when(once).then(pl.lit(0, pl.Int32)).otherwise(was).alias(REVISION),
    )


def said(full: pl.Expr) -> pl.Expr:
    """`__state` of windows that are full, or not."""
    return pl.when(full).then(pl.lit(FULL_WINDOW)).otherwise(pl.lit(OPEN_WINDOW)).alias(STATE)


def of_keys(rows: pl.DataFrame, keys: pl.DataFrame | None) -> pl.DataFrame:
    """The rows that agree with one of `keys`, NULL with NULL."""
    if keys is None:
        return rows
    return rows.join(keys, on=keys.columns, how="semi", nulls_equal=True, maintain_order="left")
