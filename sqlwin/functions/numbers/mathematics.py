"""Functions of numbers: roots, logarithms, angles, and numbers as text of another base.

Logarithms of what has none are NULL, other functions outside of their range NaN, as in Spark.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin.functions.core.by_numbers import Numbers, of_doubles
from sqlwin.functions.core.entry import Call, Function, How, function, of
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.vectors import by_value, vector
from sqlwin.functions.numbers import rounding

_UNARY = "(DOUBLE) -> DOUBLE"
_BINARY = "(DOUBLE, DOUBLE) -> DOUBLE"


def _unary(names: str, how: How, doc: str) -> Function:
    return function(names, of(_UNARY, how, fails=False), doc=doc)


def _atanh(x: Numbers) -> Any:
    return 0.5 * (np.log1p(x) - np.log1p(-x))


def _log1p(call: Call) -> str:
    inner = _LOG1P.named([call.type(0)], call.result)
    return call.filled(f"CASE WHEN {{0}} > -1 THEN {inner}({{0}}) END")


_LOG1P = of_doubles("log1p", np.log1p)


def _power(call: Call) -> str:
    """Java's 1 to the power of NaN or of an infinity is NaN."""
    exponent = call.args[1]
    value = exponent.value if isinstance(exponent, Typed) else None
    if isinstance(value, float) and math.isfinite(value):
        return f"pow({call.texts[0]}, {call.texts[1]})"
    odd = "abs({0}) = 1 AND NOT isfinite({1})"
    return call.filled(f"CASE WHEN {odd} THEN CAST('nan' AS DOUBLE) ELSE pow({{0}}, {{1}}) END")


_SIGN = "CASE WHEN {0} > 0 AND NOT isnan({0}) THEN 1e0 WHEN {0} < 0 THEN -1e0 ELSE {0} END"
_INTERVAL_SIGN = "CAST(sign({0}) AS DOUBLE)"


@vector("conv")
def _conv(texts: pa.Array, bases: pa.Array, wanted: pa.Array) -> pa.Array:
    return by_value(_converted, texts, bases, wanted, type=pa.string())


_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _converted(text: str, base: int, wanted: int) -> str | None:
    """Hive's: 64 bits without a sign, with one where the base wanted is negative."""
    written = text.strip(" ")
    if not 2 <= base <= 36 or not 2 <= abs(wanted) <= 36 or not written:
        return None
    negative = written.startswith("-")
    number = 0
    for letter in written[negative:].upper():
        digit = _DIGITS.find(letter)
        if not 0 <= digit < base:
            break
        number = number * base + digit
        if number >= 2**64:
            raise ValueError(f"[ARITHMETIC_OVERFLOW] Overflow in function conv() of '{text}'.")
    made = _in_base(_with_sign(number, negative, wanted), abs(wanted))
    return f"-{made}" if negative and wanted < 0 and not made.startswith("-") else made


def _with_sign(number: int, negative: bool, wanted: int) -> int:
    if negative and wanted > 0:
        number = 2**64 - 1 if number >= 2**63 else (2**64 - number) % 2**64
    elif wanted < 0:
        signed = number - 2**64 if number >= 2**63 else number
        number = -abs(signed) if negative else signed
    return number


def _in_base(number: int, base: int) -> str:
    digits, left = "", abs(number)
    while left or not digits:
        left, digit = divmod(left, base)
        digits = _DIGITS[digit] + digits
    return ("-" if number < 0 else "") + digits


@vector("widthbucket")
def _width_bucket(value: pa.Array, low: pa.Array, high: pa.Array, count: pa.Array) -> pa.Array:
    return by_value(_bucket, value, low, high, count, type=pa.int64())


def _bucket(value: float, low: float, high: float, count: int) -> int | None:
    bad = count <= 0 or count == 2**63 - 1 or math.isnan(value) or low == high
    if bad or not (math.isfinite(low) and math.isfinite(high)):
        return None
    lower, upper = min(low, high), max(low, high)
    if low < high:
        if value < lower:
            return 0
        return count + 1 if value >= upper else int(count * (value - lower) / (upper - lower)) + 1
    if value > upper:
        return 0
    return count + 1 if value <= lower else int(count * (upper - value) / (upper - lower)) + 1


def _log(call: Call) -> str:
    """Both are evaluated, though a base of no logarithm decides."""
    first, second = "{0} > 0", "{1} > 0"
    if any(arg.fails for arg in call.args if isinstance(arg, Typed)):
        first, second = second, first
    return call.filled(f"CASE WHEN {first} AND {second} THEN ln({{1}}) / ln({{0}}) END")


def _cube_root(values: Any) -> Any:
    """Some libraries are a digit off where others, and Java, are not: it is rounded from more."""
    return np.cbrt(values.astype(np.longdouble)).astype(np.float64)


FUNCTIONS: tuple[Function, ...] = (
    *rounding.FUNCTIONS,
    _unary("rint", of_doubles("rint", np.rint), "The nearest whole number, halves to even."),
    _unary("sqrt", "sqrt({0})", "The square root; NaN of a negative number."),
    _unary("cbrt", of_doubles("cbrt", _cube_root), "The cube root."),
    _unary("exp", "exp({0})", "e to the power of a number."),
    _unary("expm1", of_doubles("expm1", np.expm1), "e to the power of a number, less 1."),
    _unary("ln", "CASE WHEN {0} > 0 THEN ln({0}) END", "The natural logarithm."),
    _unary("log10", "CASE WHEN {0} > 0 THEN log10({0}) END", "The logarithm of base 10."),
    _unary("log2", "CASE WHEN {0} > 0 THEN ln({0}) / ln(2e0) END", "The logarithm of base 2."),
    _unary("log1p", _log1p, "The natural logarithm of a number and 1."),
    function(
        "log",
        of(_UNARY, "CASE WHEN {0} > 0 THEN ln({0}) END"),
        of(_BINARY, _log),
        doc="The natural logarithm, or of a base, which comes first.",
    ),
    function("pow power", of(_BINARY, _power), doc="The first to the power of the second."),
    function(
        "hypot",
        of(_BINARY, of_doubles("hypot", np.hypot), fails=False),
        doc="The length of what has these sides.",
    ),
    *(
        _unary(name, f"{name}({{0}})", doc)
        for name, doc in {
            "sin": "The sine.",
            "cos": "The cosine.",
            "tan": "The tangent.",
            "asin": "The inverse sine; NaN outside of -1 to 1.",
            "acos": "The inverse cosine; NaN outside of -1 to 1.",
            "atan": "The inverse tangent.",
            "sinh": "The hyperbolic sine.",
            "cosh": "The hyperbolic cosine.",
            "tanh": "The hyperbolic tangent.",
            "degrees": "An angle in degrees.",
            "radians": "An angle in radians.",
        }.items()
    ),
    _unary("cot", "(1e0 / tan({0}))", "The cotangent."),
    _unary("sec", "(1e0 / cos({0}))", "The secant."),
    _unary("csc", "(1e0 / sin({0}))", "The cosecant."),
    _unary("asinh", of_doubles("asinh", np.arcsinh), "The inverse hyperbolic sine."),
    _unary("acosh", of_doubles("acosh", np.arccosh), "The inverse hyperbolic cosine."),
    _unary("atanh", of_doubles("atanh", _atanh), "The inverse hyperbolic tangent."),
    function("atan2", of(_BINARY, "atan2({0} + 0e0, {1} + 0e0)"), doc="A point's angle, y first."),
    function("e", of("() -> DOUBLE", f"CAST('{math.e!r}' AS DOUBLE)"), doc="Euler's number."),
    function("pi", of("() -> DOUBLE", f"CAST('{math.pi!r}' AS DOUBLE)"), doc="Pi."),
    function(
        "sign signum",
        of("(INTERVAL_YM) -> DOUBLE", _INTERVAL_SIGN),
        of("(INTERVAL_DT) -> DOUBLE", _INTERVAL_SIGN),
        of(_UNARY, _SIGN),
        doc="-1, 0 or 1, as a DOUBLE.",
    ),
    function(
        "factorial",
        of(
            "(INT) -> BIGINT",
            "CASE WHEN {0} BETWEEN 0 AND 20 THEN CAST(factorial({0}) AS BIGINT) END",
        ),
        doc="The product of all numbers up to one; NULL but from 0 to 20.",
    ),
    function("bin", of("(BIGINT) -> STRING", "bin({0})"), doc="The 64 bits, without zeros before."),
    function(
        "conv",
        of("(STRING, INT, INT) -> STRING", _conv),
        doc="A number's text in one base as that in another.",
    ),
    function(
        "width_bucket",
        of("(DOUBLE, DOUBLE, DOUBLE, BIGINT) -> BIGINT", _width_bucket, fails=False),
        of("(INTERVAL_YM, INTERVAL_YM, INTERVAL_YM, BIGINT) -> BIGINT", _width_bucket, fails=False),
        of("(INTERVAL_DT, INTERVAL_DT, INTERVAL_DT, BIGINT) -> BIGINT", _width_bucket, fails=False),
        doc="Which of so many buckets of equal width a number falls in.",
    ),
)
