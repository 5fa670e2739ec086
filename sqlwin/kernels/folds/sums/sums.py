"""SUM: exact for integers and decimals, plain for floats; NULL on nothing.

BIGINT values sum exactly past 64 bits: 2**63 - 1, 1 and -1 give 2**63 - 1, in any
order. Only a finished value beyond the result type raises Overflow; TRY_SUM is NULL then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import polars as pl
import pyarrow as pa

from sqlwin.kernels import exact
from sqlwin.kernels.folds.base import Fold, FoldCall
from sqlwin.kernels.folds.sums.totals import Total
from sqlwin.kernels.frames import Frames
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Sum(Fold):
    """SUM(x)."""

    call: FoldCall

    @cached_property
    def total(self) -> Total:
        return Total(self.call)

    @property
    def invertible(self) -> bool:
        """Floats are not: 1e18 that comes and goes would take smaller ones with it."""
        return not pa.types.is_floating(self.call.arg_types[0])

    @property
    def columns(self) -> tuple[str, ...]:
        return self.total.columns

    def lift(self) -> list[pl.Expr]:
        return self.total.lift()

    def lift_row(self, row: pl.DataFrame) -> list[pl.Series]:
        return self.total.lift_row(row)

    def merge(self) -> list[pl.Expr]:
        return self.total.merge()

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        return self.total.over(rows, frames)

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        some, value = self.total.some(accumulators), self._value(accumulators)
        if some.all():  # no query
            return value.alias(self.call.name)
        return pl.select(pl.when(some).then(value).alias(self.call.name)).to_series()

    def _value(self, accumulators: pl.DataFrame) -> pl.Series:
        type_, whole = self.call.type, self.call.named("sum")
        if pa.types.is_floating(type_):
            return accumulators[whole]
        if whole not in self.columns:
            return exact.fitted(exact.joined(*self.total.split(accumulators), type_), type_)
        if accumulators[whole].dtype == pl.Int64 and type_ == pa.int64():
            return accumulators[whole]
        return exact.fitted(accumulators[whole].cast(pl.Int128), type_)


@dataclass(frozen=True)
class TrySum(Sum):
    """TRY_SUM(x)."""

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        return attempted(super().finish, accumulators.select(self.columns))


def attempted(finish: Callable[[pl.DataFrame], pl.Series], accumulators: pl.DataFrame) -> pl.Series:
    """What `finish` gives, NULL where it does not fit: there it is as if there were no values."""
    try:
        return finish(accumulators)
    except exact.Overflow as overflow:
        fits = pl.when(~pl.Series(overflow.bad))
        return attempted(finish, accumulators.with_columns(fits.then(pl.all())).fill_null(0))
