"""Functions that check a text, and that hide what is in it: UTF-8, check digits, masks.

A STRING here is always well-formed UTF-8; BINARY may not be.

>>> _masked("AbC-1😀", "X", "x", "n", "o")
'XxXono'
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import STRING
from sqlwin.functions.core.usually import usually
from sqlwin.functions.core.vectors import by_value, only, valued, vector

Bits = npt.NDArray[Any]

_DEFAULTS = ("X", "x", "n", None)
_KEPT = ""
"""In place of NULL: the characters stay."""


def _masked(text: str, upper: str, lower: str, digit: str, other: str) -> str:
    kinds = {"Lu": upper, "Ll": lower, "Nd": digit}
    return "".join(_shown(letter, kinds, other) for letter in text)


def _shown(letter: str, kinds: dict[str, str], other: str) -> str:
    return kinds.get(_kind(letter), other) or letter


def _kind(letter: str) -> str:
    """As Java has it: what Unicode calls Other_Uppercase or Other_Lowercase is that, too."""
    kind = unicodedata.category(letter)
    if kind in ("Lo", "Lm", "Nl", "So", "Mn"):
        return "Lu" if letter.isupper() else "Ll" if letter.islower() else kind
    return kind


@vector("mask")
def _mask(texts: pa.Array, *letters: pa.Array) -> pa.Array:
    """ASCII is masked a byte at a time, by a table of all of them."""
    kinds = [only(letter) for letter in letters]
    if None in kinds or not all(map(str.isascii, kinds)):
        return by_value(_masked, texts, *letters, type=STRING)
    table = _table(*kinds)

    def exact(odd: pa.Array) -> pa.Array:
        given = [pa.repeat(pa.scalar(kind, STRING), len(odd)) for kind in kinds]
        return by_value(_masked, odd, *given, type=STRING)

    return usually(texts, pc.string_is_ascii(texts), lambda usual: _looked_up(usual, table), exact)


@lru_cache(maxsize=256)
def _table(upper: str, lower: str, digit: str, other: str) -> Bits:
    masked = _masked("".join(map(chr, range(128))), upper, lower, digit, other)
    return np.frombuffer(masked.encode().ljust(256), np.uint8)


def _looked_up(texts: pa.Array, table: Bits) -> pa.Array:
    """Other texts of as many bytes."""
    known, offsets, data = texts.buffers()
    if data is None:
        return texts
    masked = pa.py_buffer(table.take(np.frombuffer(data, np.uint8)))
    return pa.Array.from_buffers(STRING, len(texts), [known, offsets, masked], offset=texts.offset)


def _mask_text(call: Call) -> str:
    given, *wanted = call.args
    assert isinstance(given, Typed)
    letters = [_letter(arg, at) for at, arg in enumerate(wanted, 1) if isinstance(arg, Typed)]
    letters += [default or _KEPT for default in _DEFAULTS[len(letters) :]]
    args = ", ".join([given.sql, *(literal(letter, STRING).sql for letter in letters)])
    return f"{_mask.named([STRING] * 5, STRING)}({args})"


def _letter(arg: Typed, at: int) -> str:
    if arg.value is None:
        return _KEPT
    if len(arg.value.encode("utf-16-le")) != 2:
        raise Refused("MASK takes one character here", at=at)
    return str(arg.value)


@valued("luhn")
def _luhn(text: str) -> bool:
    if not text.isascii() or not text.isdigit():
        return False
    digits = [int(letter) for letter in reversed(text)]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _is_text(blob: bytes) -> bool:
    try:
        blob.decode()
    except UnicodeDecodeError:
        return False
    return True


_is_valid = valued("isvalidutf8")(_is_text)


@valued("makevalidutf8")
def _valid(blob: bytes) -> str:
    return blob.decode("utf-8", "replace")


@valued("validateutf8")
def _validated(blob: bytes) -> str:
    if not _is_text(blob):
        raise ValueError(f"[INVALID_UTF8_STRING] Invalid UTF8 byte sequence: {blob[:64]!r}.")
    return blob.decode()


@valued("tryvalidateutf8")
def _tried(blob: bytes) -> str | None:
    return blob.decode() if _is_text(blob) else None


FUNCTIONS: tuple[Function, ...] = (
    function(
        "mask",
        of("(STRING, STRING!?, STRING!?, STRING!?, STRING!?) -> STRING", _mask_text),
        doc="With capitals, small letters, digits and all else replaced; NULL keeps them.",
    ),
    function(
        "luhn_check",
        of("(STRING) -> BOOLEAN", _luhn),
        doc="Whether all are digits and the last is the check digit of Luhn's.",
    ),
    function(
        "is_valid_utf8",
        of("(STRING) -> BOOLEAN", "CASE WHEN {0} IS NOT NULL THEN true END"),
        of("(BINARY) -> BOOLEAN", _is_valid),
        doc="Whether it is well-formed UTF-8.",
    ),
    function(
        "make_valid_utf8",
        of("(STRING) -> STRING", "{0}"),
        of("(BINARY) -> STRING", _valid),
        doc="With U+FFFD wherever it is not well-formed.",
    ),
    function(
        "validate_utf8",
        of("(STRING) -> STRING", "{0}"),
        of("(BINARY) -> STRING", _validated),
        doc="The text; an error where it is not well-formed.",
    ),
    function(
        "try_validate_utf8",
        of("(STRING) -> STRING", "{0}"),
        of("(BINARY) -> STRING", _tried),
        doc="The text; NULL where it is not well-formed.",
    ),
)
