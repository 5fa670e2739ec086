"""LIKE and ILIKE: `%` stands for any text, `_` for one character, behind `\\` each for itself.

A constant pattern is left to DuckDB, with the escape it needs; others go through RE2, whose time
does not depend on how many `%` there are.

>>> read("a\\\\_%", "\\\\")
[(False, 'a_'), (True, '%')]
>>> read("a\\\\b", "\\\\")
Traceback (most recent call last):
ValueError: [INVALID_FORMAT.ESC_IN_THE_MIDDLE] The format is invalid: 'a\\\\b'. The escape \
character is not allowed to precede 'b'.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from itertools import groupby
from typing import Any

import re2

from sqlwin.functions.core.entry import Call, Function, How, function, of
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import BOOLEAN, STRING
from sqlwin.functions.core.vectors import valued
from sqlwin.functions.texts.case import lower_text

_ANY = {"%": ".*", "_": "."}
"""And how RE2 has them."""


def read(pattern: str, escape: str) -> list[tuple[bool, str]]:
    """Wildcards and texts, with True for a wildcard. ValueError where an escape stands before
    what is neither."""
    letters: list[tuple[bool, str]] = []
    at = 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == escape:
            letters.append((False, _escaped(pattern, at, escape)))
            at += 2
        else:
            letters.append((letter in _ANY, letter))
            at += 1
    made: list[tuple[bool, str]] = []
    for wild, group in groupby(letters, lambda each: each[0]):
        texts = [text for _, text in group]
        made += [(True, text) for text in texts] if wild else [(False, "".join(texts))]
    return made


def _escaped(pattern: str, at: int, escape: str) -> str:
    invalid = f"The format is invalid: {pattern!r}."
    if at + 1 == len(pattern):
        message = "The escape character is not allowed to end with."
        raise ValueError(f"[INVALID_FORMAT.ESC_AT_THE_END] {invalid} {message}")
    letter = pattern[at + 1]
    if letter not in (escape, "%", "_"):
        message = f"The escape character is not allowed to precede {letter!r}."
        raise ValueError(f"[INVALID_FORMAT.ESC_IN_THE_MIDDLE] {invalid} {message}")
    return letter


@lru_cache(maxsize=1024)
def _compiled(pattern: str, escape: str) -> Any:
    made = "".join(_ANY[text] if wild else re2.escape(text) for wild, text in read(pattern, escape))
    return re2.compile(f"(?s:{made})")


@valued("like")
def _like(text: str, pattern: str, escape: str) -> bool:
    return _compiled(pattern, escape).fullmatch(text) is not None


_QUICKER = {
    "": "({0} = {1})",
    "x": "({0} = {1})",
    "x%": "prefix({0}, {1})",
    "%x": "suffix({0}, {1})",
    "%x%": "contains({0}, {1})",
}
"""By pattern, x for a fixed text."""


def _text(given: str, pattern: str, escape: str) -> str:
    """DuckDB's LIKE, which has no escape where none is named; what is quicker where it can be."""
    parts = read(pattern, escape)
    fixed = literal("".join(text for wild, text in parts if not wild), STRING).sql
    quicker = _QUICKER.get("".join(text if wild else "x" for wild, text in parts))
    if quicker is not None:
        return quicker.format(given, fixed)
    plain = all(wild or not set(text) & set("%_") for wild, text in parts)
    made = "".join(text if wild or plain else _behind(text) for wild, text in parts)
    escaped = "" if plain else " ESCAPE '|'"
    return f"({given} LIKE {literal(made, STRING).sql}{escaped})"


def _behind(text: str) -> str:
    return "".join("|" + letter if letter in "%_|" else letter for letter in text)


def _of(folded: bool) -> How:
    """folded: of small letters."""

    def how(call: Call) -> str:
        pattern, escape = call.args[1], _escape(call)
        assert isinstance(pattern, Typed)
        given = lower_text(call.texts[0]) if folded else call.texts[0]
        if isinstance(pattern.value, str):
            # a bad one fails for the rows that there are
            with suppress(ValueError):
                return _text(given, pattern.value.lower() if folded else pattern.value, escape)
        like = lower_text(pattern.sql) if folded else pattern.sql
        named = _like.named([STRING] * 3, BOOLEAN)
        return f"{named}({given}, {like}, {literal(escape, STRING).sql})"

    return how


def _escape(call: Call) -> str:
    if len(call.args) == 2:
        return "\\"
    given = call.args[2]
    assert isinstance(given, Typed)
    if not isinstance(given.value, str) or len(given.value) != 1:
        raise Refused("ESCAPE takes one character", "ESCAPE '!'", at=2)
    return given.value


_SIGNATURE = "(STRING, STRING, STRING!?) -> BOOLEAN"
FUNCTIONS: tuple[Function, ...] = (
    function(
        "like",
        of(_SIGNATURE, _of(folded=False), fails=True),
        doc="Whether the text is of a pattern with % and _.",
    ),
    function(
        "ilike",
        of(_SIGNATURE, _of(folded=True), fails=True),
        doc="Whether the text is of a pattern with % and _, capitals or not.",
    ),
)
