"""Casts among BOOLEAN, the numbers and decimals.

A number loses its fraction towards zero where it becomes integral, and rounds half up where it
becomes a decimal. What has no place in the wanted type raises. A DOUBLE becomes the decimal that
its shortest text says, and a decimal the DOUBLE that is nearest.
"""

from __future__ import annotations

from sqlwin.functions.casts.casting import Casting, How
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import BIGINT, FLOAT, as_decimal
from sqlwin.functions.core.widening import implicit

_GREATEST_FLOAT = "CAST('3.4028235677973362e38' AS DOUBLE)"
"""The least DOUBLE that is nearer to infinity than to any FLOAT is the next one."""
_EXACT_DIGITS = 15
"""A decimal of so many has a DOUBLE that its two parts divide into exactly."""


def _plain(casting: Casting) -> Typed:
    return casting.text("CAST({0} AS {result})")


def _integral(casting: Casting) -> Typed:
    """From an integral type."""
    narrower = not implicit(casting.given.type, casting.to)
    return casting.text("CAST({0} AS {result})", fails=narrower)


def _integral_to_decimal(casting: Casting) -> Typed:
    exact, to = as_decimal(casting.given.type), casting.to
    digits = exact.precision - (casting.given.type == BIGINT)
    fits = digits <= to.precision - to.scale
    return casting.text("CAST({0} AS {result})", fails=not fits)


def _float_to_integral(casting: Casting) -> Typed:
    """2 ** 63 is the one value that is too large for BIGINT and taken all the same."""
    made = "CAST(trunc({0}) AS {result})"
    if casting.to == BIGINT:
        made = f"CASE WHEN {{0}} = 9223372036854775808 THEN 9223372036854775807 ELSE {made} END"
    return casting.text(made, fails=True)


def _floats(casting: Casting) -> Typed:
    if casting.to != FLOAT:
        return _plain(casting)
    whole = "CAST({0} AS FLOAT)"
    infinite = "CAST(CASE WHEN {0} > 0 THEN 'inf' ELSE '-inf' END AS FLOAT)"
    inside = f"abs({{0}}) <= {_GREATEST_FLOAT} OR NOT isfinite({{0}})"
    return casting.text(f"CASE WHEN {inside} OR {{0}} IS NULL THEN {whole} ELSE {infinite} END")


def _float_to_decimal(casting: Casting) -> Typed:
    """DuckDB reads the text 9.2e+18 as a DECIMAL(20, 4), of which its 19 digits before the point
    are too many; the number itself it refuses."""
    text = "CAST(CAST(CAST({0} AS DOUBLE) AS VARCHAR) AS {result})"
    large = f"abs({{0}}) >= 1e{casting.to.precision - casting.to.scale}"
    whens = f"WHEN NOT isfinite({{0}}) THEN NULL WHEN {large} THEN CAST({{0}} AS {{result}})"
    return casting.text(f"CASE {whens} ELSE {text} END", fails=True)


def _decimal_to_integral(casting: Casting) -> Typed:
    given, to = casting.given.type, casting.to
    fits = given.precision - given.scale < as_decimal(to).precision - (to == BIGINT)
    return casting.text("CAST(trunc({0}) AS {result})", fails=not fits)


def _decimal_to_float(casting: Casting) -> Typed:
    digits = casting.given.type.precision
    if digits <= (7 if casting.to == FLOAT else _EXACT_DIGITS):
        return _plain(casting)
    return casting.text("CAST(CAST({0} AS VARCHAR) AS {result})")


def _decimals(casting: Casting) -> Typed:
    given, to = casting.given.type, casting.to
    carry = given.scale > to.scale
    fits = given.precision - given.scale + carry <= to.precision - to.scale
    return casting.text("CAST({0} AS {result})", fails=not fits)


def _to_boolean(casting: Casting) -> Typed:
    return casting.text("({0} <> 0)")


def _boolean_to_decimal(casting: Casting) -> Typed:
    fits = casting.to.precision > casting.to.scale
    return casting.text("CAST(CAST({0} AS INTEGER) AS {result})", fails=not fits)


CASTS: dict[tuple[str, str], How] = {
    ("boolean", "integral"): _plain,
    ("boolean", "float"): _plain,
    ("boolean", "decimal"): _boolean_to_decimal,
    ("integral", "boolean"): _to_boolean,
    ("float", "boolean"): _to_boolean,
    ("decimal", "boolean"): _to_boolean,
    ("integral", "integral"): _integral,
    ("integral", "float"): _plain,
    ("integral", "decimal"): _integral_to_decimal,
    ("float", "integral"): _float_to_integral,
    ("float", "float"): _floats,
    ("float", "decimal"): _float_to_decimal,
    ("decimal", "integral"): _decimal_to_integral,
    ("decimal", "float"): _decimal_to_float,
    ("decimal", "decimal"): _decimals,
}
