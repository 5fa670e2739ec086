"""Instants and the numbers of a calendar's periods.

`began(n)` is when period n begins: the first instant at which the zone's clocks show its first
day or hour. Clocks that are put back show it twice, and the first time counts. Where they are put
forward over it, the period begins where it would have if they had not been. `number(x)` is the
last period that has begun by x, so periods follow each other without a gap, whatever the clocks
do: the day on which they are put back has 25 hours.

>>> from sqlwin.instants import DAY, HOUR, format_instant, parse_instant
>>> berlin = Calendar(DAY, months=False, zone="Europe/Berlin")
>>> (began(number(0, berlin) + 1, berlin) - began(number(0, berlin), berlin)) // HOUR
24
>>> march = number(parse_instant("2024-03-31T12:00:00Z"), berlin)
>>> format_instant(began(march, berlin)), format_instant(began(march + 1, berlin))
('2024-03-30T23:00:00Z', '2024-03-31T22:00:00Z')

Instants beyond the years 0 to 10,000 are taken as the first or the last of these. Polars' time
zones end with the year 2099; what is later goes by the last rules of a zone, as zoneinfo has them.
"""

from __future__ import annotations

from typing import TypeVar

import polars as pl

from sqlwin.instants import HOUR
from sqlwin.windows.group import Calendar

X = TypeVar("X", int, pl.Expr)

LOW, HIGH = -62_167_219_200_000_000, 253_402_300_800_000_000
LATE = 4_102_444_800_000_000
"""The year 2100 begins."""
MONTHS_OF_YEAR, EPOCH_YEAR = 12, 1970
_FORWARD = 26 * HOUR
"""More than any clock was ever put forward at once."""


def number(x: X, calendar: Calendar) -> X:
    """The period that holds an instant. Int64."""
    if isinstance(x, int):
        return int(pl.select(number(pl.lit(x, pl.Int64), calendar)).item())
    within = x.clip(LOW, HIGH)
    local = _local(within, calendar.zone)
    if calendar.months:
        since = (local.dt.year().cast(pl.Int64) - EPOCH_YEAR) * MONTHS_OF_YEAR
        counted = since + local.dt.month().cast(pl.Int64) - 1
    else:
        counted = local.cast(pl.Int64)
    found = (counted - calendar.offset).floordiv(calendar.step)
    if calendar.zone == "UTC":
        return found
    later = (began(found + 1, calendar) <= within).cast(pl.Int64)
    earlier = (began(found, calendar) > within).cast(pl.Int64)
    return found + later - earlier


def began(n: X, calendar: Calendar) -> X:
    """The first instant of a period. Int64."""
    if isinstance(n, int):
        return int(pl.select(began(pl.lit(n, pl.Int64), calendar)).item())
    counted = n * calendar.step + calendar.offset
    if calendar.months:
        year = counted.floordiv(MONTHS_OF_YEAR) + EPOCH_YEAR
        local = pl.datetime(year, counted.mod(MONTHS_OF_YEAR) + 1, 1, time_unit="us")
    else:
        local = counted.cast(pl.Datetime("us"))
    return _instant(local, calendar.zone)


def _local(x: pl.Expr, zone: str) -> pl.Expr:
    """What the zone's clocks show at an instant."""
    at = x.cast(pl.Datetime("us", "UTC"))
    known = at.dt.convert_time_zone(zone).dt.replace_time_zone(None)
    if zone == "UTC":
        return known
    return _by_last_rules(x, zone, known.cast(pl.Int64), shows=True).cast(pl.Datetime("us"))


def _by_last_rules(x: pl.Expr, zone: str, known: pl.Expr, *, shows: bool) -> pl.Expr:
    """From `LATE` on, x being instants of which clocks show something, or what they show. Int64."""

    def computed(values: pl.Series) -> pl.Series:
        late = (values >= LATE).fill_null(False)
        if not late.any():
            return pl.Series(values=[None], dtype=pl.Int64).new_from_index(0, len(values))
        from sqlwin.functions.instants import zones

        found, given = zones.zone(zone), values.fill_null(LATE).to_numpy()
        return pl.Series(values=found.local(given) if shows else found.instants(given))

    later = x.map_batches(computed, return_dtype=pl.Int64, is_elementwise=True)
    return pl.when(x >= LATE).then(later).otherwise(known)


def _instant(local: pl.Expr, zone: str) -> pl.Expr:
    """The first instant at which the zone's clocks show a time, see above. Int64."""
    if zone == "UTC":
        return local.cast(pl.Int64)

    def at(shown: pl.Expr) -> pl.Expr:
        known = shown.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
        return known.cast(pl.Int64)

    before = pl.duration(microseconds=_FORWARD)
    known = pl.coalesce(at(local), at(local - before) + _FORWARD)
    return _by_last_rules(local.cast(pl.Int64), zone, known, shows=False)
