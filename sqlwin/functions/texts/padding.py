"""Functions that make a text longer or shorter at its ends: trim, pad, repeat.

How long a value may get is checked before it is made.

>>> padded.compute(pa.string(), pa.array(["a"]), pa.array([3]), pa.array(["-"])).to_pylist()
['--a']
"""

from __future__ import annotations

from typing import TypeVar

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.entry import Call, Function, How, function, of
from sqlwin.functions.core.limits import BYTES, check_all, check_bytes, check_each
from sqlwin.functions.core.types import STRING
from sqlwin.functions.core.vectors import Vector, by_value, only, valued, vector

S = TypeVar("S", str, bytes)


def _fill(text: S, length: int, pad: S) -> S:
    """What is missing, of the pad over and over."""
    missing = length - len(text)
    if missing <= 0 or not pad:
        return text[:0]
    check_bytes(4 * length)
    return (pad * (missing // len(pad) + 1))[:missing]


def _lpad(text: S, length: int, pad: S) -> S:
    length = max(length, 0)
    return _fill(text, length, pad) + text[:length]


def _rpad(text: S, length: int, pad: S) -> S:
    length = max(length, 0)
    return text[:length] + _fill(text, length, pad)


def _constant(length: pa.Array, pad: pa.Array) -> tuple[int, str] | None:
    """Of all rows, where Arrow's own functions do."""
    count, one = only(length), only(pad)
    if count is None or not 0 <= count <= BYTES // 4:
        return None
    return (count, one) if isinstance(one, str) and len(one) == 1 else None


@vector("lpad", typed=True)
def padded(result: pa.DataType, texts: pa.Array, length: pa.Array, pad: pa.Array) -> pa.Array:
    constant = _constant(length, pad)
    if constant is None:
        return by_value(_lpad, texts, length, pad, type=result)
    check_each(4 * constant[0], len(texts))
    whole = pc.utf8_lpad(texts, width=constant[0], padding=constant[1])
    return pc.utf8_slice_codeunits(whole, 0, constant[0])


@vector("rpad", typed=True)
def padded_right(result: pa.DataType, texts: pa.Array, length: pa.Array, pad: pa.Array) -> pa.Array:
    constant = _constant(length, pad)
    if constant is None:
        return by_value(_rpad, texts, length, pad, type=result)
    check_each(4 * constant[0], len(texts))
    whole = pc.utf8_rpad(texts, width=constant[0], padding=constant[1])
    return pc.utf8_slice_codeunits(whole, 0, constant[0])


@vector("repeat")
def repeat(texts: pa.Array, counts: pa.Array) -> pa.Array:
    counts = pc.max_element_wise(counts, 0, skip_nulls=False)
    sizes = pc.multiply(pc.cast(pc.binary_length(texts), pa.int64()), counts)
    check_all(sizes)
    return pc.binary_repeat(texts, counts)


@valued("trimbytes")
def _trim_bytes(text: bytes, of_: bytes) -> str:
    """Of BINARY Spark makes STRING of both."""
    try:
        return text.decode().strip(of_.decode()) if of_ else text.decode()
    except UnicodeDecodeError:
        message = "The bytes are no UTF-8, and no STRING."
        raise ValueError(f"[INVALID_UTF8_STRING] {message}") from None


def _padded(vector_: Vector, default: str) -> How:
    def how(call: Call) -> str:
        pad = call.texts[2] if len(call.args) == 3 else default
        named = vector_.named([call.type(0), call.type(1), call.result], call.result)
        return f"{named}({call.texts[0]}, {call.texts[1]}, {pad})"

    return how


def _pads(vector_: Vector) -> tuple[How, How]:
    return _padded(vector_, "' '"), _padded(vector_, "unhex('00')")


_LPAD, _LPAD_BYTES = _pads(padded)
_RPAD, _RPAD_BYTES = _pads(padded_right)
_REPEAT = repeat.named([STRING, pa.int32()], STRING)
FUNCTIONS: tuple[Function, ...] = (
    function(
        "trim",
        of("(STRING) -> STRING", "trim({0}, ' ')"),
        of("(STRING, STRING) -> STRING", "trim({1}, {0})"),
        doc="Without spaces, or the characters of the first text, at both ends.",
    ),
    function(
        "ltrim",
        of("(STRING) -> STRING", "ltrim({0}, ' ')"),
        of("(STRING, STRING) -> STRING", "ltrim({1}, {0})"),
        doc="Without spaces, or the characters of the first text, at the start.",
    ),
    function(
        "rtrim",
        of("(STRING) -> STRING", "rtrim({0}, ' ')"),
        of("(STRING, STRING) -> STRING", "rtrim({1}, {0})"),
        doc="Without spaces, or the characters of the first text, at the end.",
    ),
    function(
        "btrim",
        of("(STRING) -> STRING", "trim({0}, ' ')"),
        of("(STRING, STRING) -> STRING", "trim({0}, {1})"),
        of("(BINARY, BINARY) -> STRING", _trim_bytes),
        doc="Without spaces, or the characters of the second text, at both ends.",
    ),
    function(
        "lpad",
        of("(STRING, INT, STRING?) -> STRING", _LPAD, fails=True),
        of("(BINARY, INT, BINARY?) -> BINARY", _LPAD_BYTES, fails=True),
        doc="So long, with a pad before it, or cut.",
    ),
    function(
        "rpad",
        of("(STRING, INT, STRING?) -> STRING", _RPAD, fails=True),
        of("(BINARY, INT, BINARY?) -> BINARY", _RPAD_BYTES, fails=True),
        doc="So long, with a pad behind it, or cut.",
    ),
    function("repeat", of("(STRING, INT) -> STRING", repeat), doc="So many times over."),
    function(
        "space", of("(INT) -> STRING", f"{_REPEAT}(' ', {{0}})", fails=True), doc="So many spaces."
    ),
)
