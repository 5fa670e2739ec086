"""How many digits a result of decimals has, as Spark says.

Invariant: no type has more than 38; where more are wanted, those behind the point give way, to six.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from sqlwin.functions.core.types import bounded_decimal


def sum_digits(one: pa.DataType, other: pa.DataType) -> tuple[int, int]:
    scale = max(one.scale, other.scale)
    return max(one.precision - one.scale, other.precision - other.scale) + scale + 1, scale


def product_digits(one: pa.DataType, other: pa.DataType) -> tuple[int, int]:
    return one.precision + other.precision + 1, one.scale + other.scale


def quotient_digits(one: pa.DataType, other: pa.DataType) -> tuple[int, int]:
    scale = max(6, one.scale + other.precision + 1)
    return one.precision - one.scale + other.scale + scale, scale


def remainder_digits(one: pa.DataType, other: pa.DataType) -> tuple[int, int]:
    scale = max(one.scale, other.scale)
    return min(one.precision - one.scale, other.precision - other.scale) + scale, scale


Digits = Callable[[pa.DataType, pa.DataType], tuple[int, int]]


def _bounded(digits: Digits) -> Callable[..., pa.DataType]:
    return lambda one, other: bounded_decimal(*digits(one, other))


sum_type = _bounded(sum_digits)
product_type = _bounded(product_digits)
quotient_type = _bounded(quotient_digits)
remainder_type = _bounded(remainder_digits)
