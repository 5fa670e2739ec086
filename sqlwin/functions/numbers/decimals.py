"""Arithmetic of decimals: exact, with the digits that Spark gives a result.

| of DECIMAL(p1, s1), DECIMAL(p2, s2) | digits behind the point | and before it            |
|-------------------------------------|-------------------------|--------------------------|
| + -                                 | max(s1, s2)             | max of both, one more    |
| *                                   | s1 + s2                 | sum of both, one more    |
| /                                   | max(6, s1 + p2 + 1)     | p1 - s1 + s2             |
| %                                   | max(s1, s2)             | min of both              |

Where they are more than 38, `types.bounded_decimal` says which are given up; the exact result is
rounded half up to those. DuckDB computes what it can compute exactly, Python's decimals the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.entry import Call
from sqlwin.functions.core.types import BIGINT, MOST_DIGITS
from sqlwin.functions.core.vectors import Vector, by_value, vector
from sqlwin.functions.numbers.decimal_digits import Digits, product_digits, sum_digits
from sqlwin.functions.numbers.decimal_quotients import possible, quotients

EXACT = Context(prec=160)
_LONG_DIGITS = 18
"""DuckDB computes with 64 bits as long as both operands have no more, and overflows."""
_MOST = Decimal(10) ** MOST_DIGITS
_WIDEST = pa.decimal128(MOST_DIGITS, 0)
_QUOTIENT = Decimal(1).scaleb(-(MOST_DIGITS + 1))
"""A quotient is rounded twice: to so many digits, then to those of its type."""


# --- types ------------------------------------------------------------------------------


# --- in Python --------------------------------------------------------------------------


def fitted(value: Decimal, type_: pa.DataType) -> Decimal | None:
    """Rounded half up; None where it has too many digits."""
    made = value.quantize(Decimal(1).scaleb(-type_.scale), ROUND_HALF_UP, EXACT)
    return made if made == 0 or len(made.as_tuple().digits) <= type_.precision else None


def too_large(value: Decimal, type_: pa.DataType) -> ValueError:
    digits = f"DECIMAL({type_.precision},{type_.scale})"
    return ValueError(f"[NUMERIC_VALUE_OUT_OF_RANGE] {value:f} cannot be represented as {digits}.")


Step = Callable[[Decimal, Decimal], Decimal | None]
"""None where there is no result."""


def _pair(name: str, step: Step, zero: str = "") -> tuple[Vector, Vector]:
    """The vector that raises and the one that gives NULL. zero: the error of a divisor of 0."""

    def of(x: Decimal, y: Decimal, type_: pa.DataType) -> Decimal | int | None:
        made = step(x, y)
        if type_ == BIGINT and made is not None:
            return _wrapped(int(made)) if made.copy_abs() < _MOST else None
        return None if made is None else fitted(made, type_)

    @vector(name, typed=True)
    def strict(type_: pa.DataType, one: pa.Array, other: pa.Array) -> pa.Array:
        def each(x: Decimal, y: Decimal) -> Decimal | int:
            if zero and y == 0:
                raise ValueError(zero)
            made = of(x, y, type_)
            if made is None:
                raise too_large(step(x, y) or Decimal(0), _WIDEST if type_ == BIGINT else type_)
            return made

        return by_value(each, one, other, type=type_)

    @vector(f"try{name}", typed=True)
    def lenient(type_: pa.DataType, one: pa.Array, other: pa.Array) -> pa.Array:
        def each(x: Decimal, y: Decimal) -> Decimal | int | None:
            return None if zero and y == 0 else of(x, y, type_)

        return by_value(each, one, other, type=type_)

    return strict, lenient


def _wrapped(value: int) -> int:
    """Its lowest 64 bits, as a signed number."""
    return (value + 2**63) % 2**64 - 2**63


def _quotient(x: Decimal, y: Decimal) -> Decimal:
    return EXACT.divide(x, y).quantize(_QUOTIENT, ROUND_HALF_UP, EXACT)


def _whole_quotient(x: Decimal, y: Decimal) -> Decimal:
    return EXACT.divide_int(x, y)


def _positive_remainder(x: Decimal, y: Decimal) -> Decimal:
    left = EXACT.remainder(x, y)
    return EXACT.remainder(EXACT.add(left, y), y) if left < 0 else left


BY_ZERO = "[DIVIDE_BY_ZERO] Division by zero."
NO_REMAINDER = "[REMAINDER_BY_ZERO] Remainder by zero."
_ADD = _pair("decimaladd", EXACT.add)
_SUBTRACT = _pair("decimalsubtract", EXACT.subtract)
_MULTIPLY = _pair("decimalmultiply", EXACT.multiply)
_DIVIDE = _pair("decimaldivide", _quotient, BY_ZERO)


@vector("decimalquotient", typed=True)
def _quick_divide(type_: pa.DataType, one: pa.Array, other: pa.Array) -> pa.Array:
    if pc.any(pc.and_(pc.equal(other, pa.scalar(Decimal(0), other.type)), one.is_valid())).as_py():
        raise ValueError(BY_ZERO)
    return quotients(one, other, type_)


@vector("trydecimalquotient", typed=True)
def _quick_divide_or_null(type_: pa.DataType, one: pa.Array, other: pa.Array) -> pa.Array:
    return quotients(one, other, type_)


_REMAINDER = _pair("decimalremainder", EXACT.remainder, NO_REMAINDER)
_PMOD = _pair("decimalpmod", _positive_remainder, NO_REMAINDER)
_DIV = _pair("decimaldiv", _whole_quotient, BY_ZERO)


SIGNED_DIGITS = 34
"""A sign is computed with so many, as IEEE's decimals of 128 bits have them."""
_SIGNED = Context(prec=SIGNED_DIGITS, rounding=ROUND_HALF_EVEN)


def _sign(name: str, step: Callable[[Decimal], Decimal]) -> Vector:
    @vector(name, typed=True)
    def made(type_: pa.DataType, values: pa.Array) -> pa.Array:
        def each(value: Decimal) -> Decimal:
            found = fitted(step(value), type_)
            if found is None:
                raise too_large(step(value), type_)
            return found

        return by_value(each, values, type=type_)

    return made


def _absolute(value: Decimal) -> Decimal:
    return _SIGNED.minus(value) if value < 0 else value


NEGATIVE = _sign("decimalnegative", _SIGNED.minus)
ABSOLUTE = _sign("decimalabs", _absolute)


# --- as text ----------------------------------------------------------------------------


def _computed(vectors: tuple[Vector, Vector], safe: bool) -> Callable[[Call], str]:
    chosen = vectors[safe]

    def text(call: Call) -> str:
        named = chosen.named([call.type(0), call.type(1)], call.result)
        return f"{named}({', '.join(call.texts)})"

    return text


def _native(
    symbol: str, vectors: tuple[Vector, Vector], safe: bool, digits: Digits, spare: int
) -> Callable[[Call], str]:
    """DuckDB's operator where it is exact. spare: digits of Spark's that no value needs."""
    otherwise = _computed(vectors, safe)

    def text(call: Call) -> str:
        one, other = call.type(0), call.type(1)
        needed = digits(one, other)[0] - spare
        if needed > MOST_DIGITS:
            return otherwise(call)
        left = call.texts[0]
        if needed > _LONG_DIGITS >= max(one.precision, other.precision):
            left = f"CAST({left} AS DECIMAL({max(_LONG_DIGITS + 1, one.precision)}, {one.scale}))"
        return f"CAST({left} {symbol} {call.texts[1]} AS {call.engine_type})"

    return text


def _common_digits(one: pa.DataType, other: pa.DataType) -> tuple[int, int]:
    wide, scale = sum_digits(one, other)
    return wide - 1, scale


def added(safe: bool) -> Callable[[Call], str]:
    return _native("+", _ADD, safe, sum_digits, 0)


def subtracted(safe: bool) -> Callable[[Call], str]:
    return _native("-", _SUBTRACT, safe, sum_digits, 0)


def multiplied(safe: bool) -> Callable[[Call], str]:
    return _native("*", _MULTIPLY, safe, product_digits, 1)


def divided(safe: bool) -> Callable[[Call], str]:
    otherwise = _computed(_DIVIDE, safe)
    quick = _computed((_quick_divide, _quick_divide_or_null), safe)

    def text(call: Call) -> str:
        exact = possible(call.type(0), call.type(1), call.result)
        return quick(call) if exact else otherwise(call)

    return text


def remainder(safe: bool) -> Callable[[Call], str]:
    if safe:
        return _computed(_REMAINDER, safe)
    return _native("%", _REMAINDER, safe, _common_digits, 0)


def positive_remainder(call: Call) -> str:
    return _computed(_PMOD, False)(call)


def whole_quotient(call: Call) -> str:
    return _computed(_DIV, False)(call)
