"""Sessions of rows that may be retracted: each is emitted of the rows that are there.

A row that is retracted may shorten a session, split it in two, or end it. So a pane is kept
for each instant, as in `splitting`, and apart for each reach and mark that rows of the
instant have: whether they are there is a matter of counting. A retracted row comes as a
pane that counts less than none; one that counts none is not there.

Invariant: no session holds an instant whose panes count no row.

Worked example, a gap of 5, rows at 0, 4 and 8: [0, 13). The one at 4 is retracted, and no row
is within reach of another: [0, 5) and [8, 13). If it comes again, they are one once more.
"""

from __future__ import annotations

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.sessions.spans import AT, REACH
from sqlwin.operators.sessions.splitting import ENDS, STARTS, Split
from sqlwin.operators.weights import SIGN, split
from sqlwin.operators.windows.grouping import FIRST, LAST, ROWS, merges
from sqlwin.polars_frames import PLACE, empty
from sqlwin.schema import POSITION, TS


@dataclass(frozen=True)
class Changing(Split):
    """folds: invertible ones. Rows have weights."""

    @property
    def pane(self) -> tuple[str, ...]:
        return (AT, REACH, STARTS, ENDS)

    @property
    def merges(self) -> list[pl.Expr]:
        return merges(self.folds)

    def columns(self, below: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
        return dict(self.lift(empty({**below, **PLACE, **SIGN})).schema)

    def lift(self, rows: pl.DataFrame) -> pl.DataFrame:
        removed, added = split(rows)
        panes = self._counting(added)
        if removed.is_empty():
            return panes
        negated = [expr for fold in self.folds for expr in fold.negated()]
        extent = [pl.lit(None, pl.Int64).alias(name) for name in (FIRST, LAST)]
        less = self._counting(removed).with_columns(*extent, -pl.col(ROWS), *negated)
        return pl.concat([panes, less])

    def _counting(self, rows: pl.DataFrame) -> pl.DataFrame:
        own = [pl.col(TS).alias(AT), self.reach.alias(REACH)]
        marks = [mark.alias(name) for name, mark in self._marks.items()]
        marked = rows.sort(POSITION).with_columns(*own, *marks)
        return self.by.spread(marked.group_by(*self.by.keys, *self.pane).agg(self._lifted()))

    def _panes(self, sessions: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return super()._panes(sessions, stores).filter(pl.col(ROWS) > 0)

    def _there(self, panes: pl.DataFrame) -> pl.DataFrame:
        whole = panes.group_by(*self.keys, *self.pane).agg(self.merges)
        return whole.filter(pl.col(ROWS) > 0).select(panes.columns)
