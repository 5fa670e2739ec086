"""Intervals in results, which are texts, as the numbers that Spark's answers have.

>>> numbers(["INTERVAL '1-2' YEAR TO MONTH", 7, None]), numbers("INTERVAL '-01.5' SECOND")
([14, 7, None], -1500000)
>>> named("INTERVAL '1 02:00' DAY TO MINUTE"), named("none")
('interval day to minute', '')
"""

from __future__ import annotations

import re

from tests.functions.canonical import Json

_LITERAL = re.compile(r"INTERVAL '(-?)([0-9:. -]+)' (\w+)(?: TO (\w+))?")
_UNITS = {
    "YEAR": 12,
    "MONTH": 1,
    "DAY": 86_400_000_000,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
}


def numbers(value: Json) -> Json:
    """Months or microseconds for each text of an interval."""
    if isinstance(value, list):
        return [numbers(each) for each in value]
    found = _LITERAL.fullmatch(value) if isinstance(value, str) else None
    return value if found is None else _number(*found.groups())


def _number(sign: str, text: str, first: str, last: str | None) -> int:
    names = list(_UNITS)
    units = names[names.index(first) : names.index(last or first) + 1]
    parts = re.split("[-: ]", text)
    whole = [
        int(part.partition(".")[0]) * _UNITS[unit] for part, unit in zip(parts, units, strict=True)
    ]
    total = sum(whole) + int(parts[-1].partition(".")[2].ljust(6, "0"))
    return -total if sign else total


def shown(value: Json, type_: str) -> Json:
    """Spark's number of an interval, less what its text does not show. type_: Spark's.

    >>> shown(-90_000_000, "interval hour to minute"), shown(None, "interval day")
    (-60000000, None)
    """
    last = type_.upper().split()[-1]
    if not isinstance(value, int) or last not in _UNITS or last == "SECOND":
        return value
    whole = abs(value) // _UNITS[last] * _UNITS[last]
    return -whole if value < 0 else whole


def named(value: Json) -> str:
    """Spark's name of an interval's type; empty where the value is none."""
    found = _LITERAL.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return ""
    return "interval " + " to ".join(unit.lower() for unit in found.groups()[2:] if unit)
