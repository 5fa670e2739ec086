"""Casts of STRING to the numbers, BOOLEAN and BINARY.

A text is read as Java reads it, without the blanks around: digits with a sign for an integral
number, also a point and an exponent for a decimal, and for a DOUBLE `NaN`, `Infinity`, `1d` and
hexadecimal ones, too. `_numeral` brings it to what DuckDB reads alike, or refuses it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.casts.casting import Casting, How
from sqlwin.functions.casts.texts import single
from sqlwin.functions.core.literals import decimal_of
from sqlwin.functions.core.quick import usual
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    STRING,
    is_decimal,
    is_float,
    is_integral,
    name,
)
from sqlwin.functions.core.vectors import Vector, by_value, only, vector

_BLANK = "".join(map(chr, range(0x21)))
_BLANK_TOO = _BLANK + "\x7f"
_INTEGRAL = r"^[+-]?[0-9]+$"
_DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,10})?$"
_PLAIN = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$"
_MOST_WRITTEN = 50
"""A number of a larger exponent has no place in any decimal, or is 0 in it."""
_SPECIAL = {
    **{sign + word: "inf" for sign in ("", "+") for word in ("inf", "infinity")},
    "-inf": "-inf",
    "-infinity": "-inf",
    "nan": "nan",
}
_JAVA_NAN = re.compile(r"[+-]NaN")
_JAVA_FLOAT = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFdD]?")
_HEX = r"[0-9a-fA-F]"
_JAVA_HEX = re.compile(rf"([+-]?0[xX](?:{_HEX}+\.?{_HEX}*|\.{_HEX}+)[pP][+-]?\d+)[fFdD]?")

Read = Callable[[str], str | None]


def malformed(value: str, type_: str, given: str = "STRING") -> ValueError:
    return ValueError(
        f"[CAST_INVALID_INPUT] The value '{value}' of the type \"{given}\" cannot be cast to "
        f'"{type_.upper()}" because it is malformed.'
    )


def _float_text(text: str) -> str | None:
    special = _SPECIAL.get(text.lower())
    if special is not None:
        return special
    if _JAVA_NAN.fullmatch(text):
        return "nan"
    plain = _JAVA_FLOAT.fullmatch(text)
    if plain is not None:
        return plain[1]
    hexadecimal = _JAVA_HEX.fullmatch(text)
    return None if hexadecimal is None else repr(float.fromhex(hexadecimal[1]))


def _exact_text(text: str) -> str | None:
    """With digits of any script, and with an exponent, of which DuckDB makes numbers that have
    more digits than their type."""
    made = "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in text)
    if not re.match(_DECIMAL, made):
        return None
    number = Decimal(made)
    if abs(number.adjusted()) <= _MOST_WRITTEN:
        return f"{number:f}"
    return made if number and number.adjusted() > 0 else "0"


def _read(texts: pa.Array, pattern: str, blank: str, other: Read | None) -> pa.Array:
    """Each as DuckDB reads it, NULL where it is none. other: of what is not of the pattern."""
    trimmed = pc.utf8_trim(texts, characters=blank)
    plain = pc.match_substring_regex(trimmed, pattern)
    made = pc.if_else(plain, trimmed, None)
    if other is None or made.null_count == texts.null_count:
        return made
    return pc.coalesce(made, by_value(other, trimmed, type=pa.string()))


def _numeral(
    name_: str, pattern: str, blank: str, other: Read | None = None
) -> tuple[Vector, Vector]:
    @vector(f"numeral{name_}")
    def strict(texts: pa.Array, types: pa.Array) -> pa.Array:
        made = _read(texts, pattern, blank, other)
        if made.null_count > texts.null_count:
            bad = pc.filter(texts, pc.and_(made.is_null(), texts.is_valid()))[0].as_py()
            raise malformed(bad, only(types) or "a number")
        return made

    @vector(f"trynumeral{name_}")
    def lenient(texts: pa.Array, types: pa.Array) -> pa.Array:
        return _read(texts, pattern, blank, other)

    return strict, lenient


_WHOLE = _numeral("whole", _INTEGRAL, _BLANK_TOO)
_EXACT = _numeral("exact", _PLAIN, _BLANK, _exact_text)
_FLOATING = _numeral("floating", _DECIMAL, _BLANK, _float_text)


def _usual(to: pa.DataType) -> str:
    """Which texts DuckDB reads as Java does: integral ones as DuckDB prints them, without blanks
    and 0s before them; of others all but `1_000`, `+-1`, infinity and NaN."""
    if is_integral(to):
        return "CAST(TRY_CAST({0} AS {result}) AS VARCHAR) = {0}"
    finite = "isfinite(TRY_CAST({0} AS {result}))"
    return f"{finite} AND NOT contains({{0}}, '_') AND NOT contains({{0}}, '+')"


def _to_number(casting: Casting) -> Typed:
    to = casting.to
    pair = _WHOLE if is_integral(to) else _EXACT if is_decimal(to) else _FLOATING
    read = pair[casting.safe].named([STRING, STRING], STRING)
    word = "TRY_CAST" if casting.safe else "CAST"
    exact = f"{word}({read}({{0}}, '{name(to)}') AS {{result}})"
    quick = usual(_usual(to), "TRY_CAST({0} AS {result})", exact)
    made = casting.text(exact if is_decimal(to) else quick)
    return Typed(made.sql, to, fails=casting.given.fails or not casting.safe)


def constant(text: str, to: pa.DataType) -> Any:
    """The value of a text as a number, a BOOLEAN or bytes; None where the engine has to see."""
    plain = text.strip(_BLANK)
    if to == BOOLEAN:
        return {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False)}.get(plain.lower())
    if to == BINARY:
        return text.encode()
    if is_float(to):
        read = _float_text(plain)
        return None if read is None else float(read) if to == DOUBLE else single(read)
    if is_decimal(to) and re.match(_DECIMAL, plain) and len(plain) < 40:
        return decimal_of(Decimal(plain), to)
    if is_integral(to) and re.match(_INTEGRAL, plain):
        limit = 2 ** (to.bit_width - 1)
        return int(plain) if -limit <= int(plain) < limit else None
    return None


_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")


def _truth(texts: pa.Array) -> pa.Array:
    plain = pc.utf8_lower(pc.utf8_trim(texts, characters=_BLANK_TOO))
    true = pc.is_in(plain, pa.array(_TRUE))
    return pc.if_else(pc.or_(true, pc.is_in(plain, pa.array(_FALSE))), true, None)


@vector("truth")
def _strict_truth(texts: pa.Array) -> pa.Array:
    made = _truth(texts)
    if made.null_count > texts.null_count:
        bad = pc.filter(texts, pc.and_(made.is_null(), texts.is_valid()))[0].as_py()
        raise malformed(bad, "BOOLEAN")
    return made


@vector("trytruth")
def _lenient_truth(texts: pa.Array) -> pa.Array:
    return _truth(texts)


def _to_boolean(casting: Casting) -> Typed:
    return casting.vector(_strict_truth, _lenient_truth)


def _to_bytes(casting: Casting) -> Typed:
    return casting.text("encode({0})")


CASTS: dict[tuple[str, str], How] = {
    ("string", "integral"): _to_number,
    ("string", "float"): _to_number,
    ("string", "decimal"): _to_number,
    ("string", "boolean"): _to_boolean,
    ("string", "binary"): _to_bytes,
}
