"""APPROX_PERCENTILE: a sketch of bounded size.

| column | dtype | what |
|--------|-------|------|
| `digest` | Binary | t-digest of the finite values, k = 500: at most 11 KiB; k = 8 * accuracy \
where that is given |
| `low`, `high`, `nan` | Int64 | how many were -inf, inf and NaN |

Errors. Exact while each value has its own centroid, then
the rank of the answer is within 0.02 of the fraction asked for. That is measured, over
smooth, skewed, two-humped, heavy-tailed and sorted values; inputs made to deceive a
t-digest can do worse (k times the error was at most 7.4, so that 8 * accuracy keeps it below
1 / accuracy), and floats beyond 1e300 may overflow in it. Sketches with a proof
for every input (KLL, REQ) toss coins: a query run again after a failure would give
other numbers than before, which is why they are not used here.

Equal rows in equal parts give equal bytes. Other cuts and orders of merging stay within the
error. OVER a frame the rows themselves are at hand, and the answer is exact.

As in Spark, values are DOUBLEs on their way, and a DECIMAL is what the shortest text of its
DOUBLE says, NULL where that does not fit: of 0.1 in DECIMAL(38, 37) it is 0.1, of
DECIMAL(38, 0)'s greatest 1E38 and so NULL. Of a single number among NaNs Spark's sketch keeps
the NaNs only.

Source: Dunning, The t-digest, 2021, by way of Apache DataSketches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import partial
from math import ceil
from typing import Any

import datasketches as ds  # type: ignore[import-untyped]
import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.kernels.folds.base import Fold, counted
from sqlwin.kernels.folds.full_state.quantiles import Quantile
from sqlwin.kernels.folds.sketches.base import Sketch, of_group
from sqlwin.kernels.frames import Frames, Mask
from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import polars_type

CENTROIDS, MOST_CENTROIDS = 500, 2**15
"""Where no accuracy is given, and at most: 0.5 MiB."""


@dataclass(frozen=True)
class PercentileSketch(Sketch):
    """APPROX_PERCENTILE(x, p), or of several p, a list."""

    @property
    def columns(self) -> tuple[str, ...]:
        digest, low, high, nan = (self.call.named(w) for w in ("digest", "low", "high", "nan"))
        return digest, low, high, nan

    def exact(self) -> Fold:
        doubles = pa.list_(pa.float64()) if self._several else pa.float64()
        call = replace(self.call, params=self._fractions, arg_types=(pa.float64(),), type=doubles)
        return Quantile(call, between=False)

    def slide(self, rows: pl.DataFrame, frames: Frames) -> pl.Series:
        (arg,) = self.call.args
        rows = rows.with_columns(self._as_doubles(pl.col(arg)).alias(arg))
        found = self.exact().slide(rows, frames)
        lone = pl.Series(self._lone(rows, frames))
        nan = [np.nan] * len(self._fractions) if self._several else np.nan
        known = pl.when(lone).then(pl.lit(nan, dtype=found.dtype)).otherwise(pl.col(found.name))
        return self._as_values(found.to_frame().select(known.alias(found.name)).to_series())

    def _lone(self, rows: pl.DataFrame, frames: Frames) -> Mask:
        """Of which frames one value is a number and all others are NaN."""
        known, nan = self.call.present(rows), rows[self.call.args[0]].is_nan().fill_null(False)
        nans = counted(known & nan.to_numpy(), frames)
        lone: Mask = (nans > 0) & (counted(known, frames) == nans + 1)
        return lone

    @property
    def _several(self) -> bool:
        return bool(pa.types.is_list(self.call.type))

    @property
    def _fractions(self) -> tuple[float, ...]:
        return tuple(p for p in self.call.params if isinstance(p, float))

    @property
    def _k(self) -> int:
        accuracy = [p for p in self.call.params if not isinstance(p, float)]
        return min(max(8 * accuracy[0], 100), MOST_CENTROIDS) if accuracy else CENTROIDS

    def lift(self) -> list[pl.Expr]:
        x = self._as_doubles(self.call.arg())
        endless = [x == -np.inf, x == np.inf, x.is_nan()]
        digest = of_group(x.filter(x.is_finite()), partial(_digested, k=self._k))
        counts = [of.sum().cast(pl.Int64) for of in endless]
        return [e.alias(c) for e, c in zip([digest, *counts], self.columns, strict=True)]

    def merge(self) -> list[pl.Expr]:
        digest, *counts = (pl.col(column) for column in self.columns)
        joined = partial(_joined, k=self._k)
        return [of_group(digest, joined), *(count.sum() for count in counts)]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        found = [
            [at(ds.tdigest_double.deserialize(digest), counts, p) for p in self._fractions]
            for digest, *counts in accumulators.select(self.columns).iter_rows()
        ]
        values: Iterable[Any] = (
            None if row[0] is None else row if self._several else row[0] for row in found
        )
        dtype = pl.List(pl.Float64) if self._several else pl.Float64()
        return self._as_values(pl.Series(self.call.name, list(values), dtype=dtype))

    def _as_doubles(self, values: pl.Expr) -> pl.Expr:
        """Days of a DATE, microseconds of a TIMESTAMP."""
        timed = pa.types.is_temporal(self.call.arg_types[0])
        return (values.to_physical() if timed else values).cast(pl.Float64)

    def _as_values(self, doubles: pl.Series) -> pl.Series:
        """Back in the argument's type: between two integers the nearest, at its ends no further."""
        dtype = polars_type(self.call.arg_types[0])
        if isinstance(dtype, pl.Decimal):
            return _as_decimals(doubles, dtype)
        of, column = partial(_nearest, dtype=dtype), pl.col(doubles.name)
        made = column.list.eval(of(pl.element())) if self._several else of(column)
        return doubles.to_frame().select(made.alias(doubles.name)).to_series()


def _nearest(doubles: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    if dtype.is_float():
        return doubles.cast(dtype)
    physical = pl.Series([], dtype=dtype).to_physical().dtype
    least, greatest = pl.select(l=physical.min(), g=physical.max()).row(0)  # type: ignore[attr-defined]
    ends = pl.when(doubles >= float(greatest)).then(pl.lit(greatest, physical))
    both = ends.when(doubles <= float(least)).then(pl.lit(least, physical))
    return both.otherwise(doubles.round().cast(physical, strict=False)).cast(dtype)


def _as_decimals(doubles: pl.Series, dtype: pl.Decimal) -> pl.Series:
    """Of DOUBLEs, or lists of them."""
    of = partial(decimal, dtype=dtype)
    if doubles.dtype == pl.Float64:
        return pl.Series(doubles.name, list(map(of, doubles)), dtype=dtype)
    lists = [None if row is None else list(map(of, row)) for row in doubles.to_list()]
    return pl.Series(doubles.name, lists, dtype=pl.List(dtype))


def decimal(double: float | None, dtype: pl.Decimal) -> Decimal | None:
    """What its shortest text says, halves away from 0; NULL where it has too many digits.

    >>> decimal(0.125, pl.Decimal(3, 2)), decimal(9.999, pl.Decimal(3, 2))
    (Decimal('0.13'), None)
    """
    if double is None:
        return None
    found = Decimal(repr(double)).quantize(Decimal(1).scaleb(-dtype.scale), context=_WIDE)
    digits = len(found.as_tuple().digits)
    return found if digits <= dtype.precision else None


_WIDE = Context(prec=400, rounding=ROUND_HALF_UP)


def at(digest: ds.tdigest_double, endless: list[int], p: float) -> float | None:
    """The value at a fraction, one of the values as PERCENTILE_DISC has it; NULL of nothing.

    -inf stands before the finite ones, inf and NaN behind. Of one number among NaNs it is NaN.
    """
    low, high, nan = endless
    finite = 0 if digest.is_empty() else int(digest.get_total_weight())
    whole = finite + sum(endless)
    if not whole:
        return None
    if nan and whole == nan + 1:
        return np.nan
    place = max(1, ceil(Fraction(repr(p)) * whole))
    if place <= low:
        return -np.inf
    if place > low + finite:
        return np.inf if place <= low + finite + high else np.nan
    # the middle of a value's own share of the ranks: exact while it has its own centroid
    within = float(digest.get_quantile((place - low - 0.5) / finite))
    found = min(max(within, float(digest.get_min_value())), float(digest.get_max_value()))
    return found + 0.0  # both zeros are equal: which one is found depends on the order of merging


def _digested(values: pl.Series, k: int) -> bytes:
    digest = ds.tdigest_double(k)
    digest.update(values.to_numpy(writable=True))  # which it does not write to, but asks for
    return bytes(digest.serialize())


def _joined(digests: pl.Series, k: int) -> bytes:
    whole = ds.tdigest_double(k)
    for digest in digests:
        whole.merge(ds.tdigest_double.deserialize(digest))
    return bytes(whole.serialize())
