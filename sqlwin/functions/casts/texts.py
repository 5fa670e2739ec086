"""Casts to STRING of numbers, BOOLEAN and BINARY.

A DOUBLE is written as Java writes it: 0.001 to 9999999.999 plainly, all else as `1.0E20`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.casts.casting import Casting, How
from sqlwin.functions.core.entry import Call
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import FLOAT, STRING
from sqlwin.functions.core.vectors import by_value, vector


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


def nearest(text: str, float_: Callable[[str], float]) -> str:
    """Java writes two digits at least, and has the nearest of them: 4.9E-324, where 5 would do.

    >>> nearest("5e-324", float), nearest("1e-45", single), nearest("1e+20", float)
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
    return pc.coalesce(by_value(lambda text: _java(nearest(text, float_)), rest, type=STRING), made)


@vector("doubletext")
def _double_texts(texts: pa.Array) -> pa.Array:
    return _all_java(texts, float)


def single(text: str) -> float:
    return float(np.float32(text))


@vector("floattext")
def _float_texts(texts: pa.Array) -> pa.Array:
    return _all_java(texts, single)


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


def _bytes_to_string(casting: Casting) -> Typed:
    """TRY_CAST raises, too: what Spark has there is no NULL."""
    return replace(casting.vector(_bytes_texts), fails=True)


CASTS: dict[tuple[str, str], How] = {
    ("boolean", "string"): _plain,
    ("integral", "string"): _plain,
    ("float", "string"): _float_to_string,
    ("decimal", "string"): _decimal_to_string,
    ("binary", "string"): _bytes_to_string,
}
