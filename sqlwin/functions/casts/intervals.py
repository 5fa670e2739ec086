"""Casts from and to intervals."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import pyarrow as pa

from sqlwin.functions.casts.casting import Casting, How
from sqlwin.functions.casts.times import EXACT, EXACT_CONTEXT
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import (
    BIGINT,
    STRING,
    UNITS,
    Interval,
    is_decimal,
)
from sqlwin.functions.core.vectors import by_value, vector
from sqlwin.functions.instants.interval_texts import micros_per, parsed, printed


@vector("text_to_interval")
def _text_to_interval(texts: pa.Array, to: pa.Array) -> pa.Array:
    return _intervals(texts, to, strict=True)


@vector("try_text_to_interval")
def _try_text_to_interval(texts: pa.Array, to: pa.Array) -> pa.Array:
    return _intervals(texts, to, strict=False)


def _intervals(texts: pa.Array, to: pa.Array, strict: bool) -> pa.Array:
    def one(text: str, fields: str) -> int | None:
        try:
            return parsed(text, Interval(*fields.split()))
        except ValueError:
            if strict:
                raise
            return None

    return by_value(one, texts, to, type=BIGINT)


def _from_text(casting: Casting) -> Typed:
    chosen = _try_text_to_interval if casting.safe else _text_to_interval
    called = f"{chosen.named([STRING, STRING], BIGINT)}({{0}}, '{' '.join(casting.to.fields)}')"
    made = called if not casting.to.is_months else f"CAST({called} AS INTEGER)"
    return casting.text(made, fails=not casting.safe)


@vector("interval_to_text")
def _interval_to_text(values: pa.Array, fields: pa.Array) -> pa.Array:
    return by_value(lambda v, f: printed(v, Interval(*f.split())), values, fields, type=STRING)


def _to_text(casting: Casting) -> Typed:
    given = casting.given.type
    named = _interval_to_text.named([given, STRING], STRING)
    return casting.text(f"{named}({{0}}, '{' '.join(given.fields)}')")


def _between(casting: Casting) -> Typed:
    """What is less than the last field is cut off."""
    last = casting.to.last
    if last in ("MONTH", "SECOND") or UNITS.index(casting.given.type.last) <= UNITS.index(last):
        return casting.text("{0}")
    unit = 12 if last == "YEAR" else micros_per(last)
    return casting.text(f"({{0}} // {unit} * {unit})")


def _unit(type_: Interval) -> int:
    """Of the number that an interval is: its last field, of which there may be fractions."""
    if type_.is_months:
        return 12 if type_.last == "YEAR" else 1
    return micros_per(type_.last)


def _to_number(casting: Casting) -> Typed:
    unit = _unit(casting.given.type)
    if is_decimal(casting.to):
        if casting.given.type.last == "SECOND":
            return casting.text(f"CAST({EXACT} AS {{result}})", fails=True)
        return casting.text(f"CAST({{0}} // {unit} AS {{result}})", fails=True)
    return casting.text(f"CAST({{0}} // {unit} AS {{result}})", fails=casting.to != BIGINT)


def _to_interval(casting: Casting) -> Typed:
    """A fraction is one of the last field, in months or microseconds: 1.5 YEAR is 18 months."""
    to, unit = casting.to, _unit(casting.to)
    engine = "INTEGER" if to.is_months else "BIGINT"
    if not is_decimal(casting.given.type):
        return casting.text(f"CAST(CAST({{0}} AS BIGINT) * {unit} AS {engine})", fails=True)
    named = _scaled.named([casting.given.type, BIGINT], BIGINT)
    return casting.text(f"CAST({named}({{0}}, CAST({unit} AS BIGINT)) AS {engine})", fails=True)


@vector("decimal_to_interval")
def _scaled(numbers: pa.Array, units: pa.Array) -> pa.Array:
    return by_value(_whole_units, numbers, units, type=BIGINT)


def _whole_units(number: Decimal, unit: int) -> int:
    made = int(EXACT_CONTEXT.multiply(number, Decimal(unit)).to_integral_value(ROUND_HALF_UP))
    if not -(2**63) <= made < 2**63:
        raise ValueError(f"[CAST_OVERFLOW] {number} is too large for an INTERVAL")
    return made


_KINDS, _NUMBERS = ("year_month", "day_time"), ("integral", "decimal")
CASTS: dict[tuple[str, str], How] = {
    **{("string", kind): _from_text for kind in _KINDS},
    **{(kind, "string"): _to_text for kind in _KINDS},
    **{(kind, kind): _between for kind in _KINDS},
    **{(kind, number): _to_number for kind in _KINDS for number in _NUMBERS},
    **{(number, kind): _to_interval for kind in _KINDS for number in _NUMBERS},
}
