"""Functions that cut a text, or put something else in place of a part of it.

Positions count code points from 1, in BINARY bytes; 0 is as 1, and those below count from the
end. Where a position is a constant DuckDB's own functions do, else Python's slices.

>>> part("Spark", -3, 2), part("Spark", 0, 2), part("Spark", -9, 5)
('ar', 'Sp', 'S')
"""

from __future__ import annotations

from typing import TypeVar

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.limits import BYTES, check_bytes
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import BINARY, STRING
from sqlwin.functions.core.vectors import by_value, only, valued, vector

S = TypeVar("S", str, bytes)
_ALL = 2**31 - 1


def part(text: S, position: int, length: int = _ALL) -> S:
    start = position - 1 if position > 0 else len(text) + position if position else 0
    return text[max(start, 0) : max(start + length, 0)]


_part = valued("substring")(part)


def _constant(call: Call, at: int) -> int | None:
    arg = call.args[at]
    assert isinstance(arg, Typed)
    return arg.value if arg.is_constant else None


def _substring(call: Call) -> str:
    start = _constant(call, 1)
    length = _constant(call, 2) if len(call.args) > 2 else _ALL
    if start is None or length is None or start < 0 or call.result == BINARY:
        types = [call.type(at) for at in range(len(call.args))]
        return f"{_part.named(types, call.result)}({', '.join(call.texts)})"
    if length == _ALL:
        return f"substring({call.texts[0]}, {max(start, 1)})"
    return f"substring({call.texts[0]}, {max(start, 1)}, {max(length, 0)})"


def _left(call: Call) -> str:
    length = _constant(call, 1)
    count = call.texts[1] if length is None else f"{length}"
    if call.result == BINARY:
        one = "CAST(1 AS INTEGER)"
        named = _part.named([BINARY, call.type(1), call.type(1)], BINARY)
        return f"{named}({call.texts[0]}, {one}, {call.texts[1]})"
    sure = length is not None and length >= 0
    least = count if sure else f"CASE WHEN {count} < 0 THEN 0 ELSE {count} END"
    return f"left({call.texts[0]}, {least})"


@vector("replace")
def replace(texts: pa.Array, searched: pa.Array, put: pa.Array) -> pa.Array:
    """Of constants, with less text than what is bounded, Arrow's own."""
    old, new = only(searched), only(put)
    if old == "":
        return pc.if_else(put.is_valid(), texts, None)
    if old and new is not None and _is_small(texts, old, new):
        return pc.replace_substring(texts, old, new)
    return by_value(_replaced, texts, searched, put, type=STRING)


def _is_small(texts: pa.Array, old: str, new: str) -> bool:
    longest = pc.max(pc.binary_length(texts)).as_py() or 0
    return bool(longest * max(len(new.encode()), 1) / len(old.encode()) + longest <= BYTES)


def _replaced(text: str, old: str, new: str) -> str:
    if not old:
        return text
    check_bytes(len(text.encode()) + text.count(old) * (len(new.encode()) - len(old.encode())))
    return text.replace(old, new)


@valued("translate")
def _translate(text: str, old: str, new: str) -> str:
    """Each letter of `old` becomes the one of `new` at its place, or nothing; the first counts."""
    pairs: dict[int, str] = {}
    for at, letter in enumerate(old):
        put = new[at : at + 1]
        pairs.setdefault(ord(letter), "" if put == "\0" else put)
    return text.translate(pairs)


def _translated(call: Call) -> str:
    """DuckDB's with constants, but that it has no letter for nothing."""
    given = [arg.value for arg in call.args[1:] if isinstance(arg, Typed)]
    if all(isinstance(value, str) and "\0" not in value for value in given):
        return f"translate({', '.join(call.texts)})"
    return f"{_translate.named([STRING] * 3, STRING)}({', '.join(call.texts)})"


@valued("overlay")
def _overlay(text: S, put: S, position: int, length: int) -> S:
    count = len(put) if length < 0 else length
    behind = position + count
    # as many as there are: _ALL of them from -2147483648 on would not reach the end
    return part(text, 1, position - 1) + put + part(text, behind, len(text) + abs(behind))


@valued("splitpart")
def _split_part(text: str, delimiter: str, number: int) -> str:
    if number == 0:
        raise ValueError("[INVALID_INDEX_OF_ZERO] The index 0 is invalid: it counts from 1.")
    parts = text.split(delimiter) if delimiter else [text]
    at = number - 1 if number > 0 else len(parts) + number
    return parts[at] if 0 <= at < len(parts) else ""


_MANY = 1000


@vector("substringindex")
def _substring_index(texts: pa.Array, delimiters: pa.Array, counts: pa.Array) -> pa.Array:
    """By Arrow from the start, where the delimiter is a letter: it cannot overlap with itself."""
    delimiter, count = only(delimiters), only(counts)
    if delimiter is None or len(delimiter) != 1 or not 0 < (count or 0) < _MANY:
        return by_value(_indexed, texts, delimiters, counts, type=STRING)
    parts = pc.split_pattern(texts, delimiter, max_splits=count)
    return pc.binary_join(pc.list_slice(parts, 0, count), delimiter)


def _indexed(text: str, delimiter: str, count: int) -> str:
    """Up to the delimiter of that number; below 0, behind it from the end. They may overlap."""
    if not delimiter or not count:
        return ""
    at = -1 if count > 0 else len(text)
    for _ in range(abs(count)):
        if count > 0:
            at = text.find(delimiter, at + 1)
        else:
            at = text.rfind(delimiter, 0, max(at - 1 + len(delimiter), 0))
        if at < 0:
            return text
    return text[:at] if count > 0 else text[at + len(delimiter) :]


def _first_or_last(call: Call) -> str:
    """With a delimiter of one letter the first and the last part are DuckDB's own."""
    delimiter, count = call.args[1], _constant(call, 2)
    assert isinstance(delimiter, Typed)
    one = isinstance(delimiter.value, str) and len(delimiter.value) == 1
    if one and count in (1, -1):
        return f"split_part({call.texts[0]}, {delimiter.sql}, {count})"
    return f"{_substring_index.named([*map(call.type, range(3))], STRING)}({', '.join(call.texts)})"


def _one_part(call: Call) -> str:
    delimiter, number = call.args[1], _constant(call, 2)
    assert isinstance(delimiter, Typed)
    if number and isinstance(delimiter.value, str) and delimiter.value:
        return f"split_part({call.texts[0]}, {delimiter.sql}, {number})"
    return f"{_split_part.named([*map(call.type, range(3))], STRING)}({', '.join(call.texts)})"


def _overlaid(call: Call) -> str:
    """Without a length as long as what is put there, which a length below 0 says."""
    args = ", ".join([*call.texts, *(["CAST(-1 AS INTEGER)"] * (len(call.args) == 3))])
    types = [call.type(0), call.type(1), call.type(2), call.type(2)]
    return f"{_overlay.named(types, call.result)}({args})"


_SHORT = 2**16
"""Bytes of what DuckDB may make of one text, with no look at what it makes of all."""


def short_replace(text: str, old: str, new: str) -> str | None:
    """Text of DuckDB: a text with a constant in place of another, where it cannot get longer than
    _SHORT, and else by Arrow. None where the constants are too long for that."""
    if not old or len(new.encode()) > _SHORT // 2 or "\0" in old + new:
        return None
    longest = _SHORT // (1 + len(new.encode()) // len(old.encode()))
    args = ", ".join([text, literal(old, STRING).sql, literal(new, STRING).sql])
    exact = f"{replace.named([STRING] * 3, STRING)}({args})"
    return f"CASE WHEN strlen({text}) <= {longest} THEN replace({args}) ELSE {exact} END"


def _replace(call: Call) -> str:
    old, *given = call.args[1:]
    new = given[0] if given else literal("", STRING)
    assert isinstance(old, Typed) and isinstance(new, Typed)
    if isinstance(old.value, str) and isinstance(new.value, str):
        made = short_replace("{0}", old.value, new.value)
        if made is not None:
            return call.filled(made)
    return f"{replace.named([STRING] * 3, STRING)}({call.texts[0]}, {old.sql}, {new.sql})"


FUNCTIONS: tuple[Function, ...] = (
    function(
        "substring substr",
        of("(STRING, INT, INT?) -> STRING", _substring),
        of("(BINARY, INT, INT?) -> BINARY", _substring),
        doc="What begins at a position, so long, or to the end.",
    ),
    function(
        "left",
        of("(STRING, INT) -> STRING", _left),
        of("(BINARY, INT) -> BINARY", _left),
        doc="So many characters of the start.",
    ),
    function(
        "right",
        of("(STRING, INT) -> STRING", "right({0}, CASE WHEN {1} < 0 THEN 0 ELSE {1} END)"),
        doc="So many characters of the end.",
    ),
    function(
        "replace",
        of("(STRING, STRING, STRING?) -> STRING", _replace, fails=True),
        doc="With the third text, or none, wherever the second is.",
    ),
    function(
        "translate",
        of("(STRING, STRING, STRING) -> STRING", _translated),
        doc="With each letter of the second that of the third at its place.",
    ),
    function(
        "overlay",
        of("(STRING, STRING, INT, INT?) -> STRING", _overlaid),
        of("(BINARY, BINARY, INT, INT?) -> BINARY", _overlaid),
        doc="With the second text at a position, in place of so many characters.",
    ),
    function(
        "split_part",
        of("(STRING, STRING, INT) -> STRING", _one_part, fails=True),
        doc="The part of that number, between delimiters; from the end below 0.",
    ),
    function(
        "substring_index",
        of("(STRING, STRING, INT) -> STRING", _first_or_last),
        doc="What is before the delimiter of that number; below 0, what is behind it.",
    ),
)
