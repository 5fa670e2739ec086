"""COUNT, SUM, AVG and others of distinct values.

| column   | dtype | what |
|----------|-------|------|
| `values` | List of the argument's | the distinct values, ascending |

Once equal values are gone, what remains is the plain function, and its own fold does
it. NaN equals NaN, -0.0 equals 0.0. Over frames, the first row of a value within
[lo, hi) is one whose equal before it lies below lo: those are counted by a wavelet
matrix, and summed without subtraction (floats) or exactly (in limbs of 32 bits).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl

from sqlwin.kernels import exact
from sqlwin.kernels.firsts import sums_below
from sqlwin.kernels.folds.base import Fold, FoldCall
from sqlwin.kernels.folds.full_state.base import OWNER, Kept, lifted
from sqlwin.kernels.folds.sums.counts import Count
from sqlwin.kernels.folds.sums.sums import Sum
from sqlwin.kernels.frames import Frames, Ints
from sqlwin.kernels.order_statistics.wavelet import Wavelet, previous
from sqlwin.kernels.ranks import ranked
from sqlwin.lazy_dataclass import dataclass

LIMB = 2**32
LIMBS = 4


@dataclass(frozen=True)
class Distinct(Kept):
    """`plain` (of the call without its where) over distinct values."""

    plain: Fold

    def sources(self) -> list[tuple[str, pl.Expr]]:
        return [("values", self.call.arg())]

    def lift(self) -> list[pl.Expr]:
        distinct = self.call.arg().drop_nulls().unique().sort()
        return [distinct.implode().alias(self.columns[0])]

    def merge(self) -> list[pl.Expr]:
        values = pl.col(self.columns[0]).explode(empty_as_null=False)
        return [values.unique().sort().implode()]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        values = self.rows_kept(accumulators).rename({"values": self.call.args[0]})
        lifted = values.group_by(OWNER, maintain_order=True).agg(self.plain.lift())
        owners = pl.DataFrame({OWNER: np.arange(len(accumulators))})
        none = owners.join(lifted, on=OWNER, how="anti")
        nothing = none.join(values.clear().select(self.plain.lift()), how="cross")
        whole = pl.concat([lifted, nothing.cast(lifted.schema)]).sort(OWNER)
        return self.plain.finish(whole.select(self.plain.columns))

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        return lifted(self, rows, frames)

    def slide(self, rows: pl.DataFrame, frames: Frames) -> pl.Series:
        if not isinstance(self.plain, Count | Sum):
            return super().slide(rows, frames)
        values, inner = self.values(rows, frames)
        before = previous(ranked(values)[0])
        count = pl.Series(Wavelet(before + 1).below(inner, inner.lo + 1))
        count = count.alias(self.call.named("count"))
        if isinstance(self.plain, Count):
            return self.plain.finish(count.to_frame())
        sums = self._sums(values.to_frame(self.call.args[0]), before, inner)
        return self.plain.finish(sums.with_columns(count))

    def _sums(self, values: pl.DataFrame, before: Ints, frames: Frames) -> pl.DataFrame:
        """What the plain sum accumulates, of each frame."""
        assert isinstance(self.plain, Sum)
        sums = {}
        for what, value, kept in self.plain.total.lanes():
            lane = values.select(value).to_series()
            sums[self.call.named(what)] = summed(lane, before, frames).cast(kept)
        return pl.DataFrame(sums)


def summed(lane: pl.Series, before: Ints, frames: Frames) -> pl.Series:
    """The sum of the first row of each value: Float64, Int64, or Int128 in limbs."""
    if lane.dtype != pl.Int128:
        return pl.Series(sums_below((lane.to_numpy(),), before, frames.lo, frames)[0])
    units = pl.col("units")
    limbs = lane.to_frame("units").select(_limb(units, n).alias(str(n)) for n in range(LIMBS))
    sums = sums_below(tuple(limb.to_numpy() for limb in limbs), before, frames.lo, frames)
    table = pl.DataFrame({str(n): limb for n, limb in enumerate(sums)}).cast(pl.Int128)
    return table.select(
        pl.sum_horizontal(pl.col(str(n)) * exact.i128(LIMB**n) for n in range(LIMBS)).alias("sum")
    ).to_series()


def _limb(units: pl.Expr, n: int) -> pl.Expr:
    """The n-th 32 bits; the highest with the sign, so that limbs add up to the number."""
    shifted = units // exact.i128(LIMB**n)
    part = shifted if n == LIMBS - 1 else shifted & exact.i128(LIMB - 1)
    return part.cast(pl.Int64)


def distinct_of(call: FoldCall, plain: Callable[[FoldCall], Fold]) -> Distinct:
    # NULLs and rows that take no part are gone before the plain fold sees a value
    return Distinct(call, plain(replace(call, where=None)))
