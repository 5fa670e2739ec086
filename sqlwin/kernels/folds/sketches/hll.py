"""HLL_SKETCH_AGG and HLL_UNION_AGG: a sketch, as bytes that Spark reads.

| column | dtype | what |
|--------|-------|------|
| `hll` | Binary | the canonical sketch, see `sqlwin.functions.sketches.hll` |

It is exact in this: equal sets of values have equal bytes, however they were cut and merged.
"""

from __future__ import annotations

from functools import partial

import polars as pl
import pyarrow as pa

from sqlwin.functions.sketches.hll import LG, coupons, of_coupons, united
from sqlwin.kernels.folds.base import Fold, FoldCall
from sqlwin.kernels.folds.full_state.base import lifted
from sqlwin.kernels.folds.sketches.base import of_group
from sqlwin.kernels.frames import Frames
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class HllSketch(Fold):
    """HLL_SKETCH_AGG(x, lg), or with `union` HLL_UNION_AGG(x) of canonical sketches."""

    call: FoldCall
    union: bool

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.call.named("hll"),)

    def lift(self) -> list[pl.Expr]:
        values = self.call.arg().drop_nulls().unique()
        if self.union:
            return [of_group(values, _united).alias(self.columns[0])]
        (lg,) = self.call.params
        integers = pa.types.is_integer(self.call.arg_types[0])
        values = values.cast(pl.Int64) if integers else values
        return [of_group(values, partial(_sketched, lg=lg)).alias(self.columns[0])]

    def merge(self) -> list[pl.Expr]:
        return [of_group(pl.col(self.columns[0]).drop_nulls(), _united)]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        lg = LG if self.union else self.call.params[0]
        nothing = of_coupons(coupons(pa.array([], pa.int64())), lg)
        return accumulators[self.columns[0]].fill_null(nothing).alias(self.call.name)

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        return lifted(self, rows, frames)


def _sketched(values: pl.Series, lg: int) -> bytes:
    return of_coupons(coupons(values.to_arrow()), lg)


def _united(sketches: pl.Series) -> bytes | None:
    return united(sketches.to_list()) if len(sketches) else None
