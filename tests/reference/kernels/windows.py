"""Windows and frames by definition.

A group window is `(start, end)`, half-open; a frame is the list of rows it holds.

>>> windows_holding(70, Hop(60, 30)), windows_holding(70, Cumulate(60, 20))
([(30, 90), (60, 120)], [(60, 80), (60, 100), (60, 120)])
>>> rows = [{"__ts": ts} for ts in (1, 2, 2, 3)]
>>> [row["__ts"] for row in frame_of(rows, 1, Frame(Unit.RANGE, None, 0, Exclude.TIES))]
[1, 2]
"""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from typing import Any

from sqlwin.instants import END, START
from sqlwin.schema import TS, Order
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude, Frame
from sqlwin.windows.group import Aligned, CalendarWindow, Cumulate, DaysOfMonths, Hop, Whole
from tests.reference.kernels.calendars import began, number
from tests.reference.kernels.exact import ascending
from tests.reference.kernels.rows import Row, Rows


def windows_holding(at: int, window: Aligned | DaysOfMonths) -> list[tuple[int, int]]:
    """The windows that hold an instant, or a message of that number from 1."""
    if isinstance(window, Whole):
        return [(START, END)]
    if isinstance(window, CalendarWindow):
        return _of_calendar(at, window)
    if isinstance(window, Cumulate):
        return _cumulated(at, window)
    if isinstance(window, DaysOfMonths):
        return _days_of_months(at, window)
    return [(start, start + window.size) for start in _starts(at, window)]


def _of_calendar(at: int, window: CalendarWindow) -> list[tuple[int, int]]:
    """Of two that end together, where a zone left out a day, the longer one."""
    calendar = window.calendar
    longest: dict[int, int] = {}
    for first, last in windows_holding(number(at, calendar), window.periods):
        start, end = began(first, calendar), began(last, calendar)
        longest[end] = min(start, longest.get(end, start))
    return [(start, end) for end, start in longest.items()]


def _cumulated(at: int, window: Cumulate) -> list[tuple[int, int]]:
    start = at - (at - window.offset) % window.size
    ends = range(start + window.step, start + window.size + 1, window.step)
    return [(start, end) for end in ends if at < end]


def _days_of_months(at: int, window: DaysOfMonths) -> list[tuple[int, int]]:
    """at: days since 1970."""
    day = date(1970, 1, 1) + timedelta(days=at)
    counted = (day.year - 1970) * 12 + day.month - 1
    first = counted - (counted - window.offset) % window.months
    start, end = (
        (date(1970 + month // 12, month % 12 + 1, 1) - date(1970, 1, 1)).days
        for month in (first, first + window.months)
    )
    return [(start, until) for until in range(at + 1, end + 1)]


def _starts(at: int, hop: Hop) -> list[int]:
    counted = hop.unit is Unit.ROWS
    aligned = hop.offset + (1 if counted else 0)
    starts = range(at - hop.size + 1, at + 1)
    if counted:  # none starts before the first message
        return [s for s in starts if s >= aligned and (s - aligned) % hop.advance == 0]
    first = starts[0] + (aligned - starts[0]) % hop.advance
    return list(range(first, at + 1, hop.advance))


def pane_of(at: int, window: Aligned | DaysOfMonths) -> int:
    """Start of the piece, the greatest that cuts all windows whole, that holds an instant."""
    if isinstance(window, Whole):
        return START
    if isinstance(window, CalendarWindow):
        return began(pane_of(number(at, window.calendar), window.periods), window.calendar)
    if isinstance(window, DaysOfMonths):
        return at
    return at - (at - window.offset) % window.pane


def frame_of(rows: Rows, at: int, frame: Frame, keys: tuple[str, ...] = ()) -> list[Row]:
    """The rows in the frame of `rows[at]`; `rows`: one partition, in order. keys: columns that
    peers agree in beside event time."""
    by = (TS, *keys)
    inside = [n for n in range(len(rows)) if _inside(rows, at, n, frame, by)]
    return [rows[n] for n in inside if not _excluded(rows, at, n, frame.exclude, by)]


def keyed_frame_of(rows: Rows, at: int, frame: Frame, keys: tuple[Order, ...]) -> list[Row]:
    """As `frame_of`, in an order that does not begin with event time. A distance is one along the
    only key, microseconds of a time.

    >>> rows = [{"k": k} for k in (None, 1, 4, 9)]
    >>> [row["k"] for row in keyed_frame_of(rows, 2, Frame(Unit.RANGE, 5), (Order("k"),))]
    [1, 4]
    """
    by = tuple(key.column for key in keys)
    if frame.distant:
        inside = [n for n in range(len(rows)) if _near(rows, at, n, frame, keys[0])]
    else:
        inside = [n for n in range(len(rows)) if _inside(rows, at, n, frame, by)]
    return [rows[n] for n in inside if not _excluded(rows, at, n, frame.exclude, by)]


def _near(rows: Rows, at: int, n: int, frame: Frame, key: Order) -> bool:
    one, other = _number(rows[at][key.column]), _number(rows[n][key.column])
    if one is None or other is None:  # NULL or NaN: as far as its peers, or no bound
        peers = _peers(rows[at], rows[n], (key.column,))
        return peers or (frame.preceding is None if n < at else frame.following is None)
    before, after = frame.preceding, frame.following
    if key.descending:
        begun = before is None or other <= one + before
        return begun and bool(after is None or other >= one - after)
    begun = before is None or other >= one - before
    return begun and bool(after is None or other <= one + after)


def _number(value: Any) -> Any:
    """As compared; None where there is no distance to anything."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, datetime):
        return (value - datetime(1970, 1, 1, tzinfo=value.tzinfo)) // timedelta(microseconds=1)
    if isinstance(value, date):
        return (value - date(1970, 1, 1)) // timedelta(microseconds=1)
    return value


def _inside(rows: Rows, at: int, n: int, frame: Frame, by: tuple[str, ...]) -> bool:
    if frame.unit is Unit.SESSION:
        low, high = sorted((at, n))
        between = range(low + 1, high + 1)
        return all(rows[each][TS] - rows[each - 1][TS] <= frame.following for each in between)
    if frame.unit is Unit.GROUPS:
        off = groups_between(rows, at, n, by)
    else:
        off = n - at if frame.unit is Unit.ROWS else _distance(rows, at, n, by)
    begun = frame.preceding is None or -frame.preceding <= off
    return begun and bool(frame.following is None or off <= frame.following)


def groups_between(rows: Rows, at: int, n: int, by: tuple[str, ...]) -> int:
    """How many groups of peers a row is behind another, or before it."""
    low, high = sorted((at, n))
    other = sum(not _peers(rows[each], rows[each - 1], by) for each in range(low + 1, high + 1))
    return other if n >= at else -other


def _distance(rows: Rows, at: int, n: int, by: tuple[str, ...]) -> int:
    """In event time; with other keys only which side of the peers a row is on counts."""
    if by == (TS,):
        return int(rows[n][TS] - rows[at][TS])
    if _peers(rows[n], rows[at], by):
        return 0
    return 1 if n > at else -1


def _peers(one: Row, other: Row, by: tuple[str, ...]) -> bool:
    return all(ascending(one[key]) == ascending(other[key]) for key in by)


def _excluded(rows: Rows, at: int, n: int, exclude: Exclude, by: tuple[str, ...]) -> bool:
    peer = _peers(rows[n], rows[at], by)
    return {
        Exclude.NO_OTHERS: False,
        Exclude.CURRENT_ROW: n == at,
        Exclude.GROUP: peer,
        Exclude.TIES: peer and n != at,
    }[exclude]
