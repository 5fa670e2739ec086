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

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sqlwin.functions.instants.calendar import DAY, MONTHS, civil, days, is_leap, month_length
from sqlwin.functions.instants.patterns import Letters, Optional, Piece, Text, has
from sqlwin.functions.instants.zones import Zone, offset_seconds, zone

Fields = dict[str, int | Zone]
Reader = Callable[[str, int, Fields], int]
"""From a place in a text to the one behind what is read, -1 where it is not there."""
_FAILED = -1
_HOURS, _MINUTES, _SECONDS = "([+-])([0-9]{2})", "([0-9]{2})", "([0-9]{2})"
_OFFSETS = {
    "1": rf"{_HOURS}(?:{_MINUTES})?",
    "2": rf"{_HOURS}{_MINUTES}",
    "3": rf"{_HOURS}:{_MINUTES}",
    "4": rf"{_HOURS}{_MINUTES}(?:{_SECONDS})?",
    "5": rf"{_HOURS}:{_MINUTES}(?::{_SECONDS})?",
}
_ABBREVIATIONS = {
    **dict.fromkeys(("PST", "PDT", "PACIFIC STANDARD TIME", "PACIFIC DAYLIGHT TIME"), "PST"),
    **dict.fromkeys(("MST", "MDT", "MOUNTAIN STANDARD TIME"), "America/Denver"),
    **dict.fromkeys(("CST", "CDT", "CENTRAL STANDARD TIME"), "America/Chicago"),
    **dict.fromkeys(("EST", "EDT", "EASTERN STANDARD TIME"), "America/New_York"),
    **dict.fromkeys(("CET", "CEST", "CENTRAL EUROPEAN STANDARD TIME"), "Europe/Paris"),
    **dict.fromkeys(("COORDINATED UNIVERSAL TIME", "GREENWICH MEAN TIME"), "UTC"),
}
_ZONE_WORD = re.compile(r"[A-Za-z0-9/_+\-:]+")


def _put(fields: Fields, name: str, value: int | Zone) -> bool:
    return fields.setdefault(name, value) == value


@dataclass
class _Number:
    """sign: `normal` takes a minus, `exceeds` a plus, too, where it has more digits than `least`.
    later: digits of those that follow side by side."""

    name: str
    least: int
    most: int
    sign: str = ""
    later: int = 0

    def __call__(self, text: str, at: int, fields: Fields) -> int:
        sign = text[at : at + 1] if text[at : at + 1] in ("+", "-") else ""
        if (sign == "-" and not self.sign) or (sign == "+" and self.sign != "exceeds"):
            return _FAILED
        start = at + len(sign)
        end, last = start, min(len(text), start + self.most + self.later)
        while end < last and "0" <= text[end] <= "9":
            end += 1
        if self.later:
            end = start + max(self.least, min(end - start - self.later, self.most))
        digits = text[start:end]
        if len(digits) < self.least or not digits.isdecimal():
            return _FAILED
        value = int(digits)
        if sign == "-" and value == 0:
            return _FAILED
        if self.sign == "exceeds" and sign != "-" and (sign == "+") != (len(digits) > self.least):
            return _FAILED
        value = 2000 + value if self.name == "yy" else -value if sign == "-" else value
        return end if _put(fields, "y" if self.name == "yy" else self.name, value) else _FAILED


def _literal(wanted: str) -> Reader:
    lower = wanted.lower()

    def read_(text: str, at: int, _: Fields) -> int:
        end = at + len(wanted)
        return end if text[at:end].lower() == lower else _FAILED

    return read_


def _words(name: str, values: dict[str, int]) -> Reader:
    longest = sorted(values, key=len, reverse=True)

    def read_(text: str, at: int, fields: Fields) -> int:
        for word in longest:
            if text[at : at + len(word)].lower() == word.lower():
                return at + len(word) if _put(fields, name, values[word]) else _FAILED
        return _FAILED

    return read_


def _fraction(most: int) -> Reader:
    def read_(text: str, at: int, fields: Fields) -> int:
        end = at
        while end < min(len(text), at + most) and "0" <= text[end] <= "9":
            end += 1
        if end == at:
            return _FAILED
        return end if _put(fields, "nanos", int(text[at:end].ljust(9, "0"))) else _FAILED

    return read_


def _offset(form: str) -> Reader:
    known = re.compile(form)

    def read_(text: str, at: int, fields: Fields) -> int:
        found = known.match(text, at)
        if found is None:
            return _FAILED
        parts = [part for part in found.groups() if part]
        seconds = offset_seconds(parts[0] + ":".join(p.zfill(2) for p in parts[1:])) if parts else 0
        if seconds is None or not _put(fields, "zone", Zone("", seconds)):
            return _FAILED
        return found.end()

    return read_


def _named_zone(words: dict[str, str]) -> Reader:
    def read_(text: str, at: int, fields: Fields) -> int:
        rest = text[at:].upper()
        for word in sorted(words, key=len, reverse=True):
            if rest.startswith(word) and not rest[len(word) : len(word) + 1].isalnum():
                return at + len(word) if _put(fields, "zone", zone(words[word])) else _FAILED
        found = _ZONE_WORD.match(text, at)
        end = at if found is None else found.end()
        while end > at:
            try:
                return end if _put(fields, "zone", zone(text[at:end])) else _FAILED
            except ValueError:
                end -= 1
        return _FAILED

    return read_


def _optional(inner: Reader) -> Reader:
    def read_(text: str, at: int, fields: Fields) -> int:
        trial = dict(fields)
        end = inner(text, at, trial)
        if end == _FAILED:
            return at
        fields.update(trial)
        return end

    return read_


def _sequence(readers: list[Reader]) -> Reader:
    def read_(text: str, at: int, fields: Fields) -> int:
        for reader in readers:
            at = reader(text, at, fields)
            if at == _FAILED:
                return _FAILED
        return at

    return read_


_MONTH_WORDS = {word: at + 1 for at, word in enumerate(MONTHS)}
_LOCALIZED = {1: r"GMT(?:([+-])([0-9]{1,2})(?::([0-9]{2})(?::([0-9]{2}))?)?)?"}
_FULL = r"GMT(?:([+-])([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?)?"


def _reader(piece: Piece) -> Reader:
    if isinstance(piece, Text):
        return _literal(piece.text)
    if isinstance(piece, Optional):
        return _optional(_sequence(_readers(piece.pieces)))
    letter, count = piece.letter, piece.count
    if letter == "y":
        return _year(count)
    if letter in "ML" and count > 2:
        short = {word[:3]: at for word, at in _MONTH_WORDS.items()}
        return _words("M", short if count == 3 else _MONTH_WORDS)
    if letter == "a":
        return _words("a", {"AM": 0, "PM": 1})
    if letter == "G":
        full = {"Before Christ": 0, "Anno Domini": 1}
        return _words("G", full if count == 4 else {"BC": 0, "AD": 1})
    if letter == "S":
        return _fraction(count)
    if letter in "XxZOVzv":
        return _zone_reader(piece)
    if count == 1:
        return _Number("M" if letter == "L" else letter, 1, 19, "normal")
    return _Number("M" if letter == "L" else letter, count, 3 if letter == "D" else count)


def _year(count: int) -> Reader:
    if count == 2:
        return _Number("yy", 2, 2)
    return _Number("y", count, 19, "exceeds" if count >= 4 else "normal")


def _zone_reader(piece: Letters) -> Reader:
    text, count = str(piece), piece.count
    if piece.letter in "Xx":
        none = "Z" if piece.letter == "X" else {4: r"\+0000", 5: r"\+00:00"}.get(count, "$^")
        return _offset(f"(?:{none}|{_OFFSETS[str(count)]})")
    if text in ("Z", "ZZ", "ZZZ"):
        return _offset(_OFFSETS["2"])
    if text == "ZZZZZ":
        return _offset(f"(?:Z|{_OFFSETS['5']})")
    if text == "O":
        return _offset(_LOCALIZED[1])
    if text in ("ZZZZ", "OOOO"):
        return _offset(_FULL)
    return _named_zone(_ABBREVIATIONS if piece.letter in "zv" else {})


def _readers(pieces: tuple[Piece, ...]) -> list[Reader]:
    """Numbers of a fixed width take from the first that stands side by side with them."""
    found: list[Reader] = []
    first: _Number | None = None
    for piece in pieces:
        reader = _reader(piece)
        if isinstance(reader, _Number):
            if first is not None and reader.least == reader.most:
                first.later += reader.most
            else:
                first = reader
        else:
            first = None
        found.append(reader)
    return found


@lru_cache(maxsize=256)
def _whole(pieces: tuple[Piece, ...]) -> Reader:
    return _sequence(_readers(pieces))


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
