"""Texts to DATE and TIMESTAMP, and these to texts, as Spark casts them.

Invariant: a text that DuckDB reads in the same way is read by it (`quickly`), any other by rule, so
both ways agree; what is no time is an error, or NULL where the cast is tried.
"""

from __future__ import annotations

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.casts.casting import Casting, How
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import BIGINT, DATE, STRING, name
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


cast_date_to_text = _printed(
    "CAST({0} AS VARCHAR)", "DATE '0001-01-01'", "DATE '9999-12-31'", date_to_text
)
cast_timestamp_to_text = _printed(
    f"CAST({UTC} AS VARCHAR)",
    _FIRST,
    _LAST,
    timestamp_to_text,
)
