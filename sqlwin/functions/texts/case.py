"""Functions of the case of a text.

It follows Unicode's full mappings (`ß` becomes `SS`), which DuckDB does not have; it has the
letters of ASCII, and texts of those alone are left to it.

>>> initcap.compute(pa.array(["aBc dEF", None])).to_pylist()
['Abc Def', None]
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.entry import Function, function, of
from sqlwin.functions.core.types import STRING
from sqlwin.functions.core.usually import usually
from sqlwin.functions.core.vectors import Vector, by_value, valued, vector

_SHORT = 100
"""Characters of an argument's text that may stand there more than once."""


@valued("upper")
def upper(text: str) -> str:
    return text.upper()


@valued("lower")
def lower(text: str) -> str:
    return text.lower()


@vector("initcap")
def initcap(texts: pa.Array) -> pa.Array:
    exact = partial(by_value, capitalized, type=STRING)
    return usually(texts, pc.string_is_ascii(texts), _ascii_capitals, exact)


def capitalized(text: str) -> str:
    return " ".join(word[:1].title() + _tail(word) for word in text.split(" "))


def _ascii_capitals(texts: pa.Array) -> pa.Array:
    """What begins a text, and what is behind a space, in the bytes of all texts together."""
    if texts.null_count == len(texts):
        return texts
    lower = pc.ascii_lower(texts)
    at = lower.offset
    offsets = np.frombuffer(lower.buffers()[1], np.int32)[at : at + len(lower) + 1]
    letters = np.frombuffer(lower.buffers()[2], np.uint8)[offsets[0] : offsets[-1]].copy()
    begins = np.zeros(len(letters) + 1, bool)
    begins[offsets[:-1] - offsets[0]] = True
    begins[1:] |= letters == ord(" ")
    small = (letters >= ord("a")) & (letters <= ord("z"))
    letters[begins[:-1] & small] -= 32
    own = pa.py_buffer((offsets - offsets[0]).tobytes()), pa.py_buffer(letters.tobytes())
    made = pa.Array.from_buffers(STRING, len(texts), [None, *own])
    return pc.if_else(texts.is_valid(), made, pa.scalar(None, STRING))


def _tail(word: str) -> str:
    """All but the first letter, small: a sigma at the end depends on what is before it."""
    return word.lower()[len(word[:1].lower()) :]


def _in_case(given: str, plain: str, full: Vector) -> str:
    """DuckDB's function where each character is one byte, else Unicode's."""
    other = f"{full.named([STRING], STRING)}({given})"
    if len(given) > _SHORT:
        return other
    test = f"strlen({given}) = length({given})"
    return f"CASE WHEN {test} THEN {plain}({given}) ELSE {other} END"


def upper_text(given: str) -> str:
    return _in_case(given, "upper", upper)


def lower_text(given: str) -> str:
    return _in_case(given, "lower", lower)


FUNCTIONS: tuple[Function, ...] = (
    function(
        "upper ucase",
        of("(STRING) -> STRING", lambda call: upper_text(call.texts[0])),
        doc="In capitals.",
    ),
    function(
        "lower lcase",
        of("(STRING) -> STRING", lambda call: lower_text(call.texts[0])),
        doc="In small letters.",
    ),
    function(
        "initcap",
        of("(STRING) -> STRING", initcap),
        doc="Each word, as spaces part them, with a capital first and small letters after it.",
    ),
)
