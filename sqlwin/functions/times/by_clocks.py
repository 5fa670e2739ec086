"""Which functions of instants go by the clocks of the session's zone, and how.

    INSTANT   its value is the same in every zone: UNIX_MICROS(ts), ts + INTERVAL '1' HOUR;
              or it has the zone itself: MONTHS_BETWEEN(ts, ts2)
    READ      of what clocks show: HOUR(ts), DATE_FORMAT(ts, 'HH:mm')
    KEPT      of what clocks show, and so is the instant that it gives: DATE_TRUNC('DAY', ts)
    MADE      it gives what clocks show, of no instant: MAKE_TIMESTAMP(2024, 3, 10, 2, 30, 0)

A function that takes or gives a TIMESTAMP and is not here is refused under a zone other than UTC,
so that none goes by UTC unnoticed. Casts have the zone themselves, see `casts.clocks`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum, auto

import pyarrow as pa

from sqlwin.functions.casts.clocks import at_clock, near, shown
from sqlwin.functions.core.entry import Overload
from sqlwin.functions.core.session_zone import is_utc, session_zone
from sqlwin.functions.core.typed import Body, Refused, Typed
from sqlwin.schema import TIMESTAMP

Args = Sequence[Typed | Body]


class Clock(Enum):
    INSTANT = auto()
    READ = auto()
    KEPT = auto()
    MADE = auto()


Rule = Clock | Callable[[Overload, Args], Clock]


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _of_interval(overload: Overload, _: Args) -> Clock:
    """Months are of clocks; an interval of days is as long as so many times 24 hours."""
    return Clock.KEPT if "INTERVAL_YM" in overload.signature.text else Clock.INSTANT


_FIXED_UNITS = _names("HOUR MINUTE SECOND MILLISECOND MICROSECOND")


def _of_unit(_: Overload, args: Args) -> Clock:
    unit = args[0]
    if len(args) < 3 or not isinstance(unit, Typed):
        return Clock.READ
    return Clock.INSTANT if str(unit.value).upper() in _FIXED_UNITS else Clock.KEPT


def _of_ceiling(_: Overload, args: Args) -> Clock:
    """An hour, or less, behind a beginning that clocks show: they may be put back between."""
    unit = args[0]
    assert isinstance(unit, Typed)
    return Clock.INSTANT if str(unit.value).upper() in _FIXED_UNITS else Clock.KEPT


def _of_parts(_: Overload, args: Args) -> Clock:
    return Clock.MADE if len(args) == 6 else Clock.INSTANT


RULES: dict[str, Rule] = {
    **dict.fromkeys(
        (
            *_names(
                """
            current_timestamp timestamp_micros timestamp_millis timestamp_seconds unix_micros
            unix_millis unix_seconds unix_timestamp from_utc_timestamp to_utc_timestamp convert_tz
            format_timestamp parse_timestamp to_date try_to_date to_timestamp try_to_timestamp
            to_timestamp_ltz to_timestamp_ntz convert_timezone months_between
            """
            ),
            "at time zone",
        ),
        Clock.INSTANT,
    ),
    **dict.fromkeys(
        _names(
            """
            add_months date_format date_sub datediff day dayname dayofweek dayofyear extract hour
            last_day minute month monthname next_day quarter second timestampdiff to_char trunc
            weekday weekofyear year
            """
        ),
        Clock.READ,
    ),
    **dict.fromkeys(("date_trunc", "floor to"), Clock.KEPT),
    "ceil to": _of_ceiling,
    **dict.fromkeys(_names("+ - try_add try_subtract"), _of_interval),
    **dict.fromkeys(_names("date_add timestampadd"), _of_unit),
    **dict.fromkeys(_names("make_timestamp try_make_timestamp"), _of_parts),
}
_INSTANT = re.compile(r"\bTIMESTAMP\b")
UTC_ALONE = frozenset(_names("time_bucket sequence"))
"""Those of a TIMESTAMP that are refused under another zone."""
WITHIN = frozenset(
    _names(
        """
        to_json from_json to_csv from_csv json_string json_object json_build_object
        jsonb_build_object json_array json_build_array jsonb_build_array
        """
    )
)
"""Those that print or read what is within a value, likewise."""


def has_instants(overload: Overload) -> bool:
    return _INSTANT.search(overload.signature.text) is not None


def clock_of(name: str, overload: Overload, args: Args, result: pa.DataType) -> Clock:
    """How a call goes by the session's zone. Refused where it does not."""
    if is_utc():
        return Clock.INSTANT
    types = [arg.type for arg in args if isinstance(arg, Typed)]
    if name in WITHIN and any(map(_holds_instant, (*types, result))):
        raise _refused(name)
    if not has_instants(overload):
        return Clock.INSTANT
    rule = RULES.get(name)
    if rule is None:
        raise _refused(name)
    return rule if isinstance(rule, Clock) else rule(overload, args)


def _holds_instant(type_: pa.DataType) -> bool:
    inner = (type_.field(at).type for at in range(type_.num_fields))
    return type_ == TIMESTAMP or any(map(_holds_instant, inner))


def _refused(name: str) -> Refused:
    zone = session_zone()
    return Refused(
        f"{name.upper()} of a TIMESTAMP goes by UTC alone, and 'time.zone' is {zone}",
        legal=f"FROM_UTC_TIMESTAMP(ts, '{zone}') shows its clocks; SET 'time.zone' = 'UTC'",
    )


def given_to(clock: Clock, args: Args) -> tuple[Typed | Body, ...]:
    """The arguments, instants as clocks show them where the function reads clocks."""
    if clock not in (Clock.READ, Clock.KEPT):
        return tuple(args)
    return tuple(shown(arg) if _is_instant(arg) else arg for arg in args)  # type: ignore[arg-type]


def made_by(clock: Clock, args: Args, made: Typed) -> Typed:
    """The result; args: as they were before they were shown."""
    if clock is Clock.MADE:
        return replace(made, sql=at_clock(made.sql))
    if clock is not Clock.KEPT or made.type != TIMESTAMP:
        return made
    instant = next(arg.sql for arg in args if _is_instant(arg))
    return replace(made, sql=near(made.sql, instant))


def _is_instant(arg: Typed | Body) -> bool:
    return isinstance(arg, Typed) and arg.type == TIMESTAMP
