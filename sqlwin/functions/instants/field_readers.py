"""Readers of the fields of a pattern: each takes what is at its place in a text.

A number of letters that stand apart takes as many digits as there are; one of two letters or
more exactly so many. Digits that stand side by side (`yyyyMMdd`) leave the later ones theirs."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlwin.functions.instants.calendar import MONTHS
from sqlwin.functions.instants.patterns import Letters, Optional, Piece, Text
from sqlwin.functions.instants.zones import Zone, offset_seconds, zone
from sqlwin.lazy_dataclass import dataclass

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


def sequence(readers: list[Reader]) -> Reader:
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
        return _optional(sequence(readers_of(piece.pieces)))
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


def readers_of(pieces: tuple[Piece, ...]) -> list[Reader]:
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
