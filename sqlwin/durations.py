"""Durations: every spelling of one is a number of microseconds.

>>> micros("2", "min"), micros("2 minutes", None), micros("1 hour 30 minutes", None)
(120000000, 120000000, 5400000000)
>>> micros("1", "fortnight")
Traceback (most recent call last):
ValueError: FORTNIGHT is not a unit of time
"""

from __future__ import annotations

import re
from fractions import Fraction

from sqlwin.instants import DAY, HOUR, MICROSECOND, MILLISECOND, MINUTE, SECOND

LONGEST = 3_652_500 * DAY  # 10,000 years; sums of a few stay far from the ends of time

LEGAL = "INTERVAL '2' MINUTE, INTERVAL '2 minutes', '2' MINUTE or 2 MINUTES"

_SPELLINGS = {
    MICROSECOND: "us microsecond micro usec",
    MILLISECOND: "ms millisecond milli msec",
    SECOND: "s sec second",
    MINUTE: "m min minute",
    HOUR: "h hr hour",
    DAY: "d day",
    7 * DAY: "w week",
}
UNITS = {name: unit for unit, names in _SPELLINGS.items() for name in names.split()}
CALENDAR = ("month", "quarter", "year")

_DIGITS = 60
_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?\s*\Z")
_PART = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*,?")


def micros(text: str, unit: str | None) -> int:
    """Microseconds of `text`, a number with `unit`, or numbers each with its own.

    ValueError, with a message for people, for anything else.
    """
    total = _times(text, unit) if unit is not None else _sum(text)
    if abs(total) > LONGEST:
        raise ValueError(f"a duration is at most 10,000 years, {LONGEST // DAY} days")
    return total


def _sum(text: str) -> int:
    total, at = 0, 0
    while at < len(text.rstrip()):
        part = _PART.match(text, at)
        if part is None:
            raise ValueError(f"'{text}' is not a duration")
        total, at = total + _times(part[1], part[2]), part.end()
    if not at:
        raise ValueError("an empty text is not a duration")
    return total


def _times(number: str, unit: str) -> int:
    micros_ = _unit(unit)
    if not _NUMBER.match(number) or len(number) > _DIGITS:
        raise ValueError(f"'{number[:_DIGITS]}' is not a number of {unit.upper()}")
    exact = Fraction(number.strip()) * micros_
    if exact.denominator != 1:
        raise ValueError("a duration is a whole number of microseconds")
    return int(exact)


def _unit(name: str) -> int:
    lower = name.lower()
    singular = lower[:-1] if lower not in UNITS and lower.endswith("s") else lower
    if singular in CALENDAR:
        raise ValueError(f"a {singular} has no fixed length; a window needs days or less")
    if singular not in UNITS:
        raise ValueError(f"{name.upper()} is not a unit of time")
    return UNITS[singular]
