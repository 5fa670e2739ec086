"""Arithmetic: + - * / DIV % and the signs, with ANSI's errors, and what is NULL instead of them.

Integral numbers keep the wider of their types and raise where that does not do; DOUBLEs follow
IEEE, but that 0 divides nothing; decimals are exact (see `decimals`). A literal without a
fraction beside a decimal is one of just its own digits, as in Spark: `price * 2` has one digit
more than the price, and the one of its sign.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.casts.operands import (
    beside,
    beside_safely,
    divided,
    divided_safely,
    remaining,
)
from sqlwin.functions.core.by_numbers import Numbers, by_numbers
from sqlwin.functions.core.entry import Call, Function, How, Overload, function, of, rendered
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import is_decimal, is_integral
from sqlwin.functions.core.vectors import Vector, vector
from sqlwin.functions.numbers import decimal_digits, decimals

_ZERO = {"/": decimals.BY_ZERO, "%": decimals.NO_REMAINDER}
_SHORT = 120
"""Characters of operands that DuckDB may compute twice."""


def _known_divisor(call: Call) -> bool:
    divisor = call.args[1]
    return isinstance(divisor, Typed) and divisor.is_constant and divisor.value not in (0, None)


def _is_known(call: Call) -> bool:
    dividend = call.args[0]
    return isinstance(dividend, Typed) and dividend.is_constant and dividend.value is not None


def _floating(symbol: str, vector_: Vector) -> How:
    """Of DOUBLEs or FLOATs, where the divisor must not be 0."""

    def text(call: Call) -> str:
        one, other = call.texts
        if _known_divisor(call):
            return f"({one} {symbol} {other})"
        if len(one) + len(other) > _SHORT:
            return f"{vector_.named([call.type(0), call.type(1)], call.result)}({one}, {other})"
        zero = f"{other} = 0" if _is_known(call) else f"{other} = 0 AND {one} IS NOT NULL"
        return f"CASE WHEN {zero} THEN error('{_ZERO[symbol]}') ELSE {one} {symbol} {other} END"

    return text


def _checked(zero: str, divisor: pa.Array, dividend: pa.Array) -> None:
    if pc.any(pc.and_(pc.equal(divisor, 0), dividend.is_valid())).as_py():
        raise ValueError(zero)


@vector("divide")
def _divide(one: pa.Array, other: pa.Array) -> pa.Array:
    _checked(decimals.BY_ZERO, other, one)
    return pc.divide(one, other)


@vector("remainder")
def _remainder(one: pa.Array, other: pa.Array) -> pa.Array:
    _checked(decimals.NO_REMAINDER, other, one)
    return by_numbers(np.fmod, one, other, type=one.type)


@vector("pmod")
def _pmod(one: pa.Array, other: pa.Array) -> pa.Array:
    """As Java computes it: in 32 bits, or 64, that wrap around."""
    _checked(decimals.NO_REMAINDER, other, one)

    def compute(x: Numbers, y: Numbers) -> Numbers:
        if x.dtype.itemsize < 4:
            x, y = x.astype(np.int32), y.astype(np.int32)
        left = np.fmod(x, y)
        return np.where(left < 0, np.fmod(left + y, np.where(y == 0, 1, y)), left)

    return by_numbers(compute, one, other, type=one.type)


def attempted(call: Call, template: str) -> str:
    """NULL where the template fails, though not where its arguments do."""
    if not any(arg.fails for arg in call.args if isinstance(arg, Typed)):
        return f"TRY({template.format(*call.texts)})"
    given = ", ".join(f"'a{at}': {text}" for at, text in enumerate(call.texts))
    named = template.format(*(f"__p.a{at}" for at in range(len(call.texts))))
    return f"list_apply([{{{given}}}], lambda __p: TRY({named}))[1]"


def _whole(symbol: str, safe: bool) -> How | str:
    template = f"({{0}} {symbol} {{1}})"
    return (lambda call: attempted(call, template)) if safe else template


Decimals = Callable[[bool], How]


def _operator(
    symbol: str, exact: Decimals, result: Callable[..., pa.DataType], safe: bool = False
) -> tuple[Overload, ...]:
    """+, - and *."""
    return (
        of("(I, I) -> I", _whole(symbol, safe), fails=not safe),
        of("(DECIMAL, DECIMAL)", exact(safe), result=result, fails=not safe),
        of("(N, N) -> N", f"({{0}} {symbol} {{1}})", strict=True),
    )


def _quotients(safe: bool = False) -> tuple[Overload, ...]:
    floating = "CASE WHEN {1} <> 0 THEN {0} / {1} END" if safe else _floating("/", _divide)
    exact = decimals.divided(safe)
    return (
        of("(DECIMAL, DECIMAL)", exact, result=decimal_digits.quotient_type, fails=not safe),
        of("(DOUBLE, DOUBLE) -> DOUBLE", floating, fails=not safe, strict=True),
    )


def _remainders(safe: bool = False) -> tuple[Overload, ...]:
    floating = "CASE WHEN {1} <> 0 THEN {0} % {1} END" if safe else _floating("%", _remainder)
    exact = decimals.remainder(safe)
    return (
        of("(I, I) -> I", _remainder_text(safe), fails=not safe),
        of("(DECIMAL, DECIMAL)", exact, result=decimal_digits.remainder_type, fails=not safe),
        of("(F, F) -> F", floating, fails=not safe, strict=True),
        of("(DOUBLE, DOUBLE) -> DOUBLE", floating, fails=not safe, strict=True),
    )


def _remainder_text(safe: bool) -> How:
    """DuckDB takes the least number % -1 for an overflow."""

    def text(call: Call) -> str:
        if safe:
            return call.filled("CASE WHEN {1} = -1 THEN {0} - {0} WHEN {1} <> 0 THEN {0} % {1} END")
        if _known_divisor(call) and call.args[1].value != -1:  # type: ignore[union-attr]
            return f"({call.texts[0]} % {call.texts[1]})"
        return call.filled("CASE WHEN {1} = -1 THEN {0} - {0} ELSE {0} % {1} END")

    return text


def _minus(call: Call) -> str:
    """DuckDB's own sign gives a wider type, and 0 - x a positive 0."""
    if is_decimal(call.result) and call.result.precision > decimals.SIGNED_DIGITS:
        return rendered(decimals.NEGATIVE, call)
    if is_integral(call.result):
        return f"(CAST(0 AS {call.engine_type}) - {call.texts[0]})"
    return f"(-{call.texts[0]})"


def _abs(call: Call) -> str:
    if is_decimal(call.result) and call.result.precision > decimals.SIGNED_DIGITS:
        return rendered(decimals.ABSOLUTE, call)
    return f"abs({call.texts[0]})"


_SIGNED = "(N) -> N"

FUNCTIONS: tuple[Function, ...] = (
    function(
        "+",
        *_operator("+", decimals.added, decimal_digits.sum_type),
        doc="The sum.",
        before=beside,
    ),
    function(
        "-",
        *_operator("-", decimals.subtracted, decimal_digits.sum_type),
        doc="The difference.",
        before=beside,
    ),
    function(
        "*",
        *_operator("*", decimals.multiplied, decimal_digits.product_type),
        doc="The product.",
        before=beside,
    ),
    function("/", *_quotients(), doc="The quotient; 0 as divisor raises.", before=divided),
    function(
        "% mod",
        *_remainders(),
        doc="What division leaves, of the dividend's sign.",
        before=remaining,
    ),
    function(
        "div",
        of("(BIGINT, BIGINT) -> BIGINT", "({0} // {1})", fails=True),
        of("(DECIMAL, DECIMAL) -> BIGINT", decimals.whole_quotient, fails=True),
        doc="The quotient without its fraction, a BIGINT.",
        before=beside,
    ),
    function(
        "pmod",
        of("(I, I) -> I", _pmod, fails=True),
        of(
            "(DECIMAL, DECIMAL)",
            decimals.positive_remainder,
            result=decimal_digits.remainder_type,
            fails=True,
        ),
        of("(F, F) -> F", _pmod, fails=True, strict=True),
        of("(DOUBLE, DOUBLE) -> DOUBLE", _pmod, fails=True, strict=True),
        doc="The remainder that is not negative.",
        before=remaining,
    ),
    function(
        "try_add",
        *_operator("+", decimals.added, decimal_digits.sum_type, safe=True),
        doc="The sum; NULL where it overflows.",
        before=beside_safely,
    ),
    function(
        "try_subtract",
        *_operator("-", decimals.subtracted, decimal_digits.sum_type, safe=True),
        doc="The difference; NULL where it overflows.",
        before=beside_safely,
    ),
    function(
        "try_multiply",
        *_operator("*", decimals.multiplied, decimal_digits.product_type, safe=True),
        doc="The product; NULL where it overflows.",
        before=beside_safely,
    ),
    function(
        "try_divide",
        *_quotients(safe=True),
        doc="The quotient; NULL where the divisor is 0.",
        before=divided_safely,
    ),
    function(
        "try_mod",
        *_remainders(safe=True),
        doc="The remainder; NULL where the divisor is 0.",
        before=beside_safely,
    ),
    function("negative", of(_SIGNED, _minus, fails=True), doc="The number with its sign changed."),
    function("positive", of(_SIGNED, "{0}"), doc="The number as it is."),
    function("abs", of(_SIGNED, _abs, fails=True), doc="The number without its sign."),
)
