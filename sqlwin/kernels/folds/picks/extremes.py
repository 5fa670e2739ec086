"""MIN and MAX of anything with an order; NULL on nothing.

| column  | dtype | what |
|---------|-------|------|
| `value` | the argument's | the extreme so far, NULL before the first value |

NaN is greater than every number: MAX is NaN as soon as one NaN is there, MIN
only when nothing else is. Strings and binary go by their bytes.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.kernels.dyadic import Array, Operation, fold_frames, of_ufunc
from sqlwin.kernels.folds.base import Fold, FoldCall, counted
from sqlwin.kernels.frames import INT64_MAX, INT64_MIN, Frames
from sqlwin.kernels.ranks import ranked
from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import polars_type

# fmin passes over NaN and maximum keeps it: just the order in which NaN is greatest
MIN_FLOAT, MAX_FLOAT = of_ufunc(np.fmin, np.nan), of_ufunc(np.maximum, -np.inf)
MIN_INT, MAX_INT = of_ufunc(np.minimum, INT64_MAX), of_ufunc(np.maximum, INT64_MIN)


def extreme(value: pl.Expr, type_: pa.DataType, greatest: bool) -> pl.Expr:
    """The least or greatest value of a group, NaN greatest, NULLs passed over."""
    if pa.types.is_nested(type_):  # Polars orders them as Spark does, and has no min of them
        ascending = value.drop_nulls().sort()
        return ascending.last() if greatest else ascending.first()
    if not greatest:
        return value.min()
    return value.nan_max() if pa.types.is_floating(type_) else value.max()


@dataclass(frozen=True)
class Extreme(Fold):
    """MIN(x), or MAX(x) with `greatest`."""

    call: FoldCall
    greatest: bool

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.call.named("value"),)

    def lift(self) -> list[pl.Expr]:
        return [self._of(self.call.arg()).alias(self.columns[0])]

    def lift_row(self, row: pl.DataFrame) -> list[pl.Series]:
        return [self.call.argument(row).alias(self.columns[0])]

    def merge(self) -> list[pl.Expr]:
        return [self._of(pl.col(self.columns[0]))]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        return accumulators[self.columns[0]].alias(self.call.name)

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        mask, value = self.call.present(rows), rows[self.call.args[0]]
        some = counted(mask, frames) > 0
        found = self._slid(value, mask, frames)
        if some.all():  # no query
            return found.alias(self.columns[0]).to_frame()
        return pl.select(pl.when(pl.Series(some)).then(found).alias(self.columns[0]))

    def _of(self, value: pl.Expr) -> pl.Expr:
        return extreme(value, self.call.arg_types[0], self.greatest)

    def _slid(self, value: pl.Series, mask: Array, frames: Frames) -> pl.Series:
        """The extreme of each frame, anything at all where it holds no value."""
        dtype = polars_type(self.call.type)
        if dtype.is_float():
            keys = value.cast(pl.Float64).to_numpy()
            return pl.Series(self._folded(keys, mask, frames)).cast(dtype)
        if dtype.is_integer() or dtype.is_temporal() or dtype == pl.Boolean:
            numbers = value.cast(pl.Int64)  # no query, as `to_physical` and `fill_null` are
            keys = (numbers.fill_null(0) if numbers.null_count() else numbers).to_numpy()
            kept = np.where(counted(mask, frames) > 0, self._folded(keys, mask, frames), 0)
            physical = dtype if dtype.is_integer() else value.to_physical().dtype
            return pl.Series(kept).cast(physical).cast(dtype)
        keys, distinct = ranked(value)
        if not len(distinct):
            return pl.Series(values=[None] * len(frames), dtype=dtype)
        return distinct.gather(np.clip(self._folded(keys, mask, frames), 0, len(distinct) - 1))

    def _folded(self, keys: Array, mask: Array, frames: Frames) -> Array:
        operation = self._operation(keys)
        keys = np.where(mask, keys, operation.identity[0])
        return fold_frames(operation, (keys,), frames)[0]

    def _operation(self, keys: Array) -> Operation:
        if keys.dtype == np.float64:
            return MAX_FLOAT if self.greatest else MIN_FLOAT
        return MAX_INT if self.greatest else MIN_INT
