"""Instants printed and read by a pattern, which mostly is a constant."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.casts.clocks import at_clock
from sqlwin.functions.casts.time_texts import UTC
from sqlwin.functions.casts.times import usual_date, usual_instant
from sqlwin.functions.core.entry import Call
from sqlwin.functions.core.quick import usual
from sqlwin.functions.core.session_zone import is_utc, session_zone
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import BIGINT, STRING
from sqlwin.functions.core.vectors import Vector, by_value, only, vector
from sqlwin.functions.instants.iso import masked, micros
from sqlwin.functions.instants.patterns import (
    Letters,
    Optional,
    Piece,
    engine_pattern,
    names_zone,
    pattern,
)
from sqlwin.functions.instants.printing import printed
from sqlwin.functions.instants.reading import read
from sqlwin.schema import TIMESTAMP

USUAL = "yyyy-MM-dd HH:mm:ss"


@vector("date_format")
def print_by_pattern(given: pa.Array, patterns: pa.Array) -> pa.Array:
    return date_format(given, patterns)


def date_format(given: pa.Array, patterns: pa.Array) -> pa.Array:
    """Instants, each by its pattern."""
    one = only(patterns)
    if one is not None:
        made = printed(micros(given), pattern(one))
        return pc.if_else(pc.is_valid(given), made, pa.scalar(None, STRING))
    return by_value(_print_one, given.cast(BIGINT), patterns, type=STRING)


def _print_one(instant: int, text: str) -> str:
    made: str = printed(np.array([instant]), pattern(text))[0].as_py()
    return made


@vector("read_timestamp")
def read_timestamp(texts: pa.Array, patterns: pa.Array) -> pa.Array:
    return _read(texts, patterns, strict=True)


@vector("try_read_timestamp")
def try_read_timestamp(texts: pa.Array, patterns: pa.Array) -> pa.Array:
    return _read(texts, patterns, strict=False)


def _read(texts: pa.Array, patterns: pa.Array, strict: bool) -> pa.Array:
    one = only(patterns)
    quick = None if one is None else _at_once(texts, pattern(one, reads=True))
    if quick is not None:
        return quick

    def each(text: str, named: str) -> int | None:
        found = read(text, pattern(named, reads=True))
        if found is None and strict:
            raise ValueError(
                f"[CANNOT_PARSE_TIMESTAMP] Text '{text[:200]}' could not be parsed as {named[:100]}"
            )
        return found

    return by_value(each, texts, patterns, type=BIGINT).cast(TIMESTAMP)


_FIXED = {"y": 4, "M": 2, "d": 2, "H": 2, "m": 2, "s": 2}


def _at_once(texts: pa.Array, pieces: tuple[Piece, ...]) -> pa.Array | None:
    """By Arrow, where each field is in the same place of every text; else None.

    Its parts are put together as ISO has them, and Arrow knows which of those is no instant.
    """
    places, form, at = dict[str, pa.Array | str](), "^", 0
    for piece in pieces:
        if isinstance(piece, Optional) or len(str(piece)) == 0:
            return None
        if not isinstance(piece, Letters):
            form, at = form + re.escape(piece.text), at + len(piece.text)
            continue
        width = piece.count
        fixed = _FIXED.get(piece.letter) == width or (piece.letter == "S" and width <= 6)
        if not fixed or piece.letter in places:
            return None
        places[piece.letter] = pc.utf8_slice_codeunits(texts, at, at + width)
        form, at = form + f"[0-9]{{{width}}}", at + width
    if (
        "y" not in places
        or not pc.all(pc.match_substring_regex(texts, f"{form}$"), min_count=0).as_py()
    ):
        return None
    default = {"y": "1970", "M": "01", "d": "01", "H": "00", "m": "00", "s": "00", "S": "0"}
    parts: list[pa.Array | str] = []
    for letter, before in zip("yMdHmsS", ("", "-", "-", " ", ":", ":", "."), strict=True):
        parts += [before, places.get(letter, default[letter])]
    try:
        plain = pc.binary_join_element_wise(*parts, "").cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None
    return masked(np.asarray(plain.cast(BIGINT).fill_null(0)), TIMESTAMP, texts)


def checked(call: Call, at: int, reads: bool) -> None:
    """A constant pattern that is none is refused before any row is there."""
    given = call.args[at]
    if isinstance(given, Typed) and isinstance(given.value, str):
        try:
            pattern(given.value, reads)
        except ValueError as error:
            raise Refused(str(error), legal="'yyyy-MM-dd HH:mm:ss.SSS'", at=at) from None


def by_pattern(named: Vector, reads: bool) -> Callable[[Call], str]:
    def how(call: Call) -> str:
        checked(call, 1, reads)
        refuse_zone(call, 1)
        exact = f"{named.named([call.type(0), STRING], call.result)}({{0}}, {{1}})"
        engine = None if reads or call.type(0) != TIMESTAMP else engine_pattern(_constant(call))
        if engine is None:
            return call.filled(exact)
        return call.filled(usual(_IN_PRINT, f"strftime({UTC}, {engine})", exact))

    return how


_IN_PRINT = (
    "{0} BETWEEN make_timestamptz(-62135596800000000) AND make_timestamptz(253402300799999999)"
)
"""The years 1 to 9999, which DuckDB prints and reads with four digits."""


def _constant(call: Call) -> str | None:
    """The pattern that all rows have."""
    given = call.args[1]
    return given.value if isinstance(given, Typed) and isinstance(given.value, str) else None


def refuse_zone(call: Call, at: int) -> None:
    """Under a zone of the session: a pattern with a zone in it, and one that rows differ in."""
    if is_utc() or len(call.args) <= at:
        return
    given = call.args[at]
    text = given.value if isinstance(given, Typed) else None
    if not isinstance(text, str) or _names_zone(text):
        what = "prints or reads a zone" if isinstance(text, str) else "is no constant"
        raise Refused(
            f"a pattern that {what} goes by UTC alone, and 'time.zone' is {session_zone()}",
            legal="'yyyy-MM-dd HH:mm:ss', a constant; SET 'time.zone' = 'UTC'",
            at=at,
        )


def _names_zone(text: str) -> bool:
    return names_zone(pattern(text))


def instant_of(call: Call, named: Vector) -> str:
    """The TIMESTAMP that a text is by the pattern behind it, or by the usual one.

    Where the pattern reads a zone, that of the text counts; else it is of the session's clocks.
    """
    constant = _constant(call) if len(call.args) > 1 else USUAL
    if constant is not None and has_zone(constant):
        return _read_by(call, named)
    return at_clock(clock_of(call, named))


def has_zone(text: str) -> bool:
    """Whether a pattern reads a zone; of what is no pattern, False."""
    try:
        return _names_zone(text)
    except ValueError:
        return False


def clock_of(call: Call, named: Vector) -> str:
    """What the text says that clocks show."""
    refuse_zone(call, 1)
    return _read_by(call, named)


def _read_by(call: Call, named: Vector, default: str = USUAL) -> str:
    if len(call.args) > 1:
        checked(call, 1, reads=True)
    by = "{1}" if len(call.args) > 1 else f"'{default}'"
    exact = f"{named.named([STRING, STRING], TIMESTAMP)}({{0}}, {by})"
    engine = engine_pattern(_constant(call) if len(call.args) > 1 else default, reads=True)
    if engine is None:
        return call.filled(exact)
    as_printed = _as_printed(_constant(call) if len(call.args) > 1 else default)
    if as_printed is not None:
        return call.filled(usual(*as_printed, exact))
    read = f"try_strptime({{0}}, {engine})"
    instant = f"make_timestamptz(epoch_us({read}))"
    test = f"strftime({read}, {engine}) = {{0}} AND {_IN_PRINT.format(instant)}"
    return call.filled(usual(test, instant, exact))


def _as_printed(pattern_: str | None) -> tuple[str, str] | None:
    """By the casts that print and read a pattern, which are quicker than `strftime`."""
    if pattern_ == USUAL:
        test, instant = usual_instant("{0}")
        return f"{test} AND strlen({{0}}) = {len('2024-02-29 10:11:12')}", instant
    if pattern_ == "yyyy-MM-dd":
        test, date = usual_date("{0}")
        return test, f"make_timestamptz(epoch_us(CAST({date} AS TIMESTAMP)))"
    return None


def date_format_text(instant: str, text: str) -> str:
    """Text of DuckDB: a TIMESTAMP printed by a pattern."""
    return f"{print_by_pattern.named([TIMESTAMP, STRING], STRING)}({instant}, {text})"


def read_text(text: str, by: str) -> str:
    """Text of DuckDB: the TIMESTAMP that a text is by a pattern."""
    return f"{read_timestamp.named([STRING, STRING], TIMESTAMP)}({text}, {by})"
