"""Quotients of decimals, many at once: in 64 bits where the numbers are small enough, else in 128.

The digits of `a`, with zeros behind, are divided by those of `b`; of a remainder of half the
divisor or more, the quotient is one greater. It is exact where the dividend with its zeros has
at most 38 digits, and where the divisor's are few enough that Spark's first rounding, to 39
digits, changes nothing (see `decimals`).

>>> from decimal import Decimal
>>> one, three = (pa.array([Decimal(x)], pa.decimal128(1, 0)) for x in "13")
>>> quotients(one, three, pa.decimal128(7, 6)).to_pylist()
[Decimal('0.333333')]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.functions.core.types import MOST_DIGITS

Words = np.ndarray[Any, Any]
_SMALL = 2**62
_NOUGHT = pl.Series([0], dtype=pl.Int128)
_WHOLE = pa.decimal128(MOST_DIGITS, 0)


def possible(one: pa.DataType, other: pa.DataType, result: pa.DataType) -> bool:
    zeros = result.scale - one.scale + other.scale
    fits = 0 <= zeros <= MOST_DIGITS - one.precision and other.precision < MOST_DIGITS
    return bool(fits and other.precision + result.scale <= MOST_DIGITS + 1)


def quotients(one: pa.Array, other: pa.Array, result: pa.DataType) -> pa.Array:
    """NULL where the divisor is NULL or 0."""
    zeros = result.scale - one.type.scale + other.type.scale
    absent = _absent(one) | _absent(other)
    dividend, divisor = _words(one, absent), _words(other, absent)
    if dividend is not None and divisor is not None:
        absent = absent | (divisor == 0)
        found = _in_64_bits(dividend, np.where(absent, 1, divisor), zeros)
        if found is not None:
            return _made(found, absent, result)
    return _in_128_bits(one, other, 10**zeros, result)


def _absent(array: pa.Array) -> Words:
    return array.is_null().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _words(array: pa.Array, absent: Words) -> Words | None:
    """The digits, 0 where they are absent; None where 64 bits do not hold them."""
    pairs = np.frombuffer(array.buffers()[1], np.int64).reshape(-1, 2)
    low, high = pairs[array.offset : array.offset + len(array)].T
    small = absent | ((low >> 63) == high)
    made = np.where(absent, 0, low)
    return made if small.all() and _greatest(made) < _SMALL else None


def _greatest(words: Words) -> int:
    return max(abs(int(words.min())), abs(int(words.max()))) if len(words) else 0


def _in_64_bits(dividend: Words, divisor: Words, zeros: int) -> Words | None:
    """As it is done on paper, some digits at a time; None where 64 bits do not do."""
    negative = (dividend < 0) != (divisor < 0)
    divisor = np.abs(divisor)
    found, rest = np.divmod(np.abs(dividend), divisor)
    at_once = len(str(_SMALL // max(1, _greatest(divisor)))) - 1
    while zeros:
        power = 10 ** min(at_once, zeros)
        if power == 1 or _greatest(found) * power >= _SMALL:
            return None
        more, rest = np.divmod(rest * power, divisor)
        found = found * power + more
        zeros -= min(at_once, zeros)
    found += rest >= divisor - rest
    return np.where(negative, -found, found)


def _made(digits: Words, absent: Words, type_: pa.DataType) -> pa.Array:
    words = np.stack((digits, digits >> 63), axis=1)
    valid = np.packbits(~absent, bitorder="little")
    return pa.Array.from_buffers(type_, len(digits), [pa.py_buffer(valid), pa.py_buffer(words)])


def _in_128_bits(one: pa.Array, other: pa.Array, zeros: int, type_: pa.DataType) -> pa.Array:
    dividend = _digits(one) * pl.Series([zeros], dtype=pl.Int128)
    divisor = _digits(other)
    negative = (dividend < 0) != (divisor < 0)
    dividend, divisor = dividend.abs(), divisor.abs()
    found = dividend // divisor
    rest = dividend - found * divisor
    found = found + (rest >= divisor - rest).cast(pl.Int128)
    signed = pl.select(pl.when(negative).then(_NOUGHT - found).otherwise(found)).to_series()
    return _decimals(signed, type_)


def _digits(array: pa.Array) -> pl.Series:
    whole = pa.Array.from_buffers(_WHOLE, len(array), array.buffers(), offset=array.offset)
    made = pl.from_arrow(whole)
    assert isinstance(made, pl.Series)
    return made.cast(pl.Int128)


def _decimals(digits: pl.Series, type_: pa.DataType) -> pa.Array:
    whole = digits.cast(pl.Decimal(MOST_DIGITS, 0)).to_arrow()
    return pa.Array.from_buffers(type_, len(whole), whole.buffers(), offset=whole.offset)
