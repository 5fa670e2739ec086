"""Instants as people give them.

>>> micros("1970-01-01T00:00:01Z"), micros(datetime(1970, 1, 1, 0, 0, 2))
(1000000, 2000000)
"""

from __future__ import annotations

from datetime import datetime
from operator import index

from sqlwin.errors import InputError
from sqlwin.instants import END, START, from_datetime, parse_instant

Instant = int | datetime | str
"""Microseconds since the epoch, a datetime (UTC where it has no zone), or ISO 8601 text."""


def micros(instant: Instant) -> int:
    """Microseconds of an instant in any accepted form; InputError for others."""
    if isinstance(instant, datetime):
        return from_datetime(instant)
    if isinstance(instant, str):
        try:
            return parse_instant(instant)
        except ValueError:
            raise InputError(f"{instant!r} is not an ISO 8601 instant") from None
    try:
        count = index(instant)
    except TypeError:
        count = None
    if count is None or isinstance(instant, bool):
        raise InputError(
            f"{instant!r} is no instant; legal is a count of microseconds, a datetime "
            f"or ISO 8601 text"
        )
    return min(max(count, START), END)
