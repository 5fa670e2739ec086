"""COVAR_SAMP, COVAR_POP, CORR and the REGR_ functions: how two columns move together.

| column  | dtype | what |
|---------|-------|------|
| `count` | Int64 | pairs without a NULL |
| `x`, `y` | Float64 | means of the arguments over those pairs, NULL for none |
| `xx`, `yy`, `xy` | Float64 | sums of (x - mean)**2, (y - mean)**2, and of their product |

As the moments: two passes within a group, Chan's formula between groups. NULL where
there are no pairs, COVAR_SAMP also of one. CORR is NULL of fewer than two pairs and
where either argument never changes: 0 / 0, NULL in Spark, NaN in DuckDB. Of REGR_…(y, x)
`x` is the dependent one, which is the first argument: what is under `y` makes the line.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from sqlwin.kernels.dyadic import Arrays, Operation, fold_frames
from sqlwin.kernels.folds.base import Fold, FoldCall, joint_mean
from sqlwin.kernels.frames import Frames
from sqlwin.lazy_dataclass import dataclass

LANES = ("count", "x", "y", "xx", "yy", "xy")


def chan(left: Arrays, right: Arrays) -> Arrays:
    """LANES of two parts put together; zeros are the identity."""
    (n_a, x_a, y_a, xx_a, yy_a, xy_a), (n_b, x_b, y_b, xx_b, yy_b, xy_b) = left, right
    n = n_a + n_b
    share = n_b / np.maximum(n, 1.0)
    # weight between: of 1e200 and the identity it is 0, and 1e200 * 1e200 * 0 is NaN
    dx, dy, weight = x_b - x_a, y_b - y_a, n_a * share
    # 0, or NaN where a difference has no DOUBLE, as within a group
    endless_x, endless_y = dx - dx, dy - dy
    return (
        n, x_a + dx * share, y_a + dy * share,
        xx_a + xx_b + dx * weight * dx + endless_x, yy_a + yy_b + dy * weight * dy + endless_y,
        xy_a + xy_b + dx * weight * dy + endless_x + endless_y,
    )  # fmt: skip


CHAN = Operation(chan, (0.0,) * len(LANES))


@dataclass(frozen=True)
class Lanes:
    """The accumulators of a pair."""

    count: pl.Expr
    x: pl.Expr
    y: pl.Expr
    xx: pl.Expr
    yy: pl.Expr
    xy: pl.Expr

    def known(self, value: pl.Expr, more_than: int = 0) -> pl.Expr:
        return pl.when(self.count > more_than).then(value)

    def corr(self) -> pl.Expr:
        moving = (self.xx != 0) & (self.yy != 0)
        return self.known(pl.when(moving).then(self.xy / (self.xx.sqrt() * self.yy.sqrt())), 1)

    def slope(self) -> pl.Expr:
        return pl.when(self.yy != 0).then(self.xy / self.yy)

    def r2(self) -> pl.Expr:
        # of one pair, too: (NaN, NaN) has NaN, as in Spark
        corr = self.xy / (self.xx.sqrt() * self.yy.sqrt())
        share = pl.when(self.xx == 0).then(1.0).otherwise(corr.pow(2))
        return pl.when(self.yy != 0).then(share)


STATISTICS: dict[str, Callable[[Lanes], pl.Expr]] = {
    "covar_samp": lambda of: of.known(of.xy / (of.count - 1), 1),
    "covar_pop": lambda of: of.known(of.xy / of.count),
    "corr": Lanes.corr,
    "regr_count": lambda of: of.count,
    "regr_sxx": lambda of: of.known(of.yy),
    "regr_syy": lambda of: of.known(of.xx),
    "regr_sxy": lambda of: of.known(of.xy),
    "regr_slope": Lanes.slope,
    "regr_intercept": lambda of: of.x - of.slope() * of.y,
    "regr_r2": Lanes.r2,
}


@dataclass(frozen=True)
class Pair(Fold):
    """One of STATISTICS."""

    call: FoldCall

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.call.named(lane) for lane in LANES)

    def lift(self) -> list[pl.Expr]:
        x, y = self._pair()
        from_x, from_y = x - x.drop_nulls().first(), y - y.drop_nulls().first()
        dx, dy = from_x - from_x.mean(), from_y - from_y.mean()
        lanes = [
            x.count().cast(pl.Int64),
            x.drop_nulls().first() + from_x.mean(),
            y.drop_nulls().first() + from_y.mean(),
            dx.pow(2).sum(),
            dy.pow(2).sum(),
            (dx * dy).sum(),
        ]
        return [lane.alias(column) for lane, column in zip(lanes, self.columns, strict=True)]

    def merge(self) -> list[pl.Expr]:
        count, x, y, xx, yy, xy = (pl.col(column) for column in self.columns)
        joint_x, joint_y = joint_mean(count, x), joint_mean(count, y)
        dx, dy = x - joint_x, y - joint_y
        endless_x, endless_y = (dx - dx).sum(), (dy - dy).sum()
        return [
            count.sum(),
            joint_x.alias(self.columns[1]),
            joint_y.alias(self.columns[2]),
            xx.sum() + (count * dx * dx).sum() + endless_x,
            yy.sum() + (count * dy * dy).sum() + endless_y,
            xy.sum() + (count * dx * dy).sum() + endless_x + endless_y,
        ]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        lanes = Lanes(*map(pl.col, self.columns))
        value = STATISTICS[self.call.function](lanes)
        return accumulators.select(value.alias(self.call.name)).to_series()

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        x, y = rows.select(
            v.fill_null(0.0).alias(n) for v, n in zip(self._pair(), "xy", strict=True)
        )
        both = self.call.present(rows, 0) & self.call.present(rows, 1)
        zeros = np.zeros(len(rows))
        lanes = (both.astype(np.float64), x.to_numpy(), y.to_numpy(), zeros, zeros, zeros)
        with np.errstate(invalid="ignore", over="ignore"):
            folded = fold_frames(CHAN, lanes, frames)
        kept = pl.DataFrame(dict(zip(self.columns, folded, strict=True)))
        count, *means = self.columns[:3]
        known = pl.when(pl.col(count) > 0)  # of nothing the means are NULL, not 0
        return kept.with_columns(known.then(pl.col(m)).alias(m) for m in means).cast(
            {count: pl.Int64}
        )

    def _pair(self) -> tuple[pl.Expr, pl.Expr]:
        """Both arguments as doubles, NULL where either is."""
        x, y = (self.call.arg(n).cast(pl.Float64) for n in (0, 1))
        both = x.is_not_null() & y.is_not_null()
        return pl.when(both).then(x), pl.when(both).then(y)
