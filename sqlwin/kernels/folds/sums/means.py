"""AVG: the total over the count, divided once at the end; NULL on nothing.

| input    | result | how |
|----------|--------|-----|
| FLOAT, DOUBLE | DOUBLE | float sum / count |
| integers | DOUBLE | exact sum, made a double once, / count |
| DECIMAL  | DECIMAL of greater scale | integer division, half away from zero |
"""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from sqlwin.kernels import exact
from sqlwin.kernels.columns import constant
from sqlwin.kernels.folds.base import FoldCall
from sqlwin.kernels.folds.sums.sums import Sum, attempted
from sqlwin.kernels.frames import Mask
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Mean(Sum):
    """AVG(x): accumulates what SUM does."""

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        count = self.total.count(accumulators)
        if pa.types.is_decimal(self.call.arg_types[0]):
            grow = self.call.type.scale - self.call.arg_types[0].scale
            high, low = self.total.split(accumulators)
            mean = exact.mean_half_up(high, low, count, grow, self.call.type)
        else:
            mean = _as_double(accumulators[self.call.named("sum")]) / count
        return mean.alias(self.call.name)


@dataclass(frozen=True)
class TryMean(Mean):
    """TRY_AVG(x)."""

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        return attempted(super().finish, accumulators.select(self.columns))


@dataclass(frozen=True)
class Paired(FoldCall):
    """Its first argument, of rows in which the second one is known too."""

    def arg(self, position: int = 0) -> pl.Expr:
        return pl.when(pl.col(self.args[1]).is_not_null()).then(super().arg(position))

    def argument(self, row: pl.DataFrame, position: int = 0) -> pl.Series:
        value = super().argument(row, position)
        other = row[self.args[1]].null_count()
        return constant(value.name, None, value.dtype, 1) if other else value

    def present(self, rows: pl.DataFrame, position: int = 0) -> Mask:
        return super().present(rows, 0) & super().present(rows, 1)


def mean_of_pairs(call: FoldCall, at: int) -> Mean:
    """REGR_AVGY(y, x), at 0, and REGR_AVGX, at 1: AVG of one where both are known."""
    args, types = ((of[at], of[1 - at]) for of in (call.args, call.arg_types))
    return Mean(Paired(call.name, call.function, args, types, call.type, call.where))


def _as_double(total: pl.Series) -> pl.Series:
    whole = total.cast(pl.Int128) if total.dtype.is_decimal() else total
    return whole.cast(pl.Float64)
