"""How the rows of a batch and the sessions that are there make new sessions.

`Merged` keeps one record for each session, which holds the accumulators: what a pause
alone ends only ever grows, so sessions are merged and never looked into. `Parted` also
keeps a pane for each instant of each group: where START, END or MAX may part a session
in two, or groups lie within one, its parts are told anew from its panes.

Invariant: sessions of a key do not overlap as `[from, until)`, and a row of the key is of
the one that holds its instant.

Worked example, a gap of 5, sessions [0, 7) and [10, 16) of one key: a row at 6 reaches to
11 and touches both; they are removed, and [0, 16) is put, their accumulators merged with
its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import polars as pl

from sqlwin.instants import END
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.sessions import cut_runs, runs_of
from sqlwin.operators.contents import FIRST, LAST, PANES, ROWS, merges
from sqlwin.operators.contract import Stores
from sqlwin.operators.revisions import ADDED
from sqlwin.schema import PLACE, POSITION, SEQ, TS
from sqlwin.state.session_store import FROM, UNTIL, SessionStore
from sqlwin.windows import Session, Unit

SESSIONS = "sessions"
AT, REACH, STARTS, ENDS = "__at", "__reach", "__starts", "__ends"
KEY, NEW, RUN, WERE = "__key", "__new", "__run", "__were"


@dataclass(frozen=True)
class Spans(ABC):
    """partition: what sessions are of. keys: what groups are of, these among them.

    folds: the incremental ones.
    """

    window: Session
    partition: tuple[str, ...]
    keys: tuple[str, ...]
    folds: tuple[Fold, ...]

    @property
    def identity(self) -> tuple[str, ...]:
        return (*self.keys, FROM, UNTIL)

    @abstractmethod
    def lift(self, rows: pl.DataFrame) -> pl.DataFrame:
        """What `change` takes of rows, in any cut."""

    def columns(self, below: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
        """Of what `lift` makes of rows of these columns."""
        return dict(self.lift(pl.DataFrame(schema={**below, **PLACE})).schema)

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
        return SessionStore(stores[SESSIONS])

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
        return frame.select(self.partition).unique() if self.partition else None


@dataclass(frozen=True)
class Merged(Spans):
    """A session is one record; keys and partition are the same."""

    def lift(self, rows: pl.DataFrame) -> pl.DataFrame:
        ordered = rows.sort(*self.partition, *POSITION)
        reached = ordered.with_columns(self.reach.alias(REACH))
        first = first_of(reached, self.partition)
        runs = runs_of(first, reached[TS].to_numpy(), reached[REACH].to_numpy())
        grouped = reached.with_columns(pl.Series(RUN, runs)).group_by(RUN, *self.partition)
        span = [pl.col(TS).min().alias(FROM), pl.col(REACH).max().alias(UNTIL)]
        return grouped.agg(*span, *self._lifted()).drop(RUN)

    def values(self, below: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
        return {name: t for name, t in self.columns(below).items() if name not in self.identity}

    def change(self, lifted: pl.DataFrame, stores: Stores) -> tuple[pl.DataFrame, pl.DataFrame]:
        store = self.sessions(stores)
        first, last = lifted[FROM].min(), lifted[UNTIL].max()
        near = store.find_sessions(first, last, self._kept(lifted))  # type: ignore[arg-type]
        touched, came = met(near, lifted, self.partition, UNTIL)
        old, new = touched.drop(RUN), self._merged(touched, came)
        on = list(self.identity)
        store.remove(old.join(new, on=on, how="anti", nulls_equal=True))
        store.put(new.drop(ADDED))
        return old, new

    def windows(self, sessions: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return sessions

    def _merged(self, touched: pl.DataFrame, came: pl.DataFrame) -> pl.DataFrame:
        none = touched.with_columns(pl.lit(0, pl.Int64).alias(ADDED))
        all_ = pl.concat([none, came.with_columns(pl.col(ROWS).alias(ADDED)).select(none.columns)])
        span = [pl.col(FROM).min(), pl.col(UNTIL).max(), pl.col(ADDED).sum()]
        grouped = all_.group_by(RUN, *self.partition).agg(*span, *merges(self.folds))
        return grouped.select(none.columns).drop(RUN)


@dataclass(frozen=True)
class Parted(Spans):
    """A session is its bounds and how far its rows reach; what it holds lies in panes."""

    def lift(self, rows: pl.DataFrame) -> pl.DataFrame:
        marks = ((STARTS, self.window.starts), (ENDS, self.window.ends))
        of_instant = [
            (pl.col(column).fill_null(False) if column else pl.lit(False)).any().alias(name)
            for name, column in marks
        ]
        ordered = rows.sort(POSITION)
        reach = self.reach.max().alias(REACH)
        grouped = ordered.group_by(*self.keys, pl.col(TS).alias(AT))
        return grouped.agg(reach, *of_instant, *self._lifted())

    @property
    def merges(self) -> list[pl.Expr]:
        """Of panes of one instant and group."""
        marks = [pl.col(REACH).max(), pl.col(STARTS).any(), pl.col(ENDS).any()]
        return [*marks, *merges(self.folds)]

    def values(self, below: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
        return {REACH: pl.Int64()}

    def change(self, lifted: pl.DataFrame, stores: Stores) -> tuple[pl.DataFrame, pl.DataFrame]:
        store = self.sessions(stores)
        near = store.find_sessions(lifted[AT].min(), END, self._kept(lifted))  # type: ignore[arg-type]
        came = lifted.with_columns(pl.col(AT).alias(FROM))
        touched, _ = met(near, came, self.partition, REACH)
        was = self._panes(touched, stores)
        old = self._merged(was)
        panes = pl.concat([was.select(lifted.columns), lifted])
        sessions = self._told(panes)
        now = self._merged(within(panes, AT, sessions, self.partition))
        added = self._counted(within(lifted, AT, sessions, self.partition))
        on = [*self.partition, FROM, UNTIL]
        store.remove(touched.join(sessions, on=on, how="anti", nulls_equal=True))
        store.put(sessions)
        stores[PANES].put(lifted.group_by(*self.keys, AT).agg(self.merges).select(lifted.columns))
        return old, self._changed(now, old, added)

    def windows(self, sessions: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self._merged(self._panes(sessions, stores))

    def _panes(self, sessions: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The panes of these sessions, each with the bounds of its own."""
        lo, hi = extent_of(sessions)
        panes = stores[PANES].scan(lo, hi, self._kept(sessions))
        return within(panes, AT, sessions, self.partition)

    def _merged(self, held: pl.DataFrame) -> pl.DataFrame:
        return held.group_by(self.identity).agg(merges(self.folds))

    def _counted(self, held: pl.DataFrame) -> pl.DataFrame:
        return held.group_by(self.identity).agg(pl.col(ROWS).sum().alias(ADDED))

    def _changed(self, now: pl.DataFrame, old: pl.DataFrame, added: pl.DataFrame) -> pl.DataFrame:
        on = list(self.identity)
        was = old.select(*on, pl.col(ROWS).alias(WERE))
        known = now.join(was, on=on, how="left", nulls_equal=True)
        counted = known.join(added, on=on, how="left", nulls_equal=True)
        changed = pl.when(~pl.col(ROWS).eq_missing(pl.col(WERE))).then(pl.col(ADDED).fill_null(0))
        return counted.with_columns(changed.alias(ADDED)).drop(WERE)

    def _told(self, panes: pl.DataFrame) -> pl.DataFrame:
        """The sessions that all these panes make."""
        marks = [pl.col(REACH).max(), pl.col(STARTS).any(), pl.col(ENDS).any()]
        by = [*self.partition, AT]
        instants = panes.group_by(by).agg(marks).sort(by)
        key = first_of(instants, self.partition)
        begins, ends = (instants[name].to_numpy() for name in (STARTS, ENDS))
        first = key | begins | np.roll(ends, 1)
        at, reach = instants[AT].to_numpy(), instants[REACH].to_numpy()
        runs = runs_of(first, at, reach)
        if self.window.most is not None:
            runs = cut_runs(runs, at, reach, self.window.most)
        numbered = instants.with_columns(pl.Series(RUN, runs), pl.Series(NEW, key))
        span = [pl.col(AT).min().alias(FROM), pl.col(REACH).max(), pl.col(NEW).any()]
        told = numbered.group_by(RUN, *self.partition).agg(span).sort(RUN)
        return told.with_columns(self._until()).drop(RUN, NEW)

    def _until(self) -> pl.Expr:
        """As far as it reaches, but not into the next session of its key, nor beyond MAX."""
        following = pl.when(~pl.col(NEW).shift(-1)).then(pl.col(FROM).shift(-1))
        most = self.window.most
        longest = pl.lit(None, pl.Int64) if most is None else pl.col(FROM) + most
        return pl.min_horizontal(REACH, following, longest).alias(UNTIL)


def extent_of(spans: pl.DataFrame) -> tuple[int, int]:
    """From the first beginning to the last end; of none an empty range."""
    return (spans[FROM].min(), spans[UNTIL].max()) if len(spans) else (0, 0)  # type: ignore[return-value]


def first_of(frame: pl.DataFrame, keys: tuple[str, ...]) -> np.ndarray:
    """Where another key begins, in a frame sorted by keys."""
    changed = [pl.col(key).ne_missing(pl.col(key).shift(1)) for key in keys]
    number = pl.int_range(pl.len()) == 0
    return frame.select(pl.any_horizontal(number, *changed)).to_series().to_numpy()


def met(
    stored: pl.DataFrame, came: pl.DataFrame, keys: tuple[str, ...], reach: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both with `__run`: what reaches into each other shares one. Stored ones that nothing
    reaches, through others too, are left out."""
    columns = [*keys, FROM, reach]
    both = pl.concat(
        frame.select(columns).with_columns(pl.lit(new).alias(NEW)).with_row_index(RUN)
        for frame, new in ((stored, False), (came, True))
    ).sort(*keys, FROM)
    runs = runs_of(first_of(both, keys), both[FROM].to_numpy(), both[reach].to_numpy())
    numbered = both.select(NEW, pl.col(RUN).alias(AT)).with_columns(pl.Series(RUN, runs))
    places = [numbered.filter(pl.col(NEW) == new).sort(AT)[RUN].alias(RUN) for new in (False, True)]
    touched = stored.with_columns(places[0]).filter(pl.col(RUN).is_in(places[1].unique().implode()))
    return touched, came.with_columns(places[1])


def within(rows: pl.DataFrame, at: str, spans: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """Rows with the bounds of the span of their key that holds them; others are left out.

    spans: keys, `__from`, `__until`; those of a key do not overlap.
    """
    bounded = spans.select(*keys, FROM, UNTIL)
    if keys:
        known = bounded.select(keys).unique().with_row_index(KEY)
        left = rows.join(known, on=list(keys), how="inner", nulls_equal=True)
        right = bounded.join(known, on=list(keys), how="inner", nulls_equal=True)
    else:
        left, right = (f.with_columns(pl.lit(0, pl.UInt32).alias(KEY)) for f in (rows, bounded))
    found = left.sort(at).join_asof(
        right.select(KEY, FROM, UNTIL).sort(FROM),
        left_on=at,
        right_on=FROM,
        by=KEY,
        coalesce=False,
        check_sortedness=False,
    )
    return found.filter(pl.col(at) < pl.col(UNTIL)).drop(KEY)
