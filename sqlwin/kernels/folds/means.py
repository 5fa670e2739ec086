"""AVG: the total over the count, divided once at the end; NULL on nothing.

| input    | result | how |
|----------|--------|-----|
| FLOAT, DOUBLE | DOUBLE | float sum / count |
| integers | DOUBLE | exact sum, made a double once, / count |
| DECIMAL  | DECIMAL of greater scale | integer division, half away from zero |
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from sqlwin.kernels import exact
from sqlwin.kernels.folds.sums import Sum, attempted


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


def _as_double(total: pl.Series) -> pl.Series:
    whole = total.cast(pl.Int128) if total.dtype.is_decimal() else total
    return whole.cast(pl.Float64)
