"""TO_CHAR, TO_NUMBER and FORMAT_NUMBER."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, Overload, function, of
from sqlwin.functions.core.quick import usual
from sqlwin.functions.core.typed import Body, Refused, Typed
from sqlwin.functions.core.types import DOUBLE, FLOAT, STRING
from sqlwin.functions.core.vectors import Vector, by_value, only, vector
from sqlwin.functions.formats import by_digits
from sqlwin.functions.formats.decimal_patterns import by_pattern, with_places
from sqlwin.functions.formats.number_formats import NumberFormat, number_format
from sqlwin.functions.times.formats import PRINTED

_EXACT = {
    FLOAT: pa.decimal128(14, 7),
    DOUBLE: pa.decimal128(30, 15),
    STRING: pa.decimal128(38, 18),
}
"""What is no DECIMAL becomes one."""


@vector("to_char")
def _to_char(numbers: pa.Array, formats: pa.Array) -> pa.Array:
    one = only(formats)
    quick = None if one is None else by_digits.printed(numbers, number_format(one))
    if quick is not None:
        return quick
    return by_value(lambda n, f: number_format(f).printed(n), numbers, formats, type=STRING)


def _value(arg: Typed | Body) -> Any:
    assert isinstance(arg, Typed)
    return arg.value


def _checked(call: Call) -> None:
    if isinstance(_value(call.args[1]), str):
        _format(call.args)


def _format(args: tuple[Typed | Body, ...]) -> NumberFormat:
    try:
        return number_format(str(_value(args[1])))
    except ValueError as error:
        raise Refused(str(error), legal="'999,990.00', 'S9999', '$99.99'", at=1) from None


def _number(call: Call) -> str:
    _checked(call)
    return f"{_to_char.named([call.type(0), STRING], STRING)}({', '.join(call.texts)})"


def _cast_number(call: Call) -> str:
    given = call.args[0]
    assert isinstance(given, Typed)
    return _number(Call((cast(given, _EXACT[given.type]), call.args[1]), call.result))


_BINARY = {"base64": "base64({0})", "hex": "hex({0})", "utf-8": "decode({0})"}


def _binary(call: Call) -> str:
    text = _BINARY.get(str(_value(call.args[1])).lower())
    if text is None:
        raise Refused("there is no such form", legal="'base64', 'hex', 'utf-8'", at=1)
    return call.filled(text)


def _read(named: str, strict: bool) -> Vector:
    @vector(named, typed=True)
    def compute(type_: pa.DataType, texts: pa.Array, formats: pa.Array) -> pa.Array:
        def one(text: str, format_: str) -> Decimal | None:
            found = number_format(format_).read(text)
            if found is None and strict:
                raise ValueError(
                    f"[INVALID_FORMAT.MISMATCH_INPUT] '{text[:200]}' is no number of '{format_}'"
                )
            return found

        return by_value(one, texts, formats, type=type_)

    return compute


def _read_type(args: tuple[Typed | Body, ...]) -> pa.DataType:
    if _value(args[1]) is None:
        return pa.decimal128(10, 0)
    return pa.decimal128(*_format(args).digits)


def _reads(named: str, strict: bool) -> Overload:
    return of("(STRING, STRING!)", _read(named, strict), typing=_read_type)


def _printing(compute: Callable[..., str | None]) -> Callable[..., pa.Array]:
    return lambda numbers, how: by_value(compute, numbers, how, type=STRING)


_places = vector("format_number")(_printing(with_places))
_pattern = vector("format_number_by")(_printing(by_pattern))

_USUAL = "abs({0}) < CAST(1e9 AS DOUBLE)"
_MOST = 5
"""Places with which DuckDB prints those, as every DOUBLE, from all of its digits."""


def _with_places(call: Call) -> str:
    exact = f"{_places.named([call.type(0), call.type(1)], STRING)}({{0}}, {{1}})"
    places = _value(call.args[1])
    if call.type(0) != DOUBLE or not isinstance(places, int) or not 0 <= places <= _MOST:
        return call.filled(exact)
    printed = f"format('{{{{:,.{places}f}}}}', {{0}})"
    return call.filled(usual(_USUAL, printed, exact))


TEXTS: tuple[Function, ...] = (
    function(
        "to_char to_varchar",
        *PRINTED,
        of("(BINARY, STRING!) -> STRING", _binary, strict=True),
        of("(DECIMAL, STRING) -> STRING", _number, fails=True, strict=True),
        of("(F, STRING) -> STRING", _cast_number, fails=True, strict=True),
        of("(STRING, STRING) -> STRING", _cast_number, fails=True, strict=True),
        doc="A number printed by a format ('999,990.00'), a date by a pattern, bytes as text.",
    ),
    function(
        "to_number",
        _reads("to_number", strict=True),
        doc="The DECIMAL of a text, by a format: TO_NUMBER('$12.50', '$99.99').",
    ),
    function(
        "try_to_number",
        _reads("try_to_number", strict=False),
        doc="TO_NUMBER, but NULL where the text is not of the format.",
    ),
    function(
        "format_number",
        of("(N, INT) -> STRING", _with_places, fails=True, strict=True),
        of("(N, STRING) -> STRING", _pattern, strict=True),
        doc="A number with thousands apart, and so many places or a pattern such as '#,##0.00'.",
    ),
)
