"""ksqlDB's and Flink's functions of time by their own names.

Instants are BIGINTs of milliseconds and dates INTs of days where ksqlDB has them so. A zone is
that of the clock that is printed or read; it is not for patterns that print or read a zone.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlwin.functions.core.entry import Call, Function, Overload, function, of
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import STRING
from sqlwin.functions.instants.patterns import has, pattern
from sqlwin.functions.times.by_pattern import USUAL, checked, date_format_text, read_text
from sqlwin.functions.times.zoned import from_utc, to_utc
from sqlwin.schema import TIMESTAMP

_MILLIS = "(epoch_us({0}) // 1000 - CAST(epoch_us({0}) % 1000 < 0 AS BIGINT))"
_ZONES = "xXZOVzv"


def _pattern(call: Call, reads: bool) -> None:
    checked(call, 1, reads)
    given = call.args[1]
    text = given.value if isinstance(given, Typed) else None
    if len(call.args) < 3 or not isinstance(text, str):
        return
    if any(has(pattern(text, reads), letter) for letter in _ZONES):
        raise Refused("a pattern with a zone in it takes no other one", at=2)


def _prints(takes: str, instant: str) -> tuple[Overload, Overload]:
    """instant: text of the TIMESTAMP that the first argument is."""

    def how(call: Call) -> str:
        _pattern(call, reads=False)
        text = instant.format(call.texts[0])
        if len(call.args) > 2:
            text = f"{from_utc.named([TIMESTAMP, STRING], TIMESTAMP)}({text}, {call.texts[2]})"
        return date_format_text(text, call.texts[1])

    return _with_zone(f"({takes}, STRING!", "STRING", how)


def _reads(result: str, made: str) -> tuple[Overload, Overload]:
    """made: of the TIMESTAMP that is read."""

    def how(call: Call) -> str:
        _pattern(call, reads=True)
        text = read_text(call.texts[0], call.texts[1])
        if len(call.args) > 2:
            text = f"{to_utc.named([TIMESTAMP, STRING], TIMESTAMP)}({text}, {call.texts[2]})"
        return made.format(text)

    return _with_zone("(STRING, STRING!", result, how)


def _with_zone(takes: str, result: str, how: Callable[[Call], str]) -> tuple[Overload, Overload]:
    return (
        of(f"{takes}) -> {result}", how, fails=True, strict=True),
        of(f"{takes}, STRING) -> {result}", how, fails=True, strict=True),
    )


def _convert(call: Call) -> str:
    """Of a TIMESTAMP, the way from one zone's clocks to another's."""
    to, from_ = (v.named([TIMESTAMP, STRING], TIMESTAMP) for v in (to_utc, from_utc))
    return f"{from_}({to}({call.texts[0]}, {call.texts[1]}), {call.texts[2]})"


def _convert_text(call: Call) -> str:
    read = read_text(call.texts[0], f"'{USUAL}'")
    moved = Typed(read, TIMESTAMP)
    made = _convert(Call((moved, *call.args[1:]), call.result))
    return date_format_text(made, f"'{USUAL}'")


_DAYS = "CAST(make_timestamp(epoch_us({0})) AS DATE)"
FOREIGN: tuple[Function, ...] = (
    function(
        "timestamptostring",
        *_prints("BIGINT", "make_timestamptz({0} * 1000)"),
        doc="ksqlDB's: milliseconds since 1970 printed by a pattern, in a zone or in UTC.",
    ),
    function(
        "stringtotimestamp",
        *_reads("BIGINT", _MILLIS),
        doc="ksqlDB's: milliseconds since 1970 of a text by a pattern, in a zone or in UTC.",
    ),
    function(
        "format_timestamp",
        *_prints("TIMESTAMP", "{0}"),
        doc="ksqlDB's: an instant printed by a pattern, in a zone or in UTC.",
    ),
    function(
        "parse_timestamp",
        *_reads("TIMESTAMP", "{0}"),
        doc="ksqlDB's: the instant of a text by a pattern, in a zone or in UTC.",
    ),
    function(
        "datetostring",
        *_prints("INT", "make_timestamptz(CAST({0} AS BIGINT) * 86400000000)")[:1],
        doc="ksqlDB's: days since 1970 printed by a pattern.",
    ),
    function(
        "stringtodate",
        *_reads("INT", f"CAST({_DAYS} - DATE '1970-01-01' AS INTEGER)")[:1],
        doc="ksqlDB's: days since 1970 of a text by a pattern.",
    ),
    function(
        "format_date",
        *_prints("DATE", "make_timestamptz(epoch_us(CAST({0} AS TIMESTAMP)))")[:1],
        doc="ksqlDB's: a date printed by a pattern.",
    ),
    function(
        "parse_date",
        *_reads("DATE", _DAYS)[:1],
        doc="ksqlDB's: the date of a text by a pattern.",
    ),
    function(
        "convert_tz",
        of("(TIMESTAMP, STRING, STRING) -> TIMESTAMP", _convert, fails=True, strict=True),
        of("(STRING, STRING, STRING) -> STRING", _convert_text, fails=True, strict=True),
        doc="Flink's and ksqlDB's: what clocks of the second zone show when those of the first do.",
    ),
    function(
        "from_days",
        of("(INT) -> DATE", "(DATE '1970-01-01' + {0})", fails=True),
        doc="ksqlDB's: the date so many days after 1970-01-01.",
    ),
)
