"""How the rows of a batch and the sessions that are there make new sessions.

`Merged` keeps one record for each session, which holds the accumulators: what a pause
alone ends only ever grows, so sessions are merged and never looked into. Those that may
be split are in `splitting`. `Instants` keeps rows that are in no session as if each instant
were one.

Invariant: sessions of a key do not overlap as `[from, until)`, and a row of the key is of
the one that holds its instant.

Worked example, a gap of 5, sessions [0, 7) and [10, 16) of one key: a row at 6 reaches to
11 and touches both; they are removed, and [0, 16) is put, their accumulators merged with
its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import polars as pl

from sqlwin.instants import END
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.sessions import runs_of
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.schema import ADDED
from sqlwin.operators.sessions.judging import apart, with_doubt_of
from sqlwin.operators.sessions.spans import REACH, RUN, first_of, met
from sqlwin.operators.windows.grouping import FIRST, LAST, NUMBER_OF_SET, ROWS, Grouping, merges
from sqlwin.polars_frames import PLACE, empty
from sqlwin.schema import POSITION, SEQ, TS
from sqlwin.state.stores.session_store import FROM, UNTIL, SessionStore
from sqlwin.windows import Unit
from sqlwin.windows.session import Session

SESSIONS = "sessions"


@dataclass(frozen=True)
class Spans(ABC):
    """found_by: the session key. by: what groups are of, these keys among them.

    folds: the incremental ones. store: where sessions lie. Each grouping set has sessions of
    its own: of those keys of the session key that it has.
    """

    window: Session
    found_by: tuple[str, ...]
    by: Grouping
    folds: tuple[Fold, ...]
    store: str = SESSIONS

    @property
    def partition(self) -> tuple[str, ...]:
        """What sessions are of, the number of their set among them."""
        return (*self.found_by, *((NUMBER_OF_SET,) if self.by.sets else ()))

    @property
    def keys(self) -> tuple[str, ...]:
        return self.by.names

    @property
    def bucket(self) -> tuple[str, ...]:
        """Keys of all sets: rows that differ in them are of no session together."""
        return tuple(key for key in self.found_by if key in self.by.common)

    @property
    def identity(self) -> tuple[str, ...]:
        return (*self.keys, FROM, UNTIL)

    @abstractmethod
    def lift(self, rows: pl.DataFrame) -> pl.DataFrame:
        """What `change` takes of rows, in any cut."""

    def columns(self, below: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
        """Of what `lift` makes of rows of these columns."""
        return dict(self.lift(empty({**below, **PLACE})).schema)

    @abstractmethod
    def values(self, below: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
        """What the store keeps of a session beside its key and bounds."""

    @abstractmethod
    def change(self, lifted: pl.DataFrame, stores: Stores) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Take rows in: the windows of sessions that these may have changed, as they were, and
        as they are, with `__added`: how many rows came, NULL where its rows are the same."""

    @abstractmethod
    def windows(self, sessions: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Sessions of the store as windows of their groups, with extents and accumulators."""

    def ending(self, first: int, after: int, stores: Stores) -> pl.DataFrame:
        """The windows with first <= until < after."""
        found = self.sessions(stores).find_sessions(first, END)
        return self.windows(found.filter(pl.col(UNTIL) < after), stores)

    def of(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of `windows` that there are, their extents and accumulators beside them."""
        if windows.is_empty():
            return self.windows(self.sessions(stores).find_sessions(END, END), stores).join(
                windows, on=list(self.identity), how="inner"
            )
        keys = windows.select(self.partition) if self.partition else None
        ends, starts = windows[UNTIL].min(), windows[FROM].max()
        found = self.sessions(stores).find_sessions(ends, starts, keys)  # type: ignore[arg-type]
        of = [*self.partition, FROM, UNTIL]
        wanted = found.join(windows, on=of, how="semi", nulls_equal=True)
        held = self.windows(wanted, stores)
        return held.join(windows, on=list(self.identity), how="inner", nulls_equal=True)

    def sessions(self, stores: Stores) -> SessionStore:
        return SessionStore(stores[self.store])

    @property
    def reach(self) -> pl.Expr:
        """How far an instant reaches: what comes by then still joins it."""
        window = self.window
        if window.gap is None:
            return pl.col(TS) + pl.col(str(window.gap_by))
        # so many messages of others may lie between
        return pl.col(TS) + window.gap + (1 if window.unit is Unit.ROWS else 0)

    def _lifted(self) -> list[pl.Expr]:
        extent = [
            pl.col(SEQ).min().alias(FIRST),
            pl.col(SEQ).max().alias(LAST),
            pl.len().cast(pl.Int64).alias(ROWS),
        ]
        return [*extent, *(expr for fold in self.folds for expr in fold.lift())]

    def _kept(self, frame: pl.DataFrame) -> pl.DataFrame | None:
        return frame.select(self.partition) if self.partition else None


@dataclass(frozen=True)
class Merged(Spans):
    """A session is one record; the keys are the session key.

    Lifted are runs of rows that reach each other; where a set has fewer keys they are
    merged as they come in.
    """

    def lift(self, rows: pl.DataFrame) -> pl.DataFrame:
        keys = (*self.by.keys, *apart(rows))
        ordered = rows.sort(*keys, *POSITION)
        reached = ordered.with_columns(self.reach.alias(REACH))
        first = first_of(reached, keys)
        runs = runs_of(first, reached[TS].to_numpy(), reached[REACH].to_numpy())
        grouped = reached.with_columns(pl.Series(RUN, runs)).group_by(RUN, *keys)
        span = [pl.col(TS).min().alias(FROM), pl.col(REACH).max().alias(UNTIL)]
        lifted = grouped.agg(*span, *self._lifted()).drop(RUN)
        return self.by.spread(with_doubt_of(rows, lifted))

    @property
    def reached(self) -> str:
        """The column with the last instant that what comes later still joins."""
        return UNTIL

    def values(self, below: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
        return {name: t for name, t in self.columns(below).items() if name not in self.identity}

    def change(self, lifted: pl.DataFrame, stores: Stores) -> tuple[pl.DataFrame, pl.DataFrame]:
        store = self.sessions(stores)
        first, last = lifted[FROM].min(), lifted[UNTIL].max()
        near = store.find_sessions(first, last, self._kept(lifted))  # type: ignore[arg-type]
        touched, added = met(near, lifted, self.partition, self.reached)
        old, new = touched.drop(RUN), self._merged(touched, added)
        on = list(self.identity)
        store.remove(old.join(new, on=on, how="anti", nulls_equal=True))
        store.put(new.drop(ADDED))
        return old, new

    def windows(self, sessions: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return sessions

    def _merged(self, touched: pl.DataFrame, added: pl.DataFrame) -> pl.DataFrame:
        none = touched.with_columns(pl.lit(0, pl.Int64).alias(ADDED))
        all_ = pl.concat([none, added.with_columns(pl.col(ROWS).alias(ADDED)).select(none.columns)])
        span = [pl.col(FROM).min(), pl.col(UNTIL).max(), pl.col(ADDED).sum()]
        grouped = all_.group_by(RUN, *self.partition).agg(*span, *merges(self.folds))
        return grouped.select(none.columns).drop(RUN)


@dataclass(frozen=True)
class Instants(Merged):
    """Rows of one instant are together, and reach no other: each is `[t, t + 1)`."""

    @property
    def reached(self) -> str:
        return FROM

    def lift(self, rows: pl.DataFrame) -> pl.DataFrame:
        return super().lift(rows).with_columns((pl.col(FROM) + 1).alias(UNTIL))
