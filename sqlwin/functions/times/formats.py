"""Functions that print and read instants by a pattern, which mostly is a constant."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.casts.clocks import shown, shown_text
from sqlwin.functions.casts.time_texts import UTC
from sqlwin.functions.core.entry import Call, Function, Overload, function, of
from sqlwin.functions.core.session_zone import is_utc
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import BIGINT, DATE, STRING
from sqlwin.functions.core.vectors import Vector, vector
from sqlwin.functions.instants.iso import masked
from sqlwin.functions.times.by_pattern import (
    USUAL,
    by_pattern,
    checked,
    clock_of,
    date_format,
    instant_of,
    print_by_pattern,
    read_timestamp,
    refuse_zone,
    try_read_timestamp,
)
from sqlwin.schema import TIMESTAMP


def _seconds(micros_: str) -> str:
    """Toward zero, as Spark's."""
    return f"(epoch_us({micros_}) // 1000000)"


def _unless_null(call: Call, text: str) -> str:
    """With a pattern, of which only matters whether it is NULL."""
    return text if len(call.args) == 1 else f"CASE WHEN {call.texts[1]} IS NOT NULL THEN {text} END"


def _given(call: Call, to: pa.DataType) -> str:
    given = call.args[0]
    assert isinstance(given, Typed)
    return cast(given, to).sql


def _casted(takes: str, to: pa.DataType, strict: bool = True) -> Overload:
    """Of what is no text: its cast, whatever the pattern."""

    def how(call: Call) -> str:
        return _given(call, to)

    name = "DATE" if to == DATE else "TIMESTAMP"
    return of(f"({takes}, STRING?) -> {name}", how, strict=strict)


def _texts(to: pa.DataType, plain: bool, named: Vector) -> tuple[Overload, ...]:
    """plain: without a pattern it raises. Dates are read of numbers, too, as of texts."""
    strict = to != DATE
    name = "DATE" if to == DATE else "TIMESTAMP"

    def iso(call: Call) -> str:
        given = call.args[0]
        assert isinstance(given, Typed)
        return cast(given, to, safe=not plain).sql

    def read_by(call: Call) -> str:
        if to == DATE:
            return f"CAST({UTC.format(clock_of(call, named))} AS DATE)"
        return instant_of(call, named)

    return (
        of(f"(STRING) -> {name}", iso, fails=plain, strict=strict),
        of(f"(STRING, STRING) -> {name}", read_by, fails=True, strict=strict),
    )


def _unix(takes: str) -> Overload:
    def how(call: Call) -> str:
        return _unless_null(call, _seconds(_given(call, TIMESTAMP)))

    return of(f"({takes}, STRING?) -> BIGINT", how, strict=True)


_UNIX = (
    *(_unix("DATE"), _unix("TIMESTAMP")),
    of(
        "(STRING, STRING?) -> BIGINT",
        lambda call: _seconds(instant_of(call, read_timestamp)),
        fails=True,
        strict=True,
    ),
)


@vector("from_unixtime")
def _from_unix(seconds: pa.Array, patterns: pa.Array) -> pa.Array:
    """Past the ends of time it begins anew, as in Spark."""
    with np.errstate(over="ignore"):
        instants = np.asarray(seconds.fill_null(0)) * 1_000_000
    return date_format(masked(instants, TIMESTAMP, seconds), patterns)


def _from_seconds(call: Call) -> str:
    if len(call.args) > 1:
        checked(call, 1, reads=False)
    texts = [*call.texts, f"'{USUAL}'"][:2]
    if not is_utc():
        refuse_zone(call, 1)
        texts[0] = _seconds(shown_text(f"make_timestamptz({texts[0]} * 1000000)"))
    return f"{_from_unix.named([BIGINT, STRING], STRING)}({', '.join(texts)})"


def _from_any(call: Call) -> str:
    given = call.args[0]
    assert isinstance(given, Typed)
    whole = cast(given, BIGINT)
    return _from_seconds(Call((whole, *call.args[1:]), call.result))


PRINTED = (
    of("(DATE, STRING) -> STRING", lambda call: _print_date(call), fails=True, strict=True),
    of(
        "(TIMESTAMP, STRING) -> STRING",
        by_pattern(print_by_pattern, reads=False),
        fails=True,
        strict=True,
    ),
)
"""Of TO_CHAR, too."""


def _print_date(call: Call) -> str:
    given = call.args[0]
    assert isinstance(given, Typed)
    made = Call((shown(cast(given, TIMESTAMP)), *call.args[1:]), call.result)
    return by_pattern(print_by_pattern, reads=False)(made)


_NOT_TEXT = "DATE", "TIMESTAMP"

LTZ = (
    *(_casted(takes, TIMESTAMP) for takes in _NOT_TEXT),
    *_texts(TIMESTAMP, True, read_timestamp),
)
"""Of TO_TIMESTAMP_LTZ, beside what Flink's takes."""

TIME_FORMATS: tuple[Function, ...] = (
    function(
        "date_format",
        of("(TIMESTAMP, STRING) -> STRING", by_pattern(print_by_pattern, reads=False), fails=True),
        doc="A date or an instant printed by a pattern: DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm').",
    ),
    function(
        "to_date",
        *(_casted(takes, DATE) for takes in _NOT_TEXT),
        *_texts(DATE, True, read_timestamp),
        doc="The date of a text, by a pattern or as CAST reads it.",
    ),
    function(
        "try_to_date",
        *(_casted(takes, DATE) for takes in _NOT_TEXT),
        *_texts(DATE, False, try_read_timestamp),
        doc="TO_DATE, but NULL where the text is none.",
    ),
    function(
        "to_timestamp",
        *(_casted(takes, TIMESTAMP) for takes in _NOT_TEXT),
        of("(N) -> TIMESTAMP", lambda call: _given(call, TIMESTAMP), fails=True, strict=True),
        *_texts(TIMESTAMP, True, read_timestamp),
        doc="The instant of a text, by a pattern or as CAST reads it; of a number, in seconds.",
    ),
    function(
        "try_to_timestamp",
        *(_casted(takes, TIMESTAMP) for takes in _NOT_TEXT),
        of("(N) -> TIMESTAMP", lambda call: _given(call, TIMESTAMP), fails=True, strict=True),
        *_texts(TIMESTAMP, False, try_read_timestamp),
        doc="TO_TIMESTAMP, but NULL where the text is none.",
    ),
    function(
        "unix_timestamp to_unix_timestamp",
        *_UNIX,
        doc="Seconds since 1970 began, of an instant or of a text by a pattern.",
    ),
    function(
        "from_unixtime",
        of("(BIGINT, STRING?) -> STRING", _from_seconds, fails=True),
        of("(N, STRING?) -> STRING", _from_any, fails=True),
        doc="Seconds since 1970 began, printed by a pattern.",
    ),
)
