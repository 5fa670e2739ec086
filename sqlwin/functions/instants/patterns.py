"""Patterns of dates and times, as java.time has them and Spark takes them: `yyyy-MM-dd HH:mm`.

A pattern is a tuple of pieces: letters of one kind (`MM`), a text, or an optional part in
brackets. Letters that Spark refuses are refused here, with its error.

>>> [str(piece) for piece in pattern("yyyy-MM'T'[HH]")]
['yyyy', "'-'", 'MM', "'T'", '[HH]']
>>> pattern("YYYY")
Traceback (most recent call last):
ValueError: [INVALID_DATETIME_PATTERN] YYYY: Y stands for nothing
"""

from __future__ import annotations

from functools import lru_cache

from sqlwin.lazy_dataclass import dataclass

_LONGEST = {
    **dict.fromkeys("GMLEQq", 4),
    **dict.fromkeys("dhHkKms", 2),
    **dict.fromkeys("xXZ", 5),
    "y": 6,
    "D": 3,
    "a": 1,
    "F": 1,
    "S": 9,
    "z": 4,
}
"""Of each letter."""
_EXACTLY = {"O": (1, 4), "V": (2,), "v": (1, 4)}
_NOT_READ = "EFqQ"
"""What is printed only."""


@dataclass(frozen=True)
class Letters:
    letter: str
    count: int

    def __str__(self) -> str:
        return self.letter * self.count


@dataclass(frozen=True)
class Text:
    text: str

    def __str__(self) -> str:
        return repr(self.text)


@dataclass(frozen=True)
class Optional:
    pieces: tuple[Piece, ...]

    def __str__(self) -> str:
        return f"[{''.join(map(str, self.pieces))}]"


Piece = Letters | Text | Optional


@lru_cache(maxsize=256)
def pattern(text: str, reads: bool = False) -> tuple[Piece, ...]:
    """reads: it is for reading texts, which takes fewer letters. ValueError where it is none."""
    pieces, end = _pieces(text, 0, 0, reads)
    assert end == len(text)
    return pieces


def _wrong(text: str, reason: str) -> ValueError:
    return ValueError(f"[INVALID_DATETIME_PATTERN] {text[:200]}: {reason}")


def _pieces(text: str, at: int, depth: int, reads: bool) -> tuple[tuple[Piece, ...], int]:
    found: list[Piece] = []
    while at < len(text):
        letter = text[at]
        if letter == "]":
            if depth == 0:
                raise _wrong(text, "] closes nothing")
            return tuple(found), at + 1
        if letter == "[":
            inner, at = _pieces(text, at + 1, depth + 1, reads)
            found.append(Optional(inner))
        elif letter == "'":
            quoted, at = _quoted(text, at + 1)
            found.append(Text(quoted))
        elif letter.isascii() and letter.isalpha():
            count = len(text[at:]) - len(text[at:].lstrip(letter))
            found.append(_letters(text, letter, count, reads))
            at += count
        elif letter in "#{}":
            raise _wrong(text, f"{letter} is reserved")
        else:
            found.append(Text(letter))
            at += 1
    return tuple(found), at


def _quoted(text: str, at: int) -> tuple[str, int]:
    """Up to the quote that closes it; two quotes are one."""
    if text[at : at + 1] == "'":
        return "'", at + 1
    made = ""
    while at < len(text):
        if text[at] != "'":
            made += text[at]
            at += 1
        elif text[at + 1 : at + 2] == "'":
            made += "'"
            at += 2
        else:
            return made, at + 1
    raise _wrong(text, "a quote is not closed")


def _letters(text: str, letter: str, count: int, reads: bool) -> Letters:
    exactly = _EXACTLY.get(letter)
    longest = _LONGEST.get(letter)
    if (longest is None and exactly is None) or (reads and letter in _NOT_READ):
        raise _wrong(text, f"{letter} stands for nothing" + (" that is read" if longest else ""))
    if (longest and count > longest) or (exactly and count not in exactly):
        raise _wrong(text, f"{letter * count} has too many letters, or too few")
    return Letters(letter, count)


def has(pieces: tuple[Piece, ...], letter: str) -> bool:
    return any(
        has(piece.pieces, letter)
        if isinstance(piece, Optional)
        else isinstance(piece, Letters) and piece.letter == letter
        for piece in pieces
    )


_ENGINE = {
    "yyyy": "%Y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%g",
    "SSSSSS": "%f",
}
"""Those that DuckDB reads as well."""
_PRINTED = {"yy": "%y", "M": "%-m", "d": "%-d", "H": "%-H", "hh": "%I", "h": "%-I", "a": "%p"}
_WORDS = {"MMM": "%b", "MMMM": "%B", "E": "%a", "EEE": "%a", "EEEE": "%A", "DDD": "%j"}


_ZONES = "xXZOVzv"


def names_zone(pieces: tuple[Piece, ...]) -> bool:
    """Whether it prints or reads a zone."""
    return any(has(pieces, letter) for letter in _ZONES)


def engine_pattern(text: str | None, reads: bool = False) -> str | None:
    """A pattern as a literal of DuckDB, for `strftime` and, reads, for `strptime`; or None.

    >>> engine_pattern("yyyy-MM-dd'T'HH:mm")
    "'%Y-%m-%dT%H:%M'"
    """
    if text is None:
        return None
    known = _ENGINE if reads else _ENGINE | _PRINTED | _WORDS
    made, found = "", list[str]()
    for piece in pattern(text, reads):
        if isinstance(piece, Optional):
            return None
        if isinstance(piece, Text):
            made += piece.text.replace("%", "%%")
            continue
        written = known.get(str(piece))
        if written is None or (reads and written in found):
            return None
        found.append(written)
        made += written
    if "\0" in made or (reads and not {"%Y", "%m", "%d"} <= set(found)):
        return None
    return "'" + made.replace("'", "''") + "'"
