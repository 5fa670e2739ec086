"""The load for which state is estimated: rows a second, keys, and the width of strings.

>>> load("5e4/min", "1e6")
Load(rate=833.3333333333334, keys=1000000.0, width=16.0, delays=(0, 0))
>>> load("1000", "1e6")
Traceback (most recent call last):
sqlwin.errors.InputError: --rate '1000' is not rows a unit of time; legal: 1000/s, ...
"""

from __future__ import annotations

from math import isfinite

from sqlwin.errors import InputError
from sqlwin.instants import DAY, HOUR, MINUTE, SECOND
from sqlwin.operators.load import WIDTH, Load

UNITS = {"s": SECOND, "min": MINUTE, "h": HOUR, "day": DAY}
LEGAL_RATE = "legal: 1000/s, 5e4/min, 2/h, 10/day"


def load(rate: str, keys: str, width: str | None = None) -> Load:
    """From the texts of the command line; InputError says what is wrong and what legal."""
    return Load(
        _rate(rate),
        _number("keys", keys, 1, "1, 5000, 1e6"),
        WIDTH if width is None else _number("width", width, 0, "16, 200"),
    )


def _rate(text: str) -> float:
    count, _, unit = text.partition("/")
    number = _parsed(count)
    if unit.strip() not in UNITS or number is None or number <= 0:
        raise InputError(f"--rate {text!r} is not rows a unit of time; {LEGAL_RATE}")
    return number * SECOND / UNITS[unit.strip()]


def _number(option: str, text: str, least: float, legal: str) -> float:
    number = _parsed(text)
    if number is None or number < least:
        raise InputError(f"--{option} {text!r} is not a number from {least} on; legal: {legal}")
    return number


def _parsed(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
