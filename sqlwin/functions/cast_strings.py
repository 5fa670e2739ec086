"""Casts between STRING or BINARY and the numbers, and BOOLEAN.

A text is read as Java reads it, without the blanks around: digits with a sign for an integral
number, also a point and an exponent for a decimal, and for a DOUBLE `NaN`, `Infinity`, `1d` and
hexadecimal ones, too. `_numeral` brings it to what DuckDB reads alike, or refuses it.

A DOUBLE is written as Java writes it: 0.001 to 9999999.999 plainly, all else as `1.0E20`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlwin.functions.casting import Casting, How
from sqlwin.functions.entry import Call
from sqlwin.functions.literals import decimal_of
from sqlwin.functions.typed import Typed
from sqlwin.functions.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    STRING,
    is_decimal,
    is_float,
    is_integral,
    name,
)
from sqlwin.functions.vectors import Vector, by_value, only, vector

_BLANK = "".join(map(chr, range(0x21)))
_BLANK_TOO = _BLANK + "\x7f"
_INTEGRAL = r"^[+-]?[0-9]+$"
_DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,10})?$"
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
    """With digits of any script."""
    made = "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in text)
    return made if re.match(_DECIMAL, made) else None


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
_EXACT = _numeral("exact", _DECIMAL, _BLANK, _exact_text)
_FLOATING = _numeral("floating", _DECIMAL, _BLANK, _float_text)


def _to_number(casting: Casting) -> Typed:
    to = casting.to
    pair = _WHOLE if is_integral(to) else _EXACT if is_decimal(to) else _FLOATING
    read = pair[casting.safe].named([STRING, STRING], STRING)
    word = "TRY_CAST" if casting.safe else "CAST"
    made = casting.text(f"{word}({read}({{0}}, '{name(to)}') AS {{result}})")
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
        return None if read is None else float(read) if to == DOUBLE else _single(read)
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


# --- to STRING --------------------------------------------------------------------------


def _java(text: str) -> str:
    """A number's shortest text as Java writes it, where that is not plain.

    >>> _java("1e+20"), _java("12345678.9"), _java("1.5e-05"), _java("nan"), _java("0.0001")
    ('1.0E20', '1.23456789E7', '1.5E-5', 'NaN', '1.0E-4')
    """
    sign = "-" if text.startswith("-") else ""
    if text.endswith(("nan", "inf")):
        return "NaN" if text.endswith("nan") else f"{sign}Infinity"
    mantissa, _, exponent = text[len(sign) :].partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0").rstrip("0") or "0"
    leading = len(whole + fraction) - len((whole + fraction).lstrip("0"))
    power = int(exponent or 0) + len(whole) - leading - 1
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


def _nearest(text: str, float_: Callable[[str], float]) -> str:
    """Java writes two digits at least, and has the nearest of them: 4.9E-324, where 5 would do.

    >>> _nearest("5e-324", float), _nearest("1e-45", _single), _nearest("1e+20", float)
    ('4.9e-324', '1.4e-45', '1e+20')
    """
    if len(text.lstrip("-").partition("e")[0]) > 1 or "e-" not in text:
        return text
    return f"{float_(text):.1e}"


def _all_java(texts: pa.Array, float_: Callable[[str], float]) -> pa.Array:
    """Those from 10 million on at once, all others each for itself."""
    plain = pc.utf8_ltrim(texts, characters="-")
    large = pc.match_substring_regex(plain, r"^[1-9][0-9]{7,}\.[0-9]+$")
    digits = pc.replace_substring_regex(plain, r"^([0-9])([0-9]+)\.([0-9]+)$", r"\1.\2\3")
    mantissa = pc.utf8_rtrim(digits, characters="0")
    mantissa = pc.replace_substring_regex(mantissa, r"\.$", ".0")
    power = pc.cast(pc.subtract(pc.find_substring(plain, "."), 1), pa.string())
    sign = pc.if_else(pc.starts_with(texts, "-"), "-", "")
    made = pc.binary_join_element_wise(sign, mantissa, "E", power, "")
    rest = pc.if_else(large, None, texts)
    if rest.null_count == len(texts):
        return made
    return pc.coalesce(
        by_value(lambda text: _java(_nearest(text, float_)), rest, type=STRING), made
    )


@vector("doubletext")
def _double_texts(texts: pa.Array) -> pa.Array:
    return _all_java(texts, float)


def _single(text: str) -> float:
    return float(np.float32(text))


@vector("floattext")
def _float_texts(texts: pa.Array) -> pa.Array:
    return _all_java(texts, _single)


def _float_to_string(casting: Casting) -> Typed:
    """Plain ones are DuckDB's text already."""
    call = Call((casting.given,), STRING)
    vector_ = _float_texts if casting.given.type == FLOAT else _double_texts
    java = vector_.named([STRING], STRING)
    bounds = f"CAST(0.001 AS {_engine(casting)}) AND CAST(9999999 AS {_engine(casting)})"
    plain = f"abs({{0}}) BETWEEN {bounds} OR {{0}} = 0"
    made = f"CASE WHEN {plain} THEN CAST({{0}} AS VARCHAR) ELSE {java}(CAST({{0}} AS VARCHAR)) END"
    return Typed(call.filled(made), STRING, fails=casting.given.fails)


def _engine(casting: Casting) -> str:
    return "FLOAT" if casting.given.type == FLOAT else "DOUBLE"


def _decimal_to_string(casting: Casting) -> Typed:
    """DuckDB leaves out the 0 before the point where the type has no digit there."""
    type_ = casting.given.type
    if type_.precision > type_.scale:
        return casting.text("CAST({0} AS VARCHAR)")
    if type_.precision < 38:
        wider = f"DECIMAL({type_.precision + 1}, {type_.scale})"
        return casting.text(f"CAST(CAST({{0}} AS {wider}) AS VARCHAR)")
    sign = "CASE WHEN {0} < 0 THEN '-0' ELSE '0' END"
    return casting.text(f"({sign} || CAST(abs({{0}}) AS VARCHAR))")


def _plain(casting: Casting) -> Typed:
    return casting.text("CAST({0} AS {result})")


@vector("bytestext")
def _bytes_texts(blobs: pa.Array) -> pa.Array:
    """Bytes that are no UTF-8 are no text here; Spark's hold them."""
    try:
        return pc.cast(blobs, pa.string())
    except pa.ArrowInvalid:
        raise ValueError("[INVALID_UTF8_STRING] The bytes are no UTF-8, and no STRING.") from None


@vector("trybytestext")
def _tried_bytes_texts(blobs: pa.Array) -> pa.Array:
    return by_value(_decoded, blobs, type=pa.string())


def _decoded(blob: bytes) -> str | None:
    try:
        return blob.decode()
    except UnicodeDecodeError:
        return None


def _bytes_to_string(casting: Casting) -> Typed:
    return casting.vector(_bytes_texts, _tried_bytes_texts)


def _string_to_bytes(casting: Casting) -> Typed:
    return casting.text("encode({0})")


CASTS: dict[tuple[str, str], How] = {
    ("string", "integral"): _to_number,
    ("string", "float"): _to_number,
    ("string", "decimal"): _to_number,
    ("string", "boolean"): _to_boolean,
    ("string", "binary"): _string_to_bytes,
    ("boolean", "string"): _plain,
    ("integral", "string"): _plain,
    ("float", "string"): _float_to_string,
    ("decimal", "string"): _decimal_to_string,
    ("binary", "string"): _bytes_to_string,
}
