"""Casts from and to DATE and TIMESTAMP.

Texts are read by DuckDB where they are as it prints them, by Arrow where they have another usual
form, all others one by one; printed is by DuckDB within the years that have four digits. Numbers
are seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Context, Decimal

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.casts.casting import Casting, How
from sqlwin.functions.casts.clocks import at_clock, shown
from sqlwin.functions.casts.time_texts import (
    _FIRST,
    _LAST,
    UTC,
    cast_date_to_text,
    cast_timestamp_to_text,
    clock_text_to_timestamp,
    text_to_date,
    text_to_timestamp,
    try_clock_text_to_timestamp,
    try_text_to_date,
    try_text_to_timestamp,
)
from sqlwin.functions.core.quick import usual
from sqlwin.functions.core.session_zone import is_utc, session_zone
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import BIGINT, DOUBLE, STRING
from sqlwin.functions.core.vectors import Vector, by_value, vector
from sqlwin.schema import TIMESTAMP

_SECONDS = "(epoch_us({0}) // 1000000 - CAST(epoch_us({0}) % 1000000 < 0 AS BIGINT))"
"""Rounded down."""


def _to_integral(casting: Casting) -> Typed:
    return casting.text(f"CAST({_SECONDS} AS {{result}})", fails=casting.to != BIGINT)


def _to_float(casting: Casting) -> Typed:
    seconds = "CAST(epoch_us({0}) AS DOUBLE) / 1e6"
    return casting.text(f"({seconds})" if casting.to == DOUBLE else f"CAST({seconds} AS FLOAT)")


EXACT = "CAST({0} AS DECIMAL(19, 0)) * CAST('0.000001' AS DECIMAL(7, 6))"


def _to_decimal(casting: Casting) -> Typed:
    exact = EXACT.format("epoch_us({0})")
    return casting.text(f"CAST({exact} AS {{result}})", fails=True)


EXACT_CONTEXT = Context(prec=60)
_LIMIT = 9223372036854  # seconds, in either direction


def _from_integral(casting: Casting) -> Typed:
    """What is beyond the ends of time is at them."""
    if casting.given.type != BIGINT:
        return casting.text("make_timestamptz(CAST({0} AS BIGINT) * 1000000)")
    inside = f"{{0}} BETWEEN {-_LIMIT} AND {_LIMIT}"
    beyond = f"{2**63 - 1} * CAST(sign({{0}}) AS BIGINT) - CAST({{0}} < 0 AS BIGINT)"
    micros = f"CASE WHEN {inside} THEN {{0}} * 1000000 ELSE {beyond} END"
    return casting.text(f"make_timestamptz({micros})")


@vector("decimal_to_timestamp")
def _decimal_to_timestamp(numbers: pa.Array) -> pa.Array:
    return by_value(_wrapped, numbers, type=BIGINT).cast(TIMESTAMP)


def _wrapped(number: Decimal) -> int:
    """Past the ends of time it begins anew, as in Spark."""
    exact = int(number.scaleb(6, EXACT_CONTEXT))
    return (exact + 2**63) % 2**64 - 2**63


@vector("double_to_timestamp")
def _double_to_timestamp(numbers: pa.Array) -> pa.Array:
    return _of_doubles(numbers, strict=True)


@vector("try_double_to_timestamp")
def _try_double_to_timestamp(numbers: pa.Array) -> pa.Array:
    return _of_doubles(numbers, strict=False)


def _of_doubles(numbers: pa.Array, strict: bool) -> pa.Array:
    values = np.asarray(numbers.cast(DOUBLE).fill_null(0.0))
    with np.errstate(all="ignore"):
        micros = values * 1e6
    wrong = ~(np.abs(micros) <= 2.0**63)
    if strict and wrong.any():
        value = values[wrong][0]
        code = "CAST_OVERFLOW" if np.isfinite(value) else "CAST_INVALID_INPUT"
        raise ValueError(
            f'[{code}] The value {value} of the type "DOUBLE" cannot be cast to "TIMESTAMP"'
        )
    clipped = np.where(wrong, 0, micros)
    whole = np.where(clipped >= 2.0**63, 2**63 - 1, np.minimum(clipped, 2.0**62 * 1.99).astype(int))
    missing = np.asarray(pc.is_null(numbers)) | wrong
    return pa.array(whole, BIGINT, mask=missing).cast(TIMESTAMP)


MIDNIGHT = "make_timestamptz(epoch_us(CAST({0} AS TIMESTAMP)))"
"""Of a DATE, by clocks."""


def usual_date(text: str) -> tuple[str, str]:
    """Whether a text is a DATE as DuckDB prints it, and that DATE."""
    read = f"TRY_CAST({text} AS DATE)"
    inside = f"{read} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
    return f"CAST({read} AS VARCHAR) = {text} AND {inside}", read


def usual_instant(text: str) -> tuple[str, str]:
    """The same of a TIMESTAMP without a zone: `2024-02-29 10:11:12.5`."""
    read = f"TRY_CAST({text} AS TIMESTAMP)"
    inside = f"{read} BETWEEN {UTC.format(_FIRST)} AND {UTC.format(_LAST)}"
    instant = f"make_timestamptz(epoch_us({read}))"
    return f"CAST({read} AS VARCHAR) = {text} AND {inside}", instant


def _from_text_of(
    zero: str, strict: Vector, lenient: Vector, as_printed: Callable[[str], tuple[str, str]]
) -> How:
    def how(casting: Casting) -> Typed:
        given = casting.given
        if isinstance(given.value, str) and given.value.strip().lower() == "epoch":
            return casting.text(zero)
        chosen = lenient if casting.safe else strict
        exact = f"{chosen.named([given.type], casting.to)}({{0}})"
        # TRY_CAST may fail, too: a time of day has a value in Spark, and none here
        return replace(casting.text(usual(*as_printed("{0}"), exact)), fails=True)

    return how


_text_to_date = _from_text_of("DATE '1970-01-01'", text_to_date, try_text_to_date, usual_date)
_utc_text_to_timestamp = _from_text_of(
    "make_timestamptz(0)", text_to_timestamp, try_text_to_timestamp, usual_instant
)


def _text_to_timestamp(casting: Casting) -> Typed:
    value = casting.given.value
    if is_utc() or (isinstance(value, str) and value.strip().lower() == "epoch"):
        return _utc_text_to_timestamp(casting)
    chosen = try_clock_text_to_timestamp if casting.safe else clock_text_to_timestamp
    named = chosen.named([STRING, STRING], TIMESTAMP)
    return replace(casting.text(f"{named}({{0}}, '{session_zone()}')"), fails=True)


def _by_clock(how: How) -> How:
    """Of what clocks show at the instant that is given."""
    return lambda casting: how(replace(casting, given=shown(casting.given)))


def _midnight(casting: Casting) -> Typed:
    return casting.text(at_clock(MIDNIGHT), fails=True)


CASTS: dict[tuple[str, str], How] = {
    ("string", "date"): _text_to_date,
    ("string", "timestamp"): _text_to_timestamp,
    ("date", "string"): cast_date_to_text,
    ("timestamp", "string"): _by_clock(cast_timestamp_to_text),
    ("date", "timestamp"): _midnight,
    ("timestamp", "date"): _by_clock(lambda c: c.text(f"CAST({UTC} AS DATE)")),
    ("timestamp", "integral"): _to_integral,
    ("timestamp", "float"): _to_float,
    ("timestamp", "decimal"): _to_decimal,
    ("integral", "timestamp"): _from_integral,
    ("decimal", "timestamp"): lambda c: c.vector(_decimal_to_timestamp),
    ("float", "timestamp"): lambda c: c.vector(_double_to_timestamp, _try_double_to_timestamp),
}
