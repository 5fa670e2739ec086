"""COUNT(*) and COUNT(x): an Int64 that adds up.

| column  | dtype | what |
|---------|-------|------|
| `count` | Int64 | rows taken in, of COUNT(x) those where x is not NULL |
"""

from __future__ import annotations

import polars as pl

from sqlwin.kernels.columns import constant
from sqlwin.kernels.folds.base import Fold, FoldCall, count_of, counted
from sqlwin.kernels.frames import Frames
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Count(Fold):
    """COUNT: 0 on nothing, never NULL."""

    call: FoldCall
    invertible = True

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.call.named("count"),)

    def lift(self) -> list[pl.Expr]:
        return [self._lifted().alias(self.columns[0])]

    def lift_row(self, row: pl.DataFrame) -> list[pl.Series]:
        taken = self.call.where is None or bool(row[self.call.where][0])
        some = taken and not (self.call.args and row[self.call.args[0]].null_count())
        return [constant(self.columns[0], int(some), pl.Int64(), 1)]

    def merge(self) -> list[pl.Expr]:
        return [pl.col(self.columns[0]).sum()]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        return accumulators[self.columns[0]].alias(self.call.name)

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        mask = self.call.present(rows) if self.call.args else self.call.taken(rows)
        return pl.DataFrame({self.columns[0]: counted(mask, frames)})

    def _lifted(self) -> pl.Expr:
        if self.call.args:
            return count_of(self.call.arg())
        if self.call.where is None:
            return pl.len().cast(pl.Int64)
        return pl.col(self.call.where).sum().cast(pl.Int64)
