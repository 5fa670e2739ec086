"""SKEWNESS and KURTOSIS: what moments have, and the sums of third and fourth powers.

| column  | dtype | what |
|---------|-------|------|
| `count`, `mean`, `m2` | Int64, Float64, Float64 | as of a variance |
| `m3`, `m4` | Float64 | sums of (x - mean)**3, (x - mean)**4 |

SKEWNESS is sqrt(n) * m3 / m2**1.5, KURTOSIS n * m4 / m2**2 - 3: those of a population, as in
Spark. Both are NULL of nothing and of values that are all equal. A part whose mean is d off the
whole's adds 3 * d * m2 + n * d**3 to its third power, and likewise to the fourth.

>>> import pyarrow as pa
>>> kurtosis = Shape(FoldCall("k", "kurtosis", ("x",), (pa.int32(),), pa.float64()))
>>> rows = pl.DataFrame({"x": [-10, -20, 100, 1000]}, schema={"x": pl.Int32})
>>> round(kurtosis.finish(rows.select(kurtosis.lift())).item(), 6)
-0.701437
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.kernels.dyadic import Arrays, Operation, fold_frames
from sqlwin.kernels.folds.base import Fold, FoldCall, count_of, joint_mean
from sqlwin.kernels.frames import Frames
from sqlwin.lazy_dataclass import dataclass

LANES = ("count", "mean", "m2", "m3", "m4")


def chan(left: Arrays, right: Arrays) -> Arrays:
    """LANES of two parts put together; zeros are the identity."""
    n_a, mean_a, *_ = left
    n_b, mean_b, *_ = right
    n = n_a + n_b
    apart, weight = mean_b - mean_a, np.maximum(n, 1.0)
    mean = mean_a + apart * (n_b / weight)
    parts = _moved(left, -apart * (n_b / weight)), _moved(right, apart * (n_a / weight))
    return n, mean, *(one + other for one, other in zip(*parts, strict=True))


def _moved(part: Arrays, d: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Arrays:
    """m2, m3, m4 about a mean that is d less. From the left, so that 0 stays 0 at any d."""
    n, _, m2, m3, m4 = part
    return (
        m2 + n * d * d,
        m3 + 3 * m2 * d + n * d * d * d,
        m4 + 4 * m3 * d + 6 * m2 * d * d + n * d * d * d * d,
    )


CHAN = Operation(chan, (0.0,) * len(LANES))


@dataclass(frozen=True)
class Shape(Fold):
    """SKEWNESS(x) or KURTOSIS(x)."""

    call: FoldCall

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.call.named(lane) for lane in LANES)

    def lift(self) -> list[pl.Expr]:
        x = self.call.arg().cast(pl.Float64)
        first = x.drop_nulls().first()
        off = x - first
        d = off - off.mean()
        lanes = [count_of(x), first + off.mean(), *(d.pow(power).sum() for power in (2, 3, 4))]
        return [lane.alias(column) for lane, column in zip(lanes, self.columns, strict=True)]

    def merge(self) -> list[pl.Expr]:
        n, mean, m2, m3, m4 = (pl.col(column) for column in self.columns)
        joint = joint_mean(n, mean)
        d = mean - joint
        return [
            n.sum(),
            joint.alias(self.columns[1]),
            m2.sum() + (n * d.pow(2)).sum(),
            m3.sum() + (3 * d * m2 + n * d.pow(3)).sum(),
            m4.sum() + (4 * d * m3 + 6 * d.pow(2) * m2 + n * d.pow(4)).sum(),
        ]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        n, _, m2, m3, m4 = (pl.col(column) for column in self.columns)
        if self.call.function == "skewness":
            value = n.sqrt() * m3 / (m2 * m2 * m2).sqrt()
        else:
            value = n * m4 / (m2 * m2) - 3.0
        known = pl.when((n > 0) & (m2 != 0)).then(value)
        return accumulators.select(known.alias(self.call.name)).to_series()

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        x = rows.select(self.call.arg().cast(pl.Float64).fill_null(0.0)).to_series().to_numpy()
        ones, zeros = self.call.present(rows).astype(np.float64), np.zeros(len(x))
        with np.errstate(invalid="ignore", over="ignore"):
            folded = fold_frames(CHAN, (ones, x, zeros, zeros, zeros), frames)
        kept = pl.DataFrame(dict(zip(self.columns, folded, strict=True)))
        count, mean, *_ = self.columns
        known = pl.when(pl.col(count) > 0).then(pl.col(mean)).alias(mean)
        return kept.with_columns(known).cast({count: pl.Int64})
