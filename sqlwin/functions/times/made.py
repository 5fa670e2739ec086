"""Dates and instants made of their fields: year, month, day and so on.

>>> _day(2024, 2, 29), _micros(1970, 1, 1, 0, 0, Decimal("1.5"), "+01:00")
(19782, -3598500000)
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.casts.clocks import at_clock
from sqlwin.functions.casts.times import MIDNIGHT
from sqlwin.functions.core.entry import Call, Function, Overload, function, of
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import BIGINT, DATE, INT, STRING
from sqlwin.functions.core.vectors import by_value, vector
from sqlwin.functions.instants.calendar import DAY, MONTHS, days, is_leap, month_length
from sqlwin.functions.instants.zones import zone
from sqlwin.schema import TIMESTAMP

SECONDS = pa.decimal128(16, 6)


def narrowed(signature: str, overload: Overload, *types: pa.DataType | None) -> Overload:
    """An overload for wider numbers than another takes: they are cast, and may not fit."""

    def how(call: Call) -> str:
        pairs = zip(call.args, types, strict=False)
        args = tuple(
            cast(arg, type_) if isinstance(arg, Typed) and type_ is not None else arg
            for arg, type_ in pairs
        )
        return overload.text(Call(args, call.result))

    return of(signature, how, fails=True)


def _wrong(message: str) -> ValueError:
    return ValueError(f"[DATETIME_FIELD_OUT_OF_BOUNDS] {message}")


def _day(year: int, month: int, day: int) -> int:
    if not -999_999_999 <= year <= 999_999_999:
        raise _wrong(f"Invalid value for Year: {year}")
    if not 1 <= month <= 12:
        raise _wrong(f"Invalid value for MonthOfYear (valid values 1 - 12): {month}")
    if not 1 <= day <= 31:
        raise _wrong(f"Invalid value for DayOfMonth (valid values 1 - 28/31): {day}")
    if day > month_length(year, month):
        if day == 29 and not is_leap(year):
            raise _wrong(f"Invalid date 'February 29' as '{year}' is not a leap year")
        raise _wrong(f"Invalid date '{MONTHS[month - 1].upper()} {day}'")
    made = int(days(year, month, day))
    if not -(2**31) <= made < 2**31:
        raise ValueError("[ARITHMETIC_OVERFLOW] integer overflow")
    return made


@vector("make_date")
def _make_date(years: pa.Array, months: pa.Array, numbers: pa.Array) -> pa.Array:
    return by_value(_day, years, months, numbers, type=pa.int32()).cast(DATE)


def _micros(
    year: int, month: int, day: int, hour: int, minute: int, second: Decimal, named: str = "UTC"
) -> int:
    whole, micros = divmod(int(second.scaleb(6)), 1_000_000)
    if whole == 60 and micros:
        raise ValueError("[INVALID_FRACTION_OF_SECOND] Valid range for seconds is [0, 60]")
    for what, value, most in (
        ("HourOfDay", hour, 23),
        ("MinuteOfHour", minute, 59),
        ("SecondOfMinute", whole, 60),
    ):
        if not 0 <= value <= most:
            raise _wrong(f"Invalid value for {what} (valid values 0 - {min(most, 59)}): {value}")
    time = ((hour * 60 + minute) * 60 + whole) * 1_000_000 + micros
    local = _day(year, month, day) * DAY + time
    if not -(2**63) <= local < 2**63:
        raise ValueError("[ARITHMETIC_OVERFLOW] long overflow")
    found = zone(named)
    return local if found.seconds == 0 else int(found.instants(np.array([local]))[0])


def _failing_as_none(compute: Callable[..., Any]) -> Callable[..., Any]:
    def lenient(*values: Any) -> Any:
        try:
            return compute(*values)
        except ValueError:
            return None

    return lenient


@vector("make_timestamp")
def _make_timestamp(*arrays: pa.Array) -> pa.Array:
    return by_value(_micros, *arrays, type=BIGINT).cast(TIMESTAMP)


@vector("try_make_timestamp")
def _try_make_timestamp(*arrays: pa.Array) -> pa.Array:
    return by_value(_failing_as_none(_micros), *arrays, type=BIGINT).cast(TIMESTAMP)


_PLAIN = "(INT, INT, INT, INT, INT, DECIMAL(16, 6)) -> TIMESTAMP"
_ZONED = "(INT, INT, INT, INT, INT, DECIMAL(16, 6), STRING) -> TIMESTAMP"
INTS = (INT,) * 5
MAKE, TRY_MAKE = of(_PLAIN, _make_timestamp), of(_PLAIN, _try_make_timestamp)
_MAKE = (MAKE, of(_ZONED, _make_timestamp))
_TRY_MAKE = (TRY_MAKE, of(_ZONED, _try_make_timestamp))


def _of_any_numbers(plain: Overload, zoned: Overload) -> tuple[Overload, ...]:
    numbers = "(N0, N1, N2, N3, N4, N5"
    return (
        *(plain, zoned),
        narrowed(f"{numbers}) -> TIMESTAMP", plain, *INTS, SECONDS),
        narrowed(f"{numbers}, STRING) -> TIMESTAMP", zoned, *INTS, SECONDS, STRING),
    )


_NONE = "CAST(NULL AS {result})"
_OF_DATE = (
    of("(DATE) -> TIMESTAMP", lambda c: at_clock(c.filled(MIDNIGHT)), fails=True, strict=True),
    of("(DATE, VOID) -> TIMESTAMP", _NONE, strict=True),
    of("(DATE, VOID, STRING) -> TIMESTAMP", _NONE, strict=True),
)
"""A second argument is of the type TIME, of which there is NULL alone."""
_DATE = of("(INT, INT, INT) -> DATE", _make_date)


MADE: tuple[Function, ...] = (
    function(
        "make_date",
        _DATE,
        narrowed("(N0, N1, N2) -> DATE", _DATE, INT, INT, INT),
        doc="A date of its year, month and day.",
    ),
    function(
        "make_timestamp make_timestamp_ltz",
        *_of_any_numbers(*_MAKE),
        *_OF_DATE,
        doc="An instant of year, month, day, hour, minute, second, and maybe a zone.",
    ),
    function(
        "try_make_timestamp try_make_timestamp_ltz",
        *_of_any_numbers(*_TRY_MAKE),
        *_OF_DATE,
        doc="MAKE_TIMESTAMP, but NULL where there is no such instant.",
    ),
)
