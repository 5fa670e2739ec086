"""MEDIAN, PERCENTILE_CONT and PERCENTILE_DISC, exact.

| column   | dtype | what |
|----------|-------|------|
| `values` | List of the argument's | all values but NULLs, in any order |

Of n ascending values, NaN the greatest, counted from 0, a fraction p means

- CONT: place p * (n - 1); between two places low + (high - low) * rest, a DOUBLE, and so
  NaN or infinite where the difference is, as in Spark;
- DISC: place ceil(p * n) - 1, at least 0: the least value that at least p of all
  are not greater than; as it is, of any type with an order.

p is the decimal that was written: 0.07 of 100 is place 6, though 0.07 * 100 > 7 in
floats. ORDER BY … DESC counts places from the greatest. Several fractions give a list.

Over frames, a wavelet matrix over the ranks answers all of them at once; over few long ones, one
of digits.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.kernels.folds.full_state.base import Kept
from sqlwin.kernels.frames import Frames, Ints
from sqlwin.kernels.gather import listed, opened
from sqlwin.kernels.order_statistics.digits import Digits, searchable
from sqlwin.kernels.order_statistics.wavelet import Wavelet
from sqlwin.kernels.ranks import ranked
from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import polars_type


@dataclass(frozen=True)
class Quantile(Kept):
    """The value at one fraction or several; `between`: CONT, else DISC."""

    between: bool

    def sources(self) -> list[tuple[str, pl.Expr]]:
        return [("values", self.call.arg())]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        values, frames = opened(accumulators[self.columns[0]])
        codes, distinct = ranked(values)
        return self._all(Ascending(codes, frames), distinct, frames)

    def slide(self, rows: pl.DataFrame, frames: Frames) -> pl.Series:
        values, inner = self.values(rows, frames)
        codes, distinct = ranked(values)
        return self._all(searchable(codes, len(inner)), distinct, inner)

    def _all(self, codes: Searchable, distinct: pl.Series, frames: Frames) -> pl.Series:
        fractions = self.call.params or (0.5,)
        found = [self._one(codes, distinct, frames, as_written(p)) for p in fractions]
        if not pa.types.is_list(self.call.type):
            return found[0].alias(self.call.name)
        return lists_by_row(found, frames.lo < frames.hi).alias(self.call.name)

    def _one(
        self, codes: Searchable, distinct: pl.Series, frames: Frames, p: Fraction
    ) -> pl.Series:
        some = frames.lo < frames.hi
        held = Frames(frames.lo[some], frames.hi[some])
        n = held.hi - held.lo
        if self.between:
            found = self._mixed(codes, distinct, held, *place_between(p, n, self._down))
        else:
            found = distinct.gather(codes.smallest(held, place(p, n, self._down)))
        return spread(found.cast(self._dtype), some)

    def _mixed(
        self, codes: Searchable, distinct: pl.Series, held: Frames, k: Ints, rest: Floats
    ) -> pl.Series:
        doubles = distinct.cast(pl.Float64)
        last = held.hi - held.lo - 1
        both = Frames(np.append(held.lo, held.lo), np.append(held.hi, held.hi))
        places = np.append(k, np.minimum(k + (rest > 0), last))
        found = doubles.gather(codes.smallest(both, places)).to_numpy()
        low, high = found[: len(held)], found[len(held) :]
        near, far = (high, low) if self._down else (low, high)
        way = 1 - rest if self._down else rest
        with np.errstate(invalid="ignore", over="ignore"):
            mixed = near + (far - near) * way
        # equal ones stay as they are: a mix of 0.1 and 0.1 may differ from both
        return pl.Series(np.where((low == high) | (rest == 0), low, mixed))

    @property
    def _down(self) -> bool:
        return bool(self.call.order) and self.call.order[0].descending

    @property
    def _dtype(self) -> pl.DataType:
        type_ = self.call.type
        return polars_type(type_.value_type if pa.types.is_list(type_) else type_)


Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class Ascending:
    """What a Wavelet answers, for frames that do not overlap: their codes, sorted."""

    codes: Ints
    frames: Frames

    def smallest(self, frames: Frames, k: Ints) -> Ints:
        """Of frames that are among those sorted."""
        span = int(self.codes.max(initial=0)) + 1
        owner = np.repeat(np.arange(len(self.frames)), self.frames.hi - self.frames.lo)
        ascending: Ints = np.sort(owner * span + self.codes)[frames.lo + k] % span
        return ascending


Searchable = Ascending | Wavelet | Digits


def as_written(p: float) -> Fraction:
    """The shortest decimal that is read as this float."""
    return Fraction(repr(p))


def place(p: Fraction, n: Ints, down: bool) -> Ints:
    """ceil(p * n) - 1, at least 0; counted from the end with `down`."""
    above, _ = _times(p, n)
    at = np.maximum(above - 1, 0)
    return n - 1 - at if down else at


def place_between(p: Fraction, n: Ints, down: bool) -> tuple[Ints, Floats]:
    """p * (n - 1) as a whole place and the part of the way to the next."""
    above, short = _times(1 - p if down else p, n - 1)
    at = above - (short > 0)
    return at, np.where(short > 0, 1 - short, 0.0)


def _times(p: Fraction, n: Ints) -> tuple[Ints, Floats]:
    """(ceil(p * n), how much that is more than p * n)."""
    most = int(n.max(initial=0))
    if p.numerator * most >= 2**62 or p.denominator >= 2**62:
        exact = [p * int(each) for each in n]  # no int64 holds the product
        above = np.array([-(-e.numerator // e.denominator) for e in exact], dtype=np.int64)
        short = [float(int(a) - e) for a, e in zip(above, exact, strict=True)]
        return above, np.array(short, dtype=np.float64)
    above = -(-p.numerator * n // p.denominator)
    return above, (above * p.denominator - p.numerator * n) / p.denominator


def spread(found: pl.Series, some: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> pl.Series:
    """One value for each place that is true, in order; NULL in the others."""
    at = pl.Series(np.cumsum(some) - 1)
    return found.gather(pl.select(pl.when(pl.Series(some)).then(at)).to_series())


def lists_by_row(
    columns: list[pl.Series], some: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> pl.Series:
    """The n-th values of all columns as the n-th list; NULL where `some` is not true."""
    rows = len(some)
    by_row = np.arange(rows * len(columns)).reshape(len(columns), rows).T.ravel()
    lists = listed(pl.concat(columns).gather(by_row), np.full(rows, len(columns)))
    return pl.select(pl.when(pl.Series(some)).then(lists)).to_series()
