"""Dates and instants as numbers since 1970, and such numbers as dates and instants."""

from __future__ import annotations

from decimal import Context, Decimal

import numpy as np
import pyarrow as pa

from sqlwin.functions.core.entry import Call, Function, failing, function, of
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import BIGINT, DOUBLE, INT
from sqlwin.functions.core.vectors import by_value, vector
from sqlwin.functions.times.made import narrowed
from sqlwin.schema import TIMESTAMP

_EXACT = Context(prec=60)


@vector("decimal_seconds")
def _decimal_seconds(numbers: pa.Array) -> pa.Array:
    return by_value(_exact_micros, numbers, type=BIGINT).cast(TIMESTAMP)


def _exact_micros(number: Decimal) -> int:
    micros = number.scaleb(6, _EXACT)
    if micros != int(micros):
        raise ValueError("[ROUNDING_NECESSARY] a TIMESTAMP has microseconds, and no less")
    if not -(2**63) <= micros < 2**63:
        raise ValueError("[DATETIME_OVERFLOW] create a TIMESTAMP from seconds")
    return int(micros)


@vector("double_seconds")
def _double_seconds(numbers: pa.Array) -> pa.Array:
    """NaN and the infinities have none; what is beyond the ends of time is at them."""
    values = np.asarray(numbers.cast(DOUBLE).fill_null(np.nan))
    finite = np.isfinite(values)
    with np.errstate(over="ignore"):
        scaled = np.where(finite, values, 0.0) * 1e6
    late, early = scaled >= 2.0**63, scaled < -(2.0**63)
    micros = np.where(late | early, 0.0, scaled).astype(np.int64)
    micros = np.where(late, 2**63 - 1, np.where(early, -(2**63), micros))
    return pa.array(micros, BIGINT, mask=~finite).cast(TIMESTAMP)


_FROM_DAYS = of("(INT) -> DATE", "(DATE '1970-01-01' + {0})", fails=True)


def _no_dates(call: Call) -> str:
    given = call.args[0]
    if isinstance(given, Typed) and given.value is None:
        return "CAST(NULL AS BIGINT)"
    raise Refused("this takes a TIMESTAMP, not a DATE", legal="CAST(d AS TIMESTAMP)")


_NO_DATES = of("(DATE) -> BIGINT", _no_dates, strict=True)
_DOWN = "(epoch_us({{0}}) // {0} - CAST(epoch_us({{0}}) % {0} < 0 AS BIGINT))"
"""Rounded down."""


def _epoch(micros: int) -> str:
    """Of numbers of so many microseconds."""
    most = (2**63 - 1) // micros
    late = failing("DATETIME_OVERFLOW", "Past the first or last TIMESTAMP")
    made = f"make_timestamptz({{0}} * {micros})"
    return (
        f"CASE WHEN {{0}} BETWEEN -{most} AND {most} THEN {made} WHEN {{0}} IS NOT NULL"
        f" THEN {late} END"
    )


EPOCHS: tuple[Function, ...] = (
    function(
        "timestamp_seconds",
        of("(BIGINT) -> TIMESTAMP", _epoch(1_000_000), fails=True, strict=True),
        of("(DECIMAL) -> TIMESTAMP", _decimal_seconds, strict=True),
        of("(F) -> TIMESTAMP", _double_seconds, strict=True),
        doc="The instant so many seconds after 1970 began.",
    ),
    function(
        "timestamp_millis",
        of("(BIGINT) -> TIMESTAMP", _epoch(1000), fails=True, strict=True),
        doc="The instant so many milliseconds after 1970 began.",
    ),
    function(
        "timestamp_micros",
        of("(BIGINT) -> TIMESTAMP", "make_timestamptz({0})", strict=True),
        doc="The instant so many microseconds after 1970 began.",
    ),
    function(
        "date_from_unix_date",
        _FROM_DAYS,
        narrowed("(N) -> DATE", _FROM_DAYS, INT),
        doc="The date so many days after 1970-01-01.",
    ),
    function(
        "unix_date",
        of("(DATE) -> INT", "CAST({0} - DATE '1970-01-01' AS INTEGER)", strict=True),
        doc="Days since 1970-01-01.",
    ),
    function(
        "unix_seconds",
        _NO_DATES,
        of("(TIMESTAMP) -> BIGINT", _DOWN.format(1_000_000), strict=True),
        doc="Whole seconds since 1970 began, rounded down.",
    ),
    function(
        "unix_millis",
        _NO_DATES,
        of("(TIMESTAMP) -> BIGINT", _DOWN.format(1000), strict=True),
        doc="Whole milliseconds since 1970 began, rounded down.",
    ),
    function(
        "unix_micros",
        _NO_DATES,
        of("(TIMESTAMP) -> BIGINT", "epoch_us({0})", strict=True),
        doc="Microseconds since 1970 began.",
    ),
)
