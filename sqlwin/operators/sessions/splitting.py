"""Sessions that may be split in two: by START, END or MAX, or into groups of further keys.

A pane is kept for each instant of each group. Sessions that the rows of a batch reach, or
that reach them, are emitted again from their panes, from the first of them on: where one
begins depends on nothing after it, so what lies before stays as it is.

Worked example, a gap of 6, MAX 10, instants 0, 5 and 11: 11 joins 5, but it is 10 or more
after 0. So there are [0, 10) and [11, 17). A row at -6 makes them [-6, 4) and [5, 15).
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.instants import END
from sqlwin.kernels.sessions import cut_runs, runs_of
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.schema import ADDED
from sqlwin.operators.sessions.judging import apart, with_doubt_of
from sqlwin.operators.sessions.merging import Spans
from sqlwin.operators.sessions.spans import AT, NEW, REACH, RUN, extent_of, first_of, met, within
from sqlwin.operators.windows.grouping import ROWS, merges
from sqlwin.operators.windows.messages import PANES
from sqlwin.schema import POSITION, TS
from sqlwin.state.stores.session_store import FROM, UNTIL

STARTS, ENDS, WERE = "__starts", "__ends", "__were"


@dataclass(frozen=True)
class Split(Spans):
    """A session is its bounds and how far its rows reach; what it holds lies in panes."""

    @property
    def pane(self) -> tuple[str, ...]:
        """The columns that with the keys are a pane's own."""
        return (AT,)

    def lift(self, rows: pl.DataFrame) -> pl.DataFrame:
        reach = self.reach.max().alias(REACH)
        marks = [mark.any().alias(name) for name, mark in self._marks.items()]
        keys = (*self.by.keys, *apart(rows))
        grouped = rows.sort(POSITION).group_by(*keys, pl.col(TS).alias(AT))
        lifted = grouped.agg(reach, *marks, *self._lifted())
        return self.by.spread(with_doubt_of(rows, lifted))

    @property
    def _marks(self) -> dict[str, pl.Expr]:
        """Whether a row starts a session, or ends one."""
        columns = {STARTS: self.window.starts, ENDS: self.window.ends}
        return {
            name: pl.col(column).fill_null(False) if column else pl.lit(False)
            for name, column in columns.items()
        }

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
        arrived = lifted.with_columns(pl.col(AT).alias(FROM))
        touched, _ = met(near, arrived, self.partition, REACH)
        was = self._panes(touched, stores)
        old = self._merged(was)
        panes = self._there(pl.concat([was.select(lifted.columns), lifted]))
        sessions = self._emitted(panes)
        now = self._merged(within(panes, AT, sessions, self.partition))
        added = self._counted(within(lifted, AT, sessions, self.partition))
        on = [*self.partition, FROM, UNTIL]
        store.remove(touched.join(sessions, on=on, how="anti", nulls_equal=True))
        store.put(sessions)
        put = lifted.group_by(*self.keys, *self.pane).agg(self.merges)
        stores[PANES].put(put.select(lifted.columns))
        return old, self._changed(now, old, added)

    def windows(self, sessions: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self._merged(self._panes(sessions, stores))

    def _panes(self, sessions: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The panes of these sessions, each with the bounds of its own."""
        lo, hi = extent_of(sessions)
        panes = stores[PANES].scan(lo, hi, self._kept(sessions))
        return within(panes, AT, sessions, self.partition)

    def _there(self, panes: pl.DataFrame) -> pl.DataFrame:
        """Those of all these panes, in any cut, that hold a row."""
        return panes

    def _merged(self, held: pl.DataFrame) -> pl.DataFrame:
        return held.group_by(self.identity).agg(merges(self.folds))

    def _counted(self, held: pl.DataFrame) -> pl.DataFrame:
        """How many rows came; all that were retracted count as one."""
        added = pl.col(ROWS).clip(0).sum() + (pl.col(ROWS) < 0).any()
        return held.group_by(self.identity).agg(added.alias(ADDED))

    def _changed(self, now: pl.DataFrame, old: pl.DataFrame, added: pl.DataFrame) -> pl.DataFrame:
        on = list(self.identity)
        was = old.select(*on, pl.col(ROWS).alias(WERE))
        known = now.join(was, on=on, how="left", nulls_equal=True)
        counted = known.join(added, on=on, how="left", nulls_equal=True)
        other = ~pl.col(ROWS).eq_missing(pl.col(WERE)) | pl.col(ADDED).is_not_null()
        changed = pl.when(other).then(pl.col(ADDED).fill_null(0))
        return counted.with_columns(changed.alias(ADDED)).drop(WERE)

    def _emitted(self, panes: pl.DataFrame) -> pl.DataFrame:
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
        emitted = numbered.group_by(RUN, *self.partition).agg(span).sort(RUN)
        return emitted.with_columns(self._until()).drop(RUN, NEW)

    def _until(self) -> pl.Expr:
        """As far as it reaches, but not into the next session of its key, nor beyond MAX."""
        following = pl.when(~pl.col(NEW).shift(-1)).then(pl.col(FROM).shift(-1))
        most = self.window.most
        longest = pl.lit(None, pl.Int64) if most is None else pl.col(FROM) + most
        return pl.min_horizontal(REACH, following, longest).alias(UNTIL)
