"""Texts read by a pattern, strictly, as java.time does: greedy, and never going back.

A number of letters that stand apart takes as many digits as there are; one of two letters or
more exactly so many. Digits that stand side by side (`yyyyMMdd`) leave the later ones theirs.
What is missing is of 1970-01-01 00:00.

>>> from sqlwin.functions.instants.patterns import pattern
>>> read("20240229 10:11", pattern("yyyyMMdd HH:mm", reads=True))
1709201460000000
>>> read("2024-2-9", pattern("yyyy-MM-dd", reads=True)) is None
True
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sqlwin.functions.instants.calendar import DAY, civil, days, is_leap, month_length
from sqlwin.functions.instants.field_readers import Fields, Reader, readers_of, sequence
from sqlwin.functions.instants.patterns import Piece, has
from sqlwin.functions.instants.zones import Zone


@lru_cache(maxsize=256)
def _whole(pieces: tuple[Piece, ...]) -> Reader:
    return sequence(readers_of(pieces))


def read(text: str, pieces: tuple[Piece, ...]) -> int | None:
    """Microseconds since 1970; None where the text is not of the pattern, or no instant."""
    fields: Fields = {}
    if _whole(pieces)(text, 0, fields) != len(text):
        return None
    named = fields.pop("zone", None)
    plain = {name: value for name, value in fields.items() if isinstance(value, int)}
    day, time = _day(plain, has(pieces, "G")), _time(plain)
    if day is None or time is None:
        return None
    local = day * DAY + time
    if not -(2**63) <= local < 2**63:
        return None
    if not isinstance(named, Zone):
        return local
    return int(named.instants(np.array([local]))[0])


def _day(fields: dict[str, int], of_era: bool) -> int | None:
    year = fields.get("y", 1970)
    if of_era and "y" in fields:
        if year < 1:
            return None
        year = year if fields.get("G", 1) else 1 - year
    if abs(year) > 999_999_999:
        return None
    of_year = fields.get("D")
    if of_year is not None:
        if not 1 <= of_year <= 365 + bool(is_leap(year)):
            return None
        found = int(days(year, 1, 1)) + of_year - 1
        return found if _agrees(found, fields) else None
    month, day = fields.get("M", 1), fields.get("d", 1)
    if not 1 <= month <= 12 or not 1 <= day <= month_length(year, month):
        return None
    return int(days(year, month, day))


def _agrees(found: int, fields: dict[str, int]) -> bool:
    """With the month and the day of the month, where they are given."""
    _, month, day = (int(part[0]) for part in civil(np.array([found])))
    return fields.get("M", month) == month and fields.get("d", day) == day


def _time(fields: dict[str, int]) -> int | None:
    for name, least, most in (
        *(("H", 0, 23), ("k", 1, 24), ("h", 1, 12), ("K", 0, 11), ("m", 0, 59), ("s", 0, 59)),
    ):
        if not least <= fields.get(name, least) <= most:
            return None
    whole = {fields[name] % 24 for name in "Hk" if name in fields}
    half = {fields[name] % 12 for name in "hK" if name in fields}
    if len(whole) > 1 or len(half) > 1:
        return None
    hour = _hour(whole, half, fields.get("a"))
    if hour is None:
        return None
    seconds = (hour * 60 + fields.get("m", 0)) * 60 + fields.get("s", 0)
    return seconds * 1_000_000 + fields.get("nanos", 0) // 1000


def _hour(whole: set[int], half: set[int], afternoon: int | None) -> int | None:
    if whole:
        (hour,) = whole
        agrees = afternoon is None or hour // 12 == afternoon
        return hour if agrees and (not half or hour % 12 in half) else None
    return (next(iter(half)) if half else 0) + 12 * (afternoon or 0)
