"""Functions that look for one text in another, or say how far one is from another.

>>> distance("kitten", "sitting"), _soundex("Tymczak")
(3, 'T522')
"""

from __future__ import annotations

import pyarrow as pa

from sqlwin.functions.core.entry import Call, Function, How, function, of
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import INT, STRING
from sqlwin.functions.core.vectors import valued, vector

_STEPS = 10**9
"""Of one LEVENSHTEIN: characters of the one times those of the other."""


def distance(one: str, other: str) -> int:
    """Levenshtein's. A column of the table of distances is two sets of bits (Myers 1999, Hyyrö
    2003), each a Python integer: rows where it goes up by one, and rows where it goes down."""
    if not one or not other:
        return len(one) or len(other)
    if len(one) * len(other) > _STEPS:
        raise ValueError(f"LEVENSHTEIN would take more than {_STEPS} steps")
    full, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    places: dict[str, int] = {}
    for at, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << at
    up, down, found = full, 0, len(one)
    for letter in other:
        same = places.get(letter, 0)
        straight = same | down
        level = ((((same & up) + up) ^ up) | same) & full
        more = down | (~(level | up) & full)
        less = up & level
        found += bool(more & last) - bool(less & last)
        more = (more << 1 | 1) & full
        up = ((less << 1) | ~(straight | more)) & full
        down = more & straight
    return found


_distance = valued("levenshtein")(distance)


def _distance_text(call: Call) -> str:
    """DuckDB counts bytes: it does for short texts of ASCII."""
    one, other = call.texts
    full = f"{_distance.named([STRING, STRING], INT)}({one}, {other})"
    if max(len(one), len(other)) > 100:
        return full
    short = " AND ".join(f"strlen({x}) = length({x}) AND strlen({x}) < 1000" for x in (one, other))
    return f"CASE WHEN {short} THEN CAST(levenshtein({one}, {other}) AS INTEGER) ELSE {full} END"


@valued("levenshteinlimit")
def _limited(one: str, other: str, limit: int) -> int:
    """-1 where they are further apart."""
    found = -1 if abs(len(one) - len(other)) > limit else distance(one, other)
    return found if found <= limit else -1


def _jaro(one: str, other: str) -> float:
    """Letters are the same that stand within a window of each other."""
    window = max(0, max(len(one), len(other)) // 2 - 1)
    free = [True] * len(other)
    mine: list[str] = []
    for at, letter in enumerate(one):
        for place in range(max(0, at - window), min(len(other), at + window + 1)):
            if free[place] and other[place] == letter:
                free[place] = False
                mine.append(letter)
                break
    if not mine:
        return 0.0
    yours = [letter for letter, is_free in zip(other, free, strict=True) if not is_free]
    moved = sum(a != b for a, b in zip(mine, yours, strict=True)) // 2
    same = len(mine)
    return (same / len(one) + same / len(other) + (same - moved) / same) / 3.0


def _jaro_winkler(one: str, other: str) -> float:
    if one == other:
        return 1.0
    if len(one) * len(other) > 10**7:
        raise ValueError("JARO_WINKLER_SIMILARITY would take more than 10000000 steps")
    found = _jaro(one, other)
    prefix = 0
    while prefix < min(4, len(one), len(other)) and one[prefix] == other[prefix]:
        prefix += 1
    return found + prefix * 0.1 * (1.0 - found)


_SOUNDS = "01230127022455012623017202"
"""Of A to Z. 7: as if it were not there."""


def _soundex(text: str) -> str:
    first = text[:1].upper() if text[:1].isascii() else ""
    if not "A" <= first <= "Z":
        return text
    made, before = first, _SOUNDS[ord(first) - 65]
    for letter in text[1:]:
        capital = letter.upper() if letter.isascii() else ""
        code = _SOUNDS[ord(capital) - 65] if "A" <= capital <= "Z" else "0"
        if code == "7":
            continue
        if code not in (before, "0"):
            made += code
        before = code
    return made[:4].ljust(4, "0")


@vector("locate")
def _locate(searched: pa.Array, texts: pa.Array, starts: pa.Array) -> pa.Array:
    """A start that is NULL finds nothing, as 0; a text that is NULL is NULL."""
    rows = zip(searched.to_pylist(), texts.to_pylist(), starts.to_pylist(), strict=True)
    return pa.array([_place(*row) for row in rows], INT)


def _place(searched: str | None, text: str | None, start: int | None) -> int | None:
    if start is None:
        return 0
    if searched is None or text is None:
        return None
    if start < 1:
        return 0
    return text.find(searched, start - 1) + 1 if searched else 1


@valued("findinset")
def _find_in_set(text: str, texts: str) -> int:
    parts = texts.split(",")
    return parts.index(text) + 1 if "," not in text and text in parts else 0


@valued("contains")
def _contains(text: bytes, other: bytes) -> bool:
    return other in text


@valued("startswith")
def _starts(text: bytes, other: bytes) -> bool:
    return text.startswith(other)


@valued("endswith")
def _ends(text: bytes, other: bytes) -> bool:
    return text.endswith(other)


def _instr(text: int, searched: int) -> How:
    """Of the arguments at these places. DuckDB finds no empty text."""

    def how(call: Call) -> str:
        one, other = call.args[searched], call.texts[text]
        assert isinstance(one, Typed)
        found = f"instr({other}, {one.sql})"
        if not one.is_constant or one.value == "":
            empty = f"{one.sql} = '' AND {other} IS NOT NULL"
            found = f"CASE WHEN {empty} THEN 1 ELSE {found} END"
        return f"CAST({found} AS INTEGER)"

    return how


_TWO = "(STRING, STRING) -> BOOLEAN"
_TWO_BYTES = "(BINARY, BINARY) -> BOOLEAN"
FUNCTIONS: tuple[Function, ...] = (
    function(
        "instr",
        of("(STRING, STRING) -> INT", _instr(0, 1)),
        doc="Where the second text is in the first, from 1; 0 if it is not there.",
    ),
    function(
        "locate position",
        of("(STRING, STRING) -> INT", _instr(1, 0)),
        of("(STRING, STRING, INT) -> INT", _locate),
        doc="Where the first text is in the second, from a start on; 0 if it is not there.",
    ),
    function(
        "contains",
        of(_TWO, "contains({0}, {1})"),
        of(_TWO_BYTES, _contains),
        doc="Whether the second is within the first.",
    ),
    function(
        "startswith",
        of(_TWO, "starts_with({0}, {1})"),
        of(_TWO_BYTES, _starts),
        doc="Whether the first begins with the second.",
    ),
    function(
        "endswith",
        of(_TWO, "ends_with({0}, {1})"),
        of(_TWO_BYTES, _ends),
        doc="Whether the first ends with the second.",
    ),
    function(
        "find_in_set",
        of("(STRING, STRING) -> INT", _find_in_set),
        doc="The number of the text among those of a list with commas; 0 if it is not there.",
    ),
    function(
        "levenshtein",
        of("(STRING, STRING) -> INT", _distance_text, fails=True),
        of("(STRING, STRING, INT) -> INT", _limited),
        doc="How many letters differ; with a limit, -1 where that are more.",
    ),
    function(
        "jaro_winkler_similarity",
        of("(STRING, STRING) -> DOUBLE", valued("jarowinkler")(_jaro_winkler)),
        doc="How alike two texts are, from 0 to 1; a common start counts more.",
    ),
    function(
        "soundex",
        of("(STRING) -> STRING", valued("soundex")(_soundex)),
        doc="What it sounds like in English: a letter and three digits.",
    ),
)
