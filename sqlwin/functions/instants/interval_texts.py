"""Intervals as texts: by their fields (`'1 02:03:04.5'` as DAY TO SECOND) and with units.

Invariant: `parsed(printed(value, type), type) == value` for values of whole last fields.

>>> parsed("1 02:03:04.5", Interval("DAY", "SECOND")), parsed("-1-2", Interval("YEAR", "MONTH"))
(93784500000, -14)
>>> printed(-5_000_000, Interval("HOUR", "SECOND"))
"INTERVAL '-00:00:05' HOUR TO SECOND"
>>> value, type_ = with_units("1 day 2 hours")
>>> value, str(type_)
(93600000000, 'interval day to hour')
"""

from __future__ import annotations

import re
from functools import cache

from sqlwin.functions.core.types import UNITS, Interval

_MICROS = {"DAY": 86_400_000_000, "HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000}
_MOST = {"MONTH": 12, "HOUR": 24, "MINUTE": 60, "SECOND": 60}
"""Of a field behind another, one more than its greatest value."""
_WORDS: dict[str, tuple[str, int]] = {
    "YEAR": ("YEAR", 12),
    "MONTH": ("MONTH", 1),
    "WEEK": ("DAY", 7 * _MICROS["DAY"]),
    **{unit: (unit, micros) for unit, micros in _MICROS.items()},
    "MILLISECOND": ("SECOND", 1000),
    "MICROSECOND": ("SECOND", 1),
}
_PIECE = re.compile(r"\s*([+-]?)\s*([0-9]*)(?:\.([0-9]{0,9}))?\s+([a-zA-Z]+)")


def micros_per(unit: str) -> int:
    """unit: from DAY to SECOND."""
    return _MICROS[unit]


def _fields(type_: Interval) -> tuple[str, ...]:
    return UNITS[UNITS.index(type_.first) : UNITS.index(type_.last) + 1]


@cache
def _form(type_: Interval) -> re.Pattern[str]:
    first, *others = _fields(type_)
    form = r"([0-9]+)"
    for unit in others:
        form += {"MONTH": "-", "HOUR": " +"}.get(unit, ":") + "([0-9]{1,2})"
    if type_.last == "SECOND":
        form += r"(?:\.([0-9]{1,9}))?"
    words = " +TO +".join(dict.fromkeys(type_.fields))
    spelled = rf"(?:INTERVAL\s+([+-]?)'\s*([+-]?){form}\s*'\s+{words}|\s*([+-]?){form}\s*)\Z"
    assert first
    return re.compile(spelled, re.IGNORECASE | re.ASCII)


def _malformed(text: str, type_: Interval) -> ValueError:
    return ValueError(
        f"[INVALID_INTERVAL_FORMAT] Error parsing '{text[:200]}' to {str(type_).upper()}"
    )


def bounded(value: int, type_: Interval) -> int:
    """ValueError where it is too long."""
    limit = 2**31 if type_.is_months else 2**63
    if not -limit <= value < limit:
        raise ValueError("[INTERVAL_ARITHMETIC_OVERFLOW] an interval is too long")
    return value


def parsed(text: str, type_: Interval, sign: int = 1) -> int:
    """Months or microseconds, times the sign. ValueError where it is malformed or too long."""
    found = _form(type_).match(text)
    if found is None:
        raise _malformed(text, type_)
    fields = _fields(type_)
    size = len(fields) + (type_.last == "SECOND")
    groups = found.groups()
    spelled = groups[: 2 + size] if groups[2] is not None else groups[2 + size :]
    signs, numbers = spelled[:-size], spelled[-size:]
    total = 0
    for at, (unit, number) in enumerate(zip(fields, numbers, strict=False)):
        if at and int(number) >= _MOST[unit]:
            raise _malformed(text, type_)
        total += int(number) * _WORDS[unit][1]
    if type_.last == "SECOND":
        total += int((numbers[-1] or "").ljust(6, "0")[:6])
    return bounded(-sign * total if signs.count("-") % 2 else sign * total, type_)


def with_units(text: str, sign: int = 1) -> tuple[int, Interval]:
    """`1 day 2 hours`: its value, and the fields it names. ValueError where it is none."""
    total, at, fields = 0, 0, set[str]()
    plain = re.sub(r"^\s*INTERVAL\s+", "", text, flags=re.IGNORECASE).rstrip()
    while at < len(plain):
        piece = _PIECE.match(plain, at)
        if piece is None or not (piece[2] or piece[3]):
            raise ValueError(f"'{text[:200]}' is no interval")
        field, value = _times(*piece.groups())
        fields.add(field)
        total, at = total + value, piece.end()
    if not fields:
        raise ValueError("an empty text is no interval")
    order = sorted(fields, key=UNITS.index)
    if (order[0] in UNITS[:2]) != (order[-1] in UNITS[:2]):
        raise ValueError("an interval has years and months, or days and less, not both")
    type_ = Interval(order[0], order[-1])
    return bounded(sign * total, type_), type_


def _times(sign: str, whole: str, fraction: str | None, word: str) -> tuple[str, int]:
    upper = word.upper()
    known = _WORDS.get(upper) or _WORDS.get(upper.removesuffix("S"))
    if known is None:
        raise ValueError(f"{upper} is no unit of an interval")
    field, unit = known
    if fraction is not None and upper not in ("SECOND", "SECONDS"):
        raise ValueError(f"{upper} takes no fraction in an interval")
    value = int(whole or 0) * unit + int((fraction or "").ljust(6, "0")[:6])
    return field, -value if sign == "-" else value


def printed(value: int, type_: Interval) -> str:
    """As Spark prints it, which is a literal of SQL."""
    sign, rest = "-" if value < 0 else "", abs(value)
    text = ""
    for at, unit in enumerate(_fields(type_)):
        number, rest = divmod(rest, _WORDS[unit][1])
        separator = {"MONTH": "-", "HOUR": " "}.get(unit, ":") if at else ""
        text += separator + (str(number) if unit in UNITS[:3] else f"{number:02}")
    if type_.last == "SECOND" and rest:
        text += f".{rest:06}".rstrip("0")
    return f"INTERVAL '{sign}{text}' {' TO '.join(dict.fromkeys(type_.fields))}"
