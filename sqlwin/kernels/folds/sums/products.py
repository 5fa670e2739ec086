"""PRODUCT: the product of all values, a DOUBLE; NULL on nothing.

| column  | dtype | what |
|---------|-------|------|
| `factor` | Float64 | a number about 1 that, times 2 ** `power`, is the product; or 0, inf, NaN |
| `power` | Int64 | the power of 2 beside it |
| `count` | Int64 | how many values; NULLs are no values |

A running product of DOUBLEs may leave their range and come back: 1e200 * 1e200 * 1e-300 is
infinite from the left and 1e100 from the right. Here only a finished value is too large or too
small, so rows have one product however they were cut and ordered (up to rounding). Nothing is
ever divided out again: a factor of 0 could not be, and others would leave an error behind.

Invariant: `scaled` puts the powers of 2 aside such that the product of the first n factors is
within 2 ** -1 and 2 ** 1 for each n; scaling by a power of 2 rounds nothing.

>>> import pyarrow as pa
>>> product = Product(FoldCall("p", "product", ("x",), (pa.float64(),), pa.float64()))
>>> rows = pl.DataFrame({"x": [1e200, 1e200, None, 1e-300]})
>>> round(product.finish(rows.select(product.lift())).item() / 1e100, 9)
1.0
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.kernels.dyadic import Arrays, Operation, fold_frames
from sqlwin.kernels.folds.base import Fold, FoldCall, count_of, counted
from sqlwin.kernels.frames import Frames
from sqlwin.lazy_dataclass import dataclass

FARTHEST = 5000
"""A power beyond which every DOUBLE is infinite, or 0 below its negative."""


def times(left: Arrays, right: Arrays) -> Arrays:
    """(factor, power) of two parts put together; (1, 0) is the identity."""
    factor, power = np.frexp(left[0] * right[0])
    return factor, left[1] + right[1] + power


TIMES = Operation(times, (1.0, 0))


def scaled(value: pl.Expr, power: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """The product of value * 2 ** power over a group, as (factor, power)."""
    value = value.drop_nulls()
    plain = value.is_finite() & (value != 0)
    special = pl.when(plain).then(1.0).otherwise(value).product()
    value = pl.when(plain).then(value).otherwise(1.0)
    until = value.abs().log(2.0).cum_sum().round()  # of the first n, the power put aside
    aside = until - until.shift(1, fill_value=0.0)
    half = (aside / 2).floor()  # 2 ** 1024 is no DOUBLE
    factor = value * pl.lit(2.0).pow(-half) * pl.lit(2.0).pow(half - aside)
    return factor.product() * special, power.sum() + aside.sum().cast(pl.Int64)


@dataclass(frozen=True)
class Product(Fold):
    """PRODUCT(x)."""

    call: FoldCall

    @property
    def columns(self) -> tuple[str, ...]:
        factor, power, count = (self.call.named(what) for what in ("factor", "power", "count"))
        return factor, power, count

    def lift(self) -> list[pl.Expr]:
        value = self.call.arg().cast(pl.Float64)
        lanes = (*scaled(value, pl.lit(0, pl.Int64)), count_of(value))
        return [lane.alias(column) for lane, column in zip(lanes, self.columns, strict=True)]

    def merge(self) -> list[pl.Expr]:
        factor, power, count = (pl.col(column) for column in self.columns)
        lanes = (*scaled(factor, power), count.sum())
        return [lane.alias(column) for lane, column in zip(lanes, self.columns, strict=True)]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        factor, power, count = (accumulators[column].to_numpy() for column in self.columns)
        with np.errstate(over="ignore", under="ignore"):
            value = np.ldexp(factor, np.clip(power, -FARTHEST, FARTHEST).astype(np.int32))
        known = pl.when(pl.Series(count > 0)).then(pl.Series(value)).alias(self.call.name)
        return pl.select(known).to_series()

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        value = rows.select(self.call.arg().cast(pl.Float64).fill_null(1.0)).to_series().to_numpy()
        factor, power = np.frexp(value)
        with np.errstate(invalid="ignore"):  # 0 * inf is NaN, as it should be
            folded = fold_frames(TIMES, (factor, power.astype(np.int64)), frames)
        lanes = (*folded, counted(self.call.present(rows), frames))
        return pl.DataFrame(dict(zip(self.columns, lanes, strict=True)))
