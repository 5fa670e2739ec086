"""Dates and instants as texts, and read from them, as CAST does: ISO forms, with or without parts.

| read as a DATE                                  | read as a TIMESTAMP                         |
|-------------------------------------------------|---------------------------------------------|
| `2024`, `2024-2`, `2024-2-9`                    | those                                       |
| `2024-02-29T…`, `2024-02-29 …`: whatever is `…` | `2024-02-29 10`, `…10:11`, `…10:11:12.5`    |
|                                                 | `…10:11:12 Europe/Paris`, `…10:11:12+02:00` |

Years have 4 digits or more, and a sign. `epoch` is 1970-01-01 as a constant, and malformed in a
column. A time without a date is one of the day on which Spark reads it; here it raises, in TRY_CAST
and FROM_JSON, too: a result would depend on when it is computed.

>>> micros_of("2024-02-29 10:11:12.5 PST"), days_of("2024-2-29Tx")
(1709230272500000, 19782)
>>> micros_of("now") is days_of("2023-02-29") is None
True
>>> micros_of("10:11:12")
Traceback (most recent call last):
ValueError: [CAST_INVALID_INPUT] '10:11:12' is a time of no day; nothing here reads a clock
"""

from __future__ import annotations

import re
from datetime import date

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.instants.calendar import DAY, Ints, civil, days, month_length
from sqlwin.functions.instants.zones import zone

_SPACE = "".join(map(chr, range(33))) + "\x7f"
"""What is cut off both ends."""
_DATE = re.compile(r"([+-]?[0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?\Z", re.DOTALL)
_INSTANT = re.compile(
    r"([+-]?[0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T]([0-9]{1,2})"
    r"(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?([ +\-a-zA-Z].*)?)?)?)?)?)?\Z",
    re.DOTALL,
)
_INT, _LONG = 2**31, 2**63


def days_of(text: str) -> int | None:
    """Since 1970; None where it is malformed."""
    plain = text.strip(_SPACE)
    found = _DATE.match(plain)
    if found is None:
        return None
    return _days(int(found[1]), int(found[2] or 1), int(found[3] or 1))


def _days(year: int, month: int, day: int) -> int | None:
    if not 1 <= month <= 12 or not 1 <= day <= month_length(year, month):
        return None
    made = int(days(year, month, day))
    return made if -_INT <= made < _INT else None


def is_time_of_day(text: str) -> bool:
    """`14:30:45`, `T14`: to Spark an instant of the day on which it is read."""
    plain = text.strip(_SPACE)
    time = plain.removeprefix("T")
    begins = time[:1].isdigit() and (":" in time or time != plain)
    return begins and _micros(_INSTANT.match(f"1970-01-01T{time}")) is not None


def micros_of(text: str, named: str | None = None) -> int | None:
    """Since 1970; None where it is malformed. ValueError for a time of day.

    named: the zone of a text that says none; None: UTC.
    """
    plain = text.strip(_SPACE)
    found = _INSTANT.match(plain)
    if found is None and is_time_of_day(plain):
        message = f"'{plain}' is a time of no day; nothing here reads a clock"
        raise ValueError(f"[CAST_INVALID_INPUT] {message}")
    return _micros(found, named)


def clock_of(text: str, zoned: bool = True) -> int | None:
    """What a clock shows by a text, as if it was UTC, whatever zone it says; None where it is
    malformed, as a time of no day is. zoned: whether it may say one.

    >>> clock_of("1970-01-01 00:00:01 Europe/Paris"), clock_of("10:11:12")
    (1000000, None)
    >>> clock_of("1970-01-01T00:00:01Z", zoned=False), clock_of("1970-01-01", zoned=False)
    (None, 0)
    """
    found = _INSTANT.match(text.strip(_SPACE))
    written = None if found is None else found[8]
    if found is None or (written is not None and not (zoned and _is_zone(written.strip()))):
        return None
    return _in_range(_clock(found))


def _in_range(micros_: int | None) -> int | None:
    return micros_ if micros_ is not None and -_LONG <= micros_ < _LONG else None


def _is_zone(named: str) -> bool:
    try:
        zone(named)
    except ValueError:
        return False
    return True


def _micros(found: re.Match[str] | None, default: str | None = None) -> int | None:
    if found is None:
        return None
    local = _clock(found)
    named = default if found[8] is None else found[8]
    return _in_range(local if local is None or named is None else _in_zone(local, named.strip()))


def _clock(found: re.Match[str]) -> int | None:
    """What it shows, which may lie beyond the ends of time."""
    year, month, day, hour, minute, second, fraction, _ = found.groups()
    days_ = _days(int(year), int(month or 1), int(day or 1))
    time = [int(part or 0) for part in (hour, minute, second)]
    if days_ is None or time[0] > 23 or max(time) > 59:
        return None
    seconds = (time[0] * 60 + time[1]) * 60 + time[2]
    return days_ * DAY + seconds * 1_000_000 + int((fraction or "").ljust(6, "0")[:6])


def _in_zone(local: int, named: str) -> int | None:
    try:
        found = zone(named)
    except ValueError:
        return None
    if abs(local) > 2**62:
        return local - found.seconds * 1_000_000 if found.seconds is not None else None
    return int(found.instants(np.array([local]))[0])


def iso_date(days_: int) -> str:
    """`2024-02-29`, `-0044-03-15`, `+10000-01-01`."""
    if -719_162 <= days_ <= 2_932_896:
        return date.fromordinal(days_ + 719_163).isoformat()
    year, month, day = (int(part[0]) for part in civil(np.array([days_])))
    sign = "+" if year > 9999 else "-" if year < 0 else ""
    return f"{sign}{abs(year):04}-{month:02}-{day:02}"


def iso_instant(micros: int) -> str:
    """`2024-02-29 10:11:12.5`: no zeros at the end of a fraction."""
    days_, time = divmod(micros, DAY)
    seconds, fraction = divmod(time, 1_000_000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    rest = f".{fraction:06}".rstrip("0") if fraction else ""
    return f"{iso_date(days_)} {clock}{rest}"


def micros(array: pa.Array) -> Ints:
    """Of TIMESTAMPs; whatever it is where they are NULL."""
    return np.asarray(array.cast(pa.int64()).fill_null(0))


def day_numbers(array: pa.Array) -> Ints:
    """Of DATEs, likewise."""
    return np.asarray(array.cast(pa.int32()).fill_null(0)).astype(np.int64)


def masked(values: Ints, type_: pa.DataType, *arrays: pa.Array) -> pa.Array:
    """An array of a type that is a number within, NULL wherever one of `arrays` is."""
    missing = np.zeros(len(values), bool)
    for array in arrays:
        if array.null_count:
            missing |= np.asarray(pc.is_null(array))
    width = pa.int32() if type_.bit_width == 32 else pa.int64()
    made = pa.array(values, width, mask=missing if missing.any() else None)
    return made.cast(type_)
