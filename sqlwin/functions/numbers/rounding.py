"""ROUND, BROUND, CEIL and FLOOR to a number of digits.

A DOUBLE is rounded as the decimal that its shortest text says: `round(1.005, 2)` of a DOUBLE is
1.01, though the number itself is a little less. `_scaled` does it with the number times 10^n
wherever that is far enough from a tie to leave no doubt, which is nearly always; the rest goes by
its text. A negative n rounds to tens, hundreds and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    Context,
    Decimal,
)
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.by_numbers import Numbers, by_numbers
from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.quick import usual
from sqlwin.functions.core.typed import Argument, Body, Typed
from sqlwin.functions.core.types import (
    DOUBLE,
    FLOAT,
    INT,
    MOST_DIGITS,
    bounded_decimal,
    is_decimal,
    is_float,
    is_integral,
)
from sqlwin.functions.core.vectors import Vector, by_value, only, vector
from sqlwin.functions.numbers.decimals import fitted, too_large

_WIDE = Context(prec=1100)
"""Holds every DOUBLE with all of its digits."""
_LEAST_SCALE = 400
"""Behind so many digits a DOUBLE has none."""
_SURE = 1e-7
"""How far a scaled number's fraction has to be from a half."""
_USUAL_SCALE = 8
"""Up to so many digits DuckDB rounds what is far from a tie."""
_LARGE = 1e8
"""From here on a scaled number's error may be as large as that."""


def _rounded(value: Decimal, scale: int, mode: str) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-scale), mode, _WIDE)


def _by_text(values: Numbers, scale: int, mode: str) -> Numbers:
    made = [float(_rounded(Decimal(str(x)), scale, mode)) if np.isfinite(x) else x for x in values]
    return np.array(made, values.dtype)


def _scaled(values: Numbers, scale: int, mode: str) -> Numbers:
    """Half up or half even; both are the nearest where there is no tie."""
    power = 10.0**scale
    scaled = values.astype(np.float64) * power
    made = (np.rint(scaled) / power).astype(values.dtype)
    fraction = np.abs(scaled - np.floor(scaled) - 0.5)
    unsure = (fraction < _SURE) | (np.abs(scaled) > _LARGE) | ~np.isfinite(scaled)
    if unsure.any():
        made[unsure] = _by_text(values[unsure], scale, mode)
    return made


def _floats(mode: str) -> Callable[[Numbers, int], Any]:
    def compute(values: Numbers, scale: int) -> Any:
        """0 has no sign afterwards."""
        return rounded(values, min(scale, _LEAST_SCALE)) + values.dtype.type(0)

    def rounded(values: Numbers, scale: int) -> Numbers:
        if values.dtype == np.float64 and 0 <= scale <= 15:
            return _scaled(values, scale, mode)
        return _by_text(values, scale, mode)

    return compute


def _whole(value: int, scale: int, mode: str, bits: int) -> int:
    made = int(_rounded(Decimal(value), scale, mode)) if scale < 0 else value
    if not -(2 ** (bits - 1)) <= made < 2 ** (bits - 1):
        raise ValueError(f"[ARITHMETIC_OVERFLOW] Overflow in rounding {value} to {scale} digits.")
    return made


def _vector(name: str, mode: str) -> Vector:
    @vector(name, typed=True)
    def compute(type_: pa.DataType, values: pa.Array, scales: pa.Array) -> pa.Array:
        scale = only(scales)
        if scale is None:
            return pa.nulls(len(values), type_)
        if is_float(type_):
            return by_numbers(lambda x: _floats(mode)(x, scale), values, type=type_)

        def each(value: Any) -> Any:
            if is_integral(type_):
                return _whole(value, scale, mode, type_.bit_width)
            made = fitted(_rounded(value, scale, mode), type_)
            if made is None:
                raise too_large(value, type_)
            return made

        return by_value(each, values, type=type_)

    return compute


_ROUND = _vector("round", ROUND_HALF_UP)
_BROUND = _vector("bround", ROUND_HALF_EVEN)
_CEIL = _vector("ceilto", ROUND_CEILING)
_FLOOR = _vector("floorto", ROUND_FLOOR)


def _scale(args: tuple[Typed | Body, ...]) -> int:
    if len(args) == 1:
        return 0
    scale = args[1]
    assert isinstance(scale, Typed)
    return 0 if scale.value is None else int(scale.value)


def _rounded_type(args: tuple[Typed | Body, ...]) -> pa.DataType:
    """Of a decimal, one digit more before the point: 9.9 is 10."""
    (given, *_), scale = args, _scale(args)
    assert isinstance(given, Typed)
    type_ = given.type
    if not is_decimal(type_):
        return type_
    whole = type_.precision - type_.scale + 1
    if scale < 0:
        return pa.decimal128(min(max(whole, 1 - scale), MOST_DIGITS), 0)
    kept = min(type_.scale, scale)
    return pa.decimal128(min(whole + kept, MOST_DIGITS), kept)


def _to_digits(vector_: Vector, native: str = "") -> Callable[[Call], str]:
    """native: DuckDB's text for 0 digits of a DOUBLE."""

    def text(call: Call) -> str:
        scale = _scale(call.args)
        if is_integral(call.result) and scale >= 0:
            return call.texts[0]
        if is_float(call.result) and scale == 0 and native:
            return native.format(call.texts[0], zero=f"CAST(0 AS {call.engine_type})")
        digits = call.args[1] if len(call.args) > 1 else literal(0, INT)
        named = vector_.named([call.type(0), INT], call.result)
        if call.result == DOUBLE and 0 < scale <= _USUAL_SCALE and native:
            return call.filled(usual(*_usual(scale), f"{named}({{0}}, {digits.sql})"))
        return f"{named}({call.texts[0]}, {digits.sql})"

    return text


def _usual(scale: int) -> tuple[str, str]:
    """As `_scaled`: which DOUBLEs are far from a tie, and they rounded; 0 loses its sign."""
    power = f"CAST({10**scale} AS DOUBLE)"
    scaled = f"({{0}} * {power})"
    near = f"abs({scaled} - floor({scaled}) - CAST(0.5 AS DOUBLE)) > CAST({_SURE} AS DOUBLE)"
    test = f"abs({scaled}) < CAST({_LARGE} AS DOUBLE) AND {near}"
    return test, f"(round({scaled}) / {power} + CAST(0 AS DOUBLE))"


def _decimal_rounded(call: Call) -> str:
    """DuckDB rounds decimals half up, and casts them so."""
    (given, *_), scale = call.args, _scale(call.args)
    type_ = call.type(0)
    if scale < 0 or call.result.precision - call.result.scale <= type_.precision - type_.scale:
        return _to_digits(_ROUND)(call)
    return f"CAST({given.sql} AS {call.engine_type})"


def _whole_type(type_: pa.DataType) -> pa.DataType:
    return bounded_decimal(type_.precision - type_.scale + 1, 0)


def _whole_of(function_: str) -> str:
    """A DOUBLE as a BIGINT; NaN is 0, as it is for Java."""
    too_large = f"NOT isnan({{0}}) AND ({{0}} >= {2.0**63!r} OR {{0}} < {-(2.0**63)!r})"
    message = f"[ARITHMETIC_OVERFLOW] Overflow in {function_}."
    return (
        f"CASE WHEN {too_large} THEN error('{message}') "
        f"WHEN isnan({{0}}) THEN 0 ELSE CAST({function_}({{0}}) AS BIGINT) END"
    )


def _towards(names: str, function_: str, vector_: Vector, doc: str) -> Function:
    return function(
        names,
        of("(BIGINT) -> BIGINT", "{0}"),
        of("(DECIMAL)", f"CAST({function_}({{0}}) AS {{result}})", result=_whole_type),
        of("(DOUBLE) -> BIGINT", _whole_of(function_), fails=True),
        of("(DECIMAL, INT!)", _to_digits(vector_), typing=_rounded_type, fails=True),
        doc=doc,
        before=_of_decimals,
    )


def _of_decimals(arguments: Sequence[Argument]) -> list[Argument]:
    """To a number of digits, a DOUBLE is taken for a decimal."""
    given, *scale = arguments or (None,)
    if not scale or not isinstance(given, Typed) or not is_float(given.type):
        return list(arguments)
    digits = pa.decimal128(14, 7) if given.type == FLOAT else pa.decimal128(30, 15)
    return [cast(given, digits, implicitly=True), *scale]


_EVEN = "(round_even({0}, 0) + {zero})"

FUNCTIONS: tuple[Function, ...] = (
    function(
        "round",
        of("(I, INT!?)", _to_digits(_ROUND), typing=_rounded_type, fails=True),
        of("(DECIMAL, INT!?)", _decimal_rounded, typing=_rounded_type, fails=True),
        of("(F, INT!?)", _to_digits(_ROUND, "(round({0}) + {zero})"), typing=_rounded_type),
        doc="Rounded to so many digits behind the point, halves away from 0.",
    ),
    function(
        "bround",
        of("(I, INT!?)", _to_digits(_BROUND), typing=_rounded_type, fails=True),
        of("(DECIMAL, INT!?)", _to_digits(_BROUND), typing=_rounded_type, fails=True),
        of(
            "(F, INT!?)", _to_digits(_BROUND, "(round_even({0}, 0) + {zero})"), typing=_rounded_type
        ),
        doc="Rounded to so many digits behind the point, halves to the even digit.",
    ),
    _towards("ceil ceiling", "ceil", _CEIL, "The least whole number that is not less."),
    _towards("floor", "floor", _FLOOR, "The greatest whole number that is not greater."),
)
