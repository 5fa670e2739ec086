"""Durations: every spelling of one is a number of microseconds.

>>> micros("2", "min"), micros("2 minutes", None), micros("1 hour 30 minutes", None)
(120000000, 120000000, 5400000000)
>>> months("1 year 6 months", None), months("90 days", None)
(18, None)
>>> micros("1", "fortnight")
Traceback (most recent call last):
ValueError: FORTNIGHT is not a unit of time
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
CALENDAR = {"month": 1, "quarter": 3, "year": 12}
"""Units without a fixed length, in months."""

ONLY_WINDOWS = "only TUMBLE, HOP and CUMULATE take months and years"
_DIGITS, _MOST_MONTHS = 60, 5
_WHOLE = re.compile(r"[+-]?[0-9]+\Z")
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


def months(text: str, unit: str | None) -> int | None:
    """Months of a duration of months, quarters and years alone; None for any other text."""
    try:
        parts = [(text, unit)] if unit is not None else list(_parts(text))
    except ValueError:
        return None
    units = [_singular(name) for _, name in parts]
    if not set(units) <= set(CALENDAR):
        return None
    numbers = [number.strip() for number, _ in parts]
    if not all(_WHOLE.match(number) and len(number) <= _MOST_MONTHS for number in numbers):
        return None
    return sum(int(number) * CALENDAR[name] for number, name in zip(numbers, units, strict=True))


def _sum(text: str) -> int:
    return sum(_times(number, unit) for number, unit in _parts(text))


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Numbers, each with its unit."""
    at = 0
    while at < len(text.rstrip()):
        part = _PART.match(text, at)
        if part is None:
            raise ValueError(f"'{text}' is not a duration")
        yield part[1], part[2]
        at = part.end()
    if not at:
        raise ValueError("an empty text is not a duration")


def _times(number: str, unit: str) -> int:
    if _singular(unit) in CALENDAR and not _WHOLE.match(number.strip()):
        raise ValueError(f"{number.strip()} is not a whole number of {unit.upper()}")
    micros_ = _unit(unit)
    if not _NUMBER.match(number) or len(number) > _DIGITS:
        raise ValueError(f"'{number[:_DIGITS]}' is not a number of {unit.upper()}")
    exact = Fraction(number.strip()) * micros_
    if exact.denominator != 1:
        raise ValueError("a duration is a whole number of microseconds")
    return int(exact)


def _singular(name: str) -> str:
    lower = name.lower()
    return lower[:-1] if lower not in UNITS and lower.endswith("s") else lower


def _unit(name: str) -> int:
    singular = _singular(name)
    if singular in CALENDAR:
        raise ValueError(f"a {singular} has no fixed length; {ONLY_WINDOWS}")
    if singular not in UNITS:
        raise ValueError(f"{name.upper()} is not a unit of time")
    return UNITS[singular]
