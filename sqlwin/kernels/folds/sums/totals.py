"""Totals: what SUM and AVG accumulate.

| input                   | columns | dtype | summed as |
|-------------------------|---------|-------|-----------|
| FLOAT, DOUBLE           | `sum`   | Float64 | plain float additions |
| TINYINT, SMALLINT, INT  | `sum`   | Int64 | cannot wrap below 2**32 rows |
| BIGINT, DECIMAL(p<=26)  | `sum`   | Decimal(38, 0) | units, see `kernels.exact` |
| DECIMAL(p>26)           | `high`, `low` | Decimal(38, 0) | units, cut at 2**64 |

and `count`, Int64: how many values; NULLs are no values.

Sliding sums of floats go by dyadic blocks. Those of integers are differences of
prefix sums in Int128, which wraps: modulo 2**128 the difference is still right.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.kernels import exact
from sqlwin.kernels.columns import constant
from sqlwin.kernels.dyadic import ADD, fold_frames
from sqlwin.kernels.folds.base import FoldCall, count_of, counted
from sqlwin.kernels.frames import Frames
from sqlwin.lazy_dataclass import dataclass

Lane = tuple[str, pl.Expr, "pl.DataType | type[pl.DataType]"]


@dataclass(frozen=True)
class Total:
    """The sum and the count of one argument, in any of the ways above."""

    call: FoldCall

    @property
    def columns(self) -> tuple[str, ...]:
        return (*(self.call.named(what) for what, _, _ in self.lanes()), self.call.named("count"))

    def lanes(self) -> list[Lane]:
        """(name, value to be summed, dtype that is kept) of each column but the count."""
        value, type_ = self.call.arg(), self.call.arg_types[0]
        if pa.types.is_floating(type_):
            return [("sum", value.cast(pl.Float64), pl.Float64)]
        if pa.types.is_integer(type_) and type_.bit_width < 64:
            return [("sum", value.cast(pl.Int64), pl.Int64)]
        units = value.to_physical().cast(pl.Int128)
        if pa.types.is_decimal(type_) and type_.precision > exact.ONE_LANE_DIGITS:
            high, low = exact.high_of(units), exact.low_of(units)
            return [("high", high, exact.LANE), ("low", low, exact.LANE)]
        return [("sum", units, exact.LANE)]

    def lift(self) -> list[pl.Expr]:
        count = count_of(self.call.arg()).alias(self.call.named("count"))
        sums = (
            value.sum().cast(kept).alias(self.call.named(what))
            for what, value, kept in self.lanes()
        )
        return [*sums, count]

    def lift_row(self, row: pl.DataFrame) -> list[pl.Series]:
        value = self.call.argument(row)
        missing = value.null_count()
        count = constant(self.call.named("count"), 1 - missing, pl.Int64(), 1)
        if missing:
            return [*(constant(name, 0, kept, 1) for name, kept in self._kept), count]
        if not value.dtype.is_decimal():  # no sum: that of a frame makes 0.0 of -0.0
            ((name, kept),) = self._kept
            wide = value.cast(pl.Int128) if kept == exact.LANE else value
            return [wide.cast(kept).alias(name), count]
        lanes = (v.cast(kept).alias(self.call.named(what)) for what, v, kept in self.lanes())
        return [*row.select_seq(*lanes).get_columns(), count]

    @cached_property
    def _kept(self) -> tuple[tuple[str, pl.DataType | type[pl.DataType]], ...]:
        return tuple((self.call.named(what), kept) for what, _, kept in self.lanes())

    def merge(self) -> list[pl.Expr]:
        return [pl.col(column).sum() for column in self.columns]

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        lanes = {
            self.call.named(what): (value.fill_null(0), kept) for what, value, kept in self.lanes()
        }
        if pa.types.is_floating(self.call.arg_types[0]):
            values = rows.select(value.alias(name) for name, (value, _) in lanes.items())
            sums = [_added(lane, frames) for lane in values]
        else:
            sums = _differences(rows, lanes, frames)
        count = counted(self.call.present(rows), frames)
        return pl.DataFrame([*sums, pl.Series(self.call.named("count"), count)])

    def count(self, accumulators: pl.DataFrame) -> pl.Series:
        """How many values; NULL where there are none."""
        count = accumulators[self.call.named("count")]
        if self.some(accumulators).all():
            return count
        return accumulators.select(pl.when(count > 0).then(count)).to_series()

    def some(self, accumulators: pl.DataFrame) -> pl.Series:
        """Whether there are any."""
        return accumulators[self.call.named("count")] > 0

    def split(self, accumulators: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
        """An exact sum as (high, low), Int128."""
        if self.call.named("high") in self.columns:
            high, low = (self.call.named(what) for what in ("high", "low"))
            return accumulators[high].cast(pl.Int128), accumulators[low].cast(pl.Int128)
        units = accumulators[self.call.named("sum")].cast(pl.Int128).to_frame("sum")
        cut = units.select(exact.high_of(pl.col("sum")).alias("h"), exact.low_of(pl.col("sum")))
        return cut["h"], cut["sum"]


def _added(lane: pl.Series, frames: Frames) -> pl.Series:
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf is NaN, as it should be
        return pl.Series(lane.name, fold_frames(ADD, (lane.to_numpy(),), frames)[0])


def _differences(
    rows: pl.DataFrame,
    lanes: Mapping[str, tuple[pl.Expr, pl.DataType | type[pl.DataType]]],
    frames: Frames,
) -> list[pl.Series]:
    """Sum of rows [lo, hi) = sum until hi - sum until lo, Int64 or Int128 wrapping.

    lanes: by name, values without NULL and the dtype that is kept.
    """
    zero = pl.lit(0, pl.Int64)
    until = rows.select(zero.append(v.cum_sum()).alias(name) for name, (v, _) in lanes.items())
    sums = ((until[name], kept) for name, (_, kept) in lanes.items())
    return [(each[frames.hi] - each[frames.lo]).cast(kept) for each, kept in sums]
