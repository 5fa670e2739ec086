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
import pyarrow.compute as pc

from sqlwin.functions.casts.casting import Casting, How
from sqlwin.functions.casts.clocks import at_clock, shown
from sqlwin.functions.core.quick import usual
from sqlwin.functions.core.session_zone import is_utc, session_zone
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import (
    BIGINT,
    DATE,
    DOUBLE,
    STRING,
    name,
)
from sqlwin.functions.core.vectors import Vector, by_value, only, vector
from sqlwin.functions.instants import iso as instants
from sqlwin.functions.instants.iso import iso_date, iso_instant, masked, micros
from sqlwin.functions.instants.zones import zone
from sqlwin.schema import TIMESTAMP

UTC = "make_timestamp(epoch_us({0}))"
"""A TIMESTAMP as DuckDB's without a zone, which is much quicker than its cast."""
_FIRST = "make_timestamptz(-62135596800000000)"
_LAST = "make_timestamptz(253402300799999999)"
_PLAIN_DATE = r"(?s)^\d{4}-\d{2}-\d{2}([ T].*)?$"
_PLAIN_INSTANT = r"^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(\.\d{1,6})?Z?$"


def malformed(text: str, to: pa.DataType) -> ValueError:
    return ValueError(
        f"[CAST_INVALID_INPUT] The value '{text[:200]}' of the type \"STRING\" cannot be cast to"
        f' "{name(to).upper()}" because it is malformed'
    )


def _quickly(texts: pa.Array, to: pa.DataType) -> pa.Array | None:
    """Of texts of the usual form, by Arrow; None where one of them is none of the calendar."""
    try:
        if to == DATE:
            return pc.utf8_slice_codeunits(texts, 0, 10).cast(DATE)
        local = pc.utf8_rtrim(texts, characters="Z").cast(pa.timestamp("us"))
        return local.cast(BIGINT).cast(TIMESTAMP)
    except pa.ArrowInvalid:
        return None


def quickly(texts: pa.Array) -> pa.Array | None:
    """What clocks show by texts of the usual form, as numbers; None where one has another."""
    usual_ = pc.all(pc.match_substring_regex(texts, _PLAIN_INSTANT)).as_py()
    found = _quickly(texts, TIMESTAMP) if usual_ else None
    return None if found is None else found.cast(BIGINT)


def _read(texts: pa.Array, to: pa.DataType, strict: bool) -> pa.Array:
    is_date = to == DATE
    usual = pc.match_substring_regex(texts, _PLAIN_DATE if is_date else _PLAIN_INSTANT)
    quick = _quickly(pc.if_else(usual, texts, None), to)
    if quick is not None and quick.null_count == texts.null_count:
        return quick
    read = instants.days_of if is_date else instants.micros_of

    def one(text: str) -> int | None:
        found = read(text)
        if found is None and strict:
            raise malformed(text, to)
        return found

    left = texts if quick is None else pc.if_else(usual, None, texts)
    others = by_value(one, left, type=pa.int32() if is_date else BIGINT).cast(to)
    return others if quick is None else pc.coalesce(quick, others)


@vector("text_to_date")
def text_to_date(texts: pa.Array) -> pa.Array:
    return _read(texts, DATE, strict=True)


@vector("try_text_to_date")
def try_text_to_date(texts: pa.Array) -> pa.Array:
    return _read(texts, DATE, strict=False)


@vector("text_to_timestamp")
def text_to_timestamp(texts: pa.Array) -> pa.Array:
    return _read(texts, TIMESTAMP, strict=True)


@vector("try_text_to_timestamp")
def try_text_to_timestamp(texts: pa.Array) -> pa.Array:
    return _read(texts, TIMESTAMP, strict=False)


_NO_OFFSET = r"^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(\.\d{1,6})?$"


def _read_in(texts: pa.Array, names: pa.Array, strict: bool) -> pa.Array:
    """By the clocks of a zone, but for texts that say their own."""
    named = only(names) or "UTC"
    usual_ = pc.match_substring_regex(texts, _NO_OFFSET)
    quick = _quickly(pc.if_else(usual_, texts, None), TIMESTAMP)
    local = None if quick is None else masked(zone(named).instants(micros(quick)), TIMESTAMP, quick)

    def one(text: str) -> int | None:
        found = instants.micros_of(text, named)
        if found is None and strict:
            raise malformed(text, TIMESTAMP)
        return found

    left = texts if local is None else pc.if_else(usual_, None, texts)
    others = by_value(one, left, type=BIGINT).cast(TIMESTAMP)
    return others if local is None else pc.coalesce(local, others)


@vector("clocktext_to_timestamp")
def clock_text_to_timestamp(texts: pa.Array, names: pa.Array) -> pa.Array:
    return _read_in(texts, names, strict=True)


@vector("try_clocktext_to_timestamp")
def try_clock_text_to_timestamp(texts: pa.Array, names: pa.Array) -> pa.Array:
    return _read_in(texts, names, strict=False)


@vector("date_to_text")
def date_to_text(dates: pa.Array) -> pa.Array:
    return by_value(iso_date, dates.cast(pa.int32()), type=STRING)


@vector("timestamp_to_text")
def timestamp_to_text(given: pa.Array) -> pa.Array:
    return by_value(iso_instant, given.cast(BIGINT), type=STRING)


def _printed(plain: str, low: str, high: str, other: Vector) -> How:
    """By DuckDB between two values, beyond them by a vector."""

    def how(casting: Casting) -> Typed:
        slow = f"{other.named([casting.given.type], STRING)}({{0}})"
        text = f"CASE WHEN {{0}} BETWEEN {low} AND {high} THEN {plain} ELSE {slow} END"
        return casting.text(text)

    return how


_date_to_text = _printed(
    "CAST({0} AS VARCHAR)", "DATE '0001-01-01'", "DATE '9999-12-31'", date_to_text
)
_timestamp_to_text = _printed(
    f"CAST({UTC} AS VARCHAR)",
    _FIRST,
    _LAST,
    timestamp_to_text,
)

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
    ("date", "string"): _date_to_text,
    ("timestamp", "string"): _by_clock(_timestamp_to_text),
    ("date", "timestamp"): _midnight,
    ("timestamp", "date"): _by_clock(lambda c: c.text(f"CAST({UTC} AS DATE)")),
    ("timestamp", "integral"): _to_integral,
    ("timestamp", "float"): _to_float,
    ("timestamp", "decimal"): _to_decimal,
    ("integral", "timestamp"): _from_integral,
    ("decimal", "timestamp"): lambda c: c.vector(_decimal_to_timestamp),
    ("float", "timestamp"): lambda c: c.vector(_double_to_timestamp, _try_double_to_timestamp),
}
