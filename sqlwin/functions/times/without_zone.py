"""Functions that make a TIMESTAMP_NTZ, and bring one from a zone to another.

All are those of a TIMESTAMP in UTC, in which clocks show what is read or made.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.casts.time_texts import UTC
from sqlwin.functions.core.entry import Call, Function, How, Overload, function, of
from sqlwin.functions.core.session_zone import in_utc, session_zone
from sqlwin.functions.core.typed import Argument, Refused, Typed
from sqlwin.functions.core.types import DATE, STRING
from sqlwin.functions.times.by_pattern import clock_of, has_zone, read_timestamp
from sqlwin.functions.times.made import INTS, MAKE, SECONDS, TRY_MAKE, narrowed
from sqlwin.functions.times.zoned import from_utc, to_utc
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

_NONE = "CAST(NULL AS {result})"


def _in_utc(overload: Overload) -> How:
    """What an overload of a TIMESTAMP gives in UTC, as what clocks show."""

    def how(call: Call) -> str:
        with in_utc():
            return UTC.format(overload.text(Call(call.args, TIMESTAMP)))

    return how


def _made(overload: Overload) -> tuple[Overload, ...]:
    plain = of(
        "(INT, INT, INT, INT, INT, DECIMAL(16, 6)) -> TIMESTAMP_NTZ",
        _in_utc(overload),
        fails=overload.fails,
    )
    return (
        plain,
        narrowed("(N0, N1, N2, N3, N4, N5) -> TIMESTAMP_NTZ", plain, *INTS, SECONDS),
        of("(DATE) -> TIMESTAMP_NTZ", _cast, fails=True, strict=True),
        of("(DATE, VOID) -> TIMESTAMP_NTZ", _NONE, strict=True),
    )


def _cast(call: Call) -> str:
    given = call.args[0]
    assert isinstance(given, Typed)
    return cast(given, TIMESTAMP_NTZ).sql


def _read(call: Call) -> str:
    by = call.args[1]
    constant = by.value if isinstance(by, Typed) else None
    if not isinstance(constant, str) or has_zone(constant):
        what = "that reads a zone" if isinstance(constant, str) else "that is no constant"
        raise Refused(
            f"TO_TIMESTAMP_NTZ takes no pattern {what}", legal="'yyyy-MM-dd HH:mm:ss'", at=1
        )
    with in_utc():
        return UTC.format(clock_of(call, read_timestamp))


def _from_to(call: Call) -> str:
    """zones: of the clock that is given, and of the one that is to be shown."""
    *zones, given = call.texts
    source = zones[0] if len(zones) > 1 else f"'{session_zone()}'"
    types = [TIMESTAMP, STRING]
    there = f"{to_utc.named(types, TIMESTAMP)}(make_timestamptz(epoch_us({given})), {source})"
    return UTC.format(f"{from_utc.named(types, TIMESTAMP)}({there}, {zones[-1]})")


def _converted(takes: str) -> tuple[Overload, Overload]:
    """Of what becomes a TIMESTAMP_NTZ."""

    def how(call: Call) -> str:
        *zones, given = call.args
        assert isinstance(given, Typed)
        return _from_to(Call((*zones, cast(given, TIMESTAMP_NTZ)), call.result))

    result = "TIMESTAMP_NTZ"
    return (
        of(f"(STRING, {takes}) -> {result}", how, fails=True, strict=True),
        of(f"(STRING, STRING, {takes}) -> {result}", how, fails=True, strict=True),
    )


def _to_instant(call: Call) -> str:
    shown, zone = call.texts
    shows = f"make_timestamptz(epoch_us({shown}))"
    return f"{to_utc.named([TIMESTAMP, STRING], TIMESTAMP)}({shows}, {zone})"


def _to_clock(call: Call) -> str:
    instant, zone = call.texts
    return UTC.format(f"{from_utc.named([TIMESTAMP, STRING], TIMESTAMP)}({instant}, {zone})")


def _no_date(args: Sequence[Argument]) -> list[Argument]:
    given = args[0]
    if isinstance(given, Typed) and given.type == DATE:
        legal = "CAST(day AS TIMESTAMP), an instant; CAST(day AS TIMESTAMP_NTZ), what clocks show"
        raise Refused("AT TIME ZONE of a DATE may mean either of two", legal, at=0)
    return list(args)


_TIMES = ("TIMESTAMP_NTZ", "DATE", "TIMESTAMP", "STRING")

FUNCTIONS: tuple[Function, ...] = (
    function(
        "make_timestamp_ntz",
        *_made(MAKE),
        doc="What a clock shows, of year, month, day, hour, minute and second.",
    ),
    function(
        "try_make_timestamp_ntz",
        *_made(TRY_MAKE),
        doc="MAKE_TIMESTAMP_NTZ, but NULL where no clock shows that.",
    ),
    function(
        "to_timestamp_ntz",
        *(of(f"({t}, STRING?) -> TIMESTAMP_NTZ", _cast, strict=True) for t in _TIMES[:3]),
        of("(STRING) -> TIMESTAMP_NTZ", _cast, fails=True, strict=True),
        of("(STRING, STRING) -> TIMESTAMP_NTZ", _read, fails=True, strict=True),
        doc="What a clock shows, of a text, by a pattern or as CAST reads it.",
    ),
    function(
        "convert_timezone",
        *(overload for takes in _TIMES for overload in _converted(takes)),
        doc="What clocks of the last zone show when those of the first, or of the session's, show"
        " this.",
    ),
    Function(
        ("at time zone",),
        (
            of("(TIMESTAMP_NTZ, STRING) -> TIMESTAMP", _to_instant, fails=True, strict=True),
            of("(TIMESTAMP, STRING) -> TIMESTAMP_NTZ", _to_clock, fails=True),
        ),
        doc="ts AT TIME ZONE 'Europe/Berlin': what clocks show there at an instant; of a"
        " TIMESTAMP_NTZ the instant at which they show it there.",
        before=_no_date,
    ),
)
