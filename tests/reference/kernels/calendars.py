"""Windows of a calendar by definition, with Python's own time zones.

>>> from sqlwin.instants import format_instant
>>> day = Calendar(86_400_000_000, months=False, zone="America/New_York")
>>> noon = from_datetime(datetime(2024, 11, 3, 17, tzinfo=timezone.utc))
>>> [format_instant(began(number(noon, day) + n, day)) for n in (0, 1)]  # clocks are put back
['2024-11-03T04:00:00Z', '2024-11-04T05:00:00Z']
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import cache
from zoneinfo import ZoneInfo

from sqlwin.instants import EPOCH, from_datetime
from sqlwin.windows.group import Calendar


@cache
def began(n: int, calendar: Calendar) -> int:
    """When a zone's clocks first show the beginning of period n."""
    counted = n * calendar.step + calendar.offset
    if calendar.months:
        local = datetime(1970 + counted // 12, counted % 12 + 1, 1)
    else:
        local = datetime(1970, 1, 1) + timedelta(microseconds=counted)
    # fold 0: the first of two times; of a time that is left out, by the offset before
    return from_datetime(local.replace(tzinfo=ZoneInfo(calendar.zone), fold=0))


def number(at: int, calendar: Calendar) -> int:
    """The last period that has begun."""
    local = (EPOCH + timedelta(microseconds=at)).astimezone(ZoneInfo(calendar.zone))
    if calendar.months:
        found = ((local.year - 1970) * 12 + local.month - 1 - calendar.offset) // calendar.step
    else:
        shown = from_datetime(local.replace(tzinfo=timezone.utc))
        found = (shown - calendar.offset) // calendar.step
    while began(found, calendar) > at:
        found -= 1
    while began(found + 1, calendar) <= at:
        found += 1
    return found
