"""Years from 2100 on, as earlier ones in which a zone's clocks change on the same days.

Polars knows the clocks of a zone to the end of 2099. By then a zone goes by rules, the last Sunday
of March and of October, whose days depend on two things of a year: the weekday that it begins on,
and whether it is a leap year. Each of the 14 kinds is among the years 2072 to 2099, so the clocks
of 2150 change as those of a year of its kind do. A zone whose clocks change no more in 2099 has one
offset.

>>> [year for year in range(FIRST, LAST + 1) if _kind(year) == _kind(2150)]
[2076]
>>> shift(pl.lit(0), "Asia/Tokyo") is None
True
"""

from __future__ import annotations

from calendar import isleap
from datetime import date, datetime, timezone
from functools import cache
from zoneinfo import ZoneInfo

import polars as pl

from sqlwin.instants import DAY

FIRST, LAST = 2072, 2099
_MONTHS = range(1, 13)


def _first_day(year: int) -> int:
    return (date(year, 1, 1) - date(1970, 1, 1)).days


def _kind(year: int) -> int:
    return _first_day(year) % 7 * 2 + isleap(year)


EPOCH_DAYS = {_kind(year): _first_day(year) for year in range(FIRST, LAST + 1)}
"""Of each kind of year, the days from 1970 to one of that kind."""


@cache
def changes(zone: str) -> bool:
    """Whether a zone's clocks still change in 2099."""
    at = (datetime(LAST, month, 15, tzinfo=timezone.utc) for month in _MONTHS)
    return len({each.astimezone(ZoneInfo(zone)).utcoffset() for each in at}) > 1


def shift(x: pl.Expr, zone: str) -> pl.Expr | None:
    """Microseconds by which a time of 2100 or later is after that of its kind; 0 before. x: Int64.

    None where a zone needs none.
    """
    if not changes(zone):
        return None
    year = x.cast(pl.Datetime("us")).dt.year().cast(pl.Int64)
    leaps = (year - 1969).floordiv(4) - (year - 1901).floordiv(100) + (year - 1601).floordiv(400)
    first = (year - 1970) * 365 + leaps
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    kind = first.mod(7) * 2 + leap.cast(pl.Int64)
    known = kind.replace_strict(list(EPOCH_DAYS), list(EPOCH_DAYS.values()), return_dtype=pl.Int64)
    return pl.when(year > LAST).then((first - known) * DAY).otherwise(0)
