"""Calls over TIMESTAMP_NTZ: which functions read the wall clock, and which take an instant.

    WALL       of what the clock shows, whatever the zone: HOUR(ntz), ntz + INTERVAL '1' DAY
    all else   of the instant at which clocks of the session's zone show it, by a cast, as Spark
               has it: DATE_TRUNC('DAY', ntz), TIMESTAMPDIFF(HOUR, ntz, ts)

Those of WALL are the functions of TIMESTAMP in UTC: there a TIMESTAMP is what clocks show. A
difference from a TIMESTAMP is that of what clocks show; else both are instants then.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.casts.wall_clocks import as_instant, of_instant
from sqlwin.functions.core.typed import Argument, Refused, Typed
from sqlwin.functions.core.types import STRING
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


WALL = _names(
    """
    year quarter month day dayofyear dayofweek weekday weekofyear hour minute second extract
    dayname monthname last_day next_day trunc date_add date_sub timestampadd add_months to_date
    try_to_date unix_timestamp unix_seconds unix_millis unix_micros time_bucket
    + - try_add try_subtract
    """
) | {"floor to", "ceil to"}
_DIFFERENCES = frozenset(("-", "try_subtract"))


def by_wall_clock(name: str, args: Sequence[Argument]) -> list[Argument] | None:
    """The arguments as TIMESTAMPs in UTC, where the call reads the wall clock; else None."""
    types = [arg.type for arg in args if isinstance(arg, Typed)]
    if TIMESTAMP_NTZ not in types or (TIMESTAMP in types and name not in _DIFFERENCES):
        return None
    if name == "datediff":
        return _shown(args) if len(args) == 2 else None
    if name not in WALL:
        return None
    if name in ("to_date", "try_to_date") and len(args) > 1:
        message = f"{name.upper()} of a TIMESTAMP_NTZ takes no pattern"
        raise Refused(message, legal="TO_DATE(ntz), CAST(ntz AS DATE)")
    if name in _DIFFERENCES:
        args = [_as_ntz(arg) for arg in args]
    return _shown(args)


def _as_ntz(arg: Argument) -> Argument:
    if isinstance(arg, Typed) and arg.type in (STRING, TIMESTAMP):
        return cast(arg, TIMESTAMP_NTZ, implicitly=True)
    return arg


def _shown(args: Sequence[Argument]) -> list[Argument]:
    return [
        as_instant(arg) if isinstance(arg, Typed) and arg.type == TIMESTAMP_NTZ else arg
        for arg in args
    ]


def wall_clock_of(made: Typed) -> Typed:
    """The result: of an instant in UTC, what clocks show."""
    return of_instant(made) if made.type == TIMESTAMP else made
