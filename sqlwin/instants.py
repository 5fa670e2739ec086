"""Instants and durations: int64 microseconds, UTC, since the epoch.

Everything inside sqlwin counts microseconds; `TIMESTAMP` is the outside. Two
instants are special: `START`, before every row, is the watermark of a stream
that has shown nothing; `END`, after every row, is the watermark of a stream
that has ended. Both leave room for a window's size on either side, so that
`END + size` does not wrap.

>>> parse_instant("1970-01-01T00:00:01Z")
1000000
>>> format_instant(1_500_000)
'1970-01-01T00:00:01.500000Z'
>>> format_duration(5_400_000_000)
'1 hour 30 minutes'
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import numpy as np

START = -(2**62)
END = 2**62

MICROSECOND = 1
MILLISECOND = 1_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

UNITS = {
    "day": DAY,
    "hour": HOUR,
    "minute": MINUTE,
    "second": SECOND,
    "millisecond": MILLISECOND,
    "microsecond": MICROSECOND,
}


def from_datetime(value: datetime) -> int:
    """Microseconds of a datetime; one with no zone is taken as UTC."""
    aware = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
    return (aware - EPOCH) // timedelta(microseconds=1)


def parse_instant(text: str) -> int:
    """Microseconds of an ISO 8601 text; without a zone it is UTC. ValueError otherwise."""
    iso = text.strip()
    return from_datetime(datetime.fromisoformat(iso[:-1] + "+00:00" if iso[-1:] in "zZ" else iso))


def format_instant(micros: int) -> str:
    """ISO 8601 with a trailing Z; a fraction only where there is one, a sign where it must.

    >>> format_instant(253_402_300_800 * SECOND)
    '+10000-01-01T00:00:00Z'
    """
    if micros <= START:
        return "start"
    if micros >= END:
        return "end"
    try:
        text = (EPOCH + timedelta(microseconds=micros)).replace(tzinfo=None).isoformat()
    except OverflowError:  # a window's end may be past the year 9999, datetime's last
        text = str(np.datetime64(micros, "us")).removesuffix(".000000")
        text = text if micros < 0 else "+" + text
    return text + "Z"


def format_datetime(value: datetime) -> str:
    """As `format_instant`; of one with no zone, which is what a clock shows, without the Z.

    >>> format_datetime(datetime(2024, 1, 1, 9)), format_datetime(EPOCH)
    ('2024-01-01T09:00:00', '1970-01-01T00:00:00Z')
    """
    text = format_instant(from_datetime(value))
    return text if value.tzinfo else text.removesuffix("Z")


def format_duration(micros: int) -> str:
    """A duration in words, greatest unit first."""
    parts = []
    for name, unit in UNITS.items():
        count, micros = divmod(micros, unit)
        if count:
            parts.append(f"{count} {name}{'' if count == 1 else 's'}")
    return " ".join(parts) or "0 seconds"
