"""Arithmetic of the reference: fractions, rounded once, at the end.

What is not finite adds up as in IEEE 754. NaN is greater than every number and equal
to itself; 0.0 equals -0.0.

>>> total([0.1] * 10, pa.float64()), total([1, 2], pa.int64())
(1.0, 3)
>>> interpolated([1, 2, 4], 0.75), nearest([1, 2, 4], 0.75)
(3.0, 4)
>>> interpolated([-1e308, 1e308], 0.5), interpolated([-math.inf, 1], 0.5)
(inf, nan)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from tests.reference.kernels.rows import Values


class OutOfRange(Exception):
    """An exact value that its type cannot hold."""


def ascending(value: Any) -> tuple[Any, ...]:
    """A key to order values by and to tell equal ones: NULL, then numbers, then NaN."""
    if value is None:
        return (0,)
    if isinstance(value, list | dict):  # an ARRAY, a STRUCT: the first difference decides
        return (1, tuple(map(ascending, value.values() if isinstance(value, dict) else value)))
    nan = isinstance(value, float) and math.isnan(value)
    return (2,) if nan else (1, value)


def total(values: Values, type_: pa.DataType) -> Any:
    return plain_sum(values) if pa.types.is_floating(type_) else fitted(exact_sum(values), type_)


def product(values: Values) -> float:
    """Of all values, exactly where they are finite; 0 times infinite is NaN."""
    floats = [float(value) for value in values]
    if not _finite(floats, []):
        return math.prod(
            x if x == 0 or not math.isfinite(x) else math.copysign(1, x) for x in floats
        )
    return double(math.prod(map(Fraction, floats), start=Fraction(1)))


def average(values: Values, type_: pa.DataType) -> Any:
    if pa.types.is_decimal(type_):
        return fitted(exact_sum(values) / len(values), type_)
    if isinstance(values[0], float):
        return plain_sum(values) / len(values)
    return float(exact_sum(values) / len(values))


def moment(values: Values, lost: int, root: bool) -> float | None:
    """Variance over count less `lost`, or its square root; NULL of too few values."""
    floats = [float(value) for value in values]
    variance = covariance(lost)(floats, floats)
    return math.sqrt(variance) if root and variance is not None else variance


def covariance(lost: int) -> Callable[[Values, Values], float | None]:
    def value(xs: Values, ys: Values) -> float | None:
        if len(xs) <= lost:
            return None
        if not _finite(xs, ys):
            return math.nan
        return double(_products(xs, ys) / (len(xs) - lost))

    return value


def correlation(xs: Values, ys: Values) -> float | None:
    """Pearson's; NULL where either does not vary, as in Spark."""
    if not _finite(xs, ys):
        return math.nan
    both, x, y = (double(_products(*pair)) for pair in ((xs, ys), (xs, xs), (ys, ys)))
    return both / (math.sqrt(x) * math.sqrt(y)) if x and y else None


def shaped(values: Values, power: int) -> float | None:
    """Skewness, of power 3, or kurtosis, of power 4, of a population; NULL of equal values."""
    floats = [float(value) for value in values]
    if not _finite(floats, []):
        return math.nan
    mean = exact_sum(floats) / len(floats)
    second, higher = (
        sum(((Fraction(value) - mean) ** n for value in floats), Fraction(0)) / len(floats)
        for n in (2, power)
    )
    if not second:
        return None
    return double(higher / second**2) - 3 if power == 4 else float(higher) / float(second) ** 1.5


def line(statistic: str) -> Callable[[Values, Values], float | int | None]:
    """REGR_…(y, x) by its name, of pairs without a NULL: least squares."""

    def value(ys: Values, xs: Values) -> float | int | None:
        if statistic == "count":
            return len(xs)
        if not _finite(xs, ys):
            return math.nan
        across, up, both = _products(xs, xs), _products(ys, ys), _products(xs, ys)
        if statistic in ("sxx", "syy", "sxy"):
            return double({"sxx": across, "syy": up, "sxy": both}[statistic])
        return _of_line(statistic, across, up, both, xs, ys) if across else None

    return value


def _of_line(
    statistic: str, across: Fraction, up: Fraction, both: Fraction, xs: Values, ys: Values
) -> float:
    if statistic == "r2":
        return double(both**2 / (across * up)) if up else 1.0
    slope = both / across
    if statistic == "slope":
        return double(slope)
    return double((exact_sum(ys) - slope * exact_sum(xs)) / len(xs))


def _finite(xs: Values, ys: Values) -> bool:
    return all(map(math.isfinite, [*xs, *ys]))


def _products(xs: Values, ys: Values) -> Fraction:
    """Sum of the products of what each pair is off its means."""
    mean_x, mean_y = exact_sum(xs) / len(xs), exact_sum(ys) / len(ys)
    pairs = zip(map(Fraction, xs), map(Fraction, ys), strict=True)
    return sum(((x - mean_x) * (y - mean_y) for x, y in pairs), Fraction(0))


def interpolated(values: Values, fraction: Any, down: bool = False) -> float:
    """PERCENTILE_CONT: between the two values around rank `fraction` of n - 1."""
    ranked = sorted(map(float, values), key=ascending, reverse=down)
    at = _exactly(fraction) * (len(ranked) - 1)
    low, high, rest = ranked[math.floor(at)], ranked[math.ceil(at)], at - math.floor(at)
    if low == high:
        return low
    if math.isfinite(high - low):
        return float(Fraction(low) * (1 - rest) + Fraction(high) * rest)
    return low + (high - low) * float(rest)


def nearest(values: Values, fraction: Any, down: bool = False) -> Any:
    """PERCENTILE_DISC: the first value that has `fraction` of all at or before it."""
    ranked = sorted(values, key=ascending, reverse=down)
    return ranked[max(math.ceil(_exactly(fraction) * len(ranked)), 1) - 1]


def _exactly(fraction: Any) -> Fraction:
    """0.1 is a tenth, as it was written, not the float next to it."""
    return Fraction(str(fraction))


def plain_sum(values: Values) -> float:
    """Floats added with one rounding at the end; what is not finite adds as in IEEE 754."""
    if all(math.isfinite(value) for value in values):
        return math.fsum(values)
    return sum(value for value in values if not math.isfinite(value))  # type: ignore[no-any-return]


def double(value: Fraction) -> float:
    """The nearest double; infinite beyond the greatest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def exact_sum(values: Values) -> Fraction:
    return sum((Fraction(value) for value in values), Fraction(0))


def fitted(value: Fraction, type_: pa.DataType) -> int | Decimal:
    """`value` in an integer or decimal type, ties away from zero; OutOfRange beyond it."""
    scale = type_.scale if pa.types.is_decimal(type_) else 0
    units = _half_up(value * 10**scale)
    if pa.types.is_decimal(type_):
        if abs(units) >= 10**type_.precision:
            raise OutOfRange
        return Decimal((int(units < 0), tuple(int(d) for d in str(abs(units))), -scale))
    if not -(2 ** (type_.bit_width - 1)) <= units < 2 ** (type_.bit_width - 1):
        raise OutOfRange
    return units


def _half_up(value: Fraction) -> int:
    away = math.floor(abs(value) + Fraction(1, 2))
    return away if value >= 0 else -away
