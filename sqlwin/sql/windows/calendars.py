"""Windows of a calendar: sizes of months, a time zone, weeks from a chosen day.

    TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MONTH)
    TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY, 'America/New_York')
    TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' WEEK, 'MONDAY', 'Europe/Berlin')

Behind the sizes stand an offset (a duration, or a day of the week) and a zone. Without months and
without a zone a window is as long always, and none of a calendar.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from math import gcd
from zoneinfo import available_timezones

from sqlwin.errors import QueryError, Span
from sqlwin.instants import DAY, HOUR, format_duration
from sqlwin.names import nearest
from sqlwin.sql.text import ast
from sqlwin.sql.windows.sessions import OpenSession
from sqlwin.sql.windows.window import Window, aligned, not_too_many
from sqlwin.windows import Unit
from sqlwin.windows.group import Calendar, CalendarWindow, Cumulate, DaysOfMonths, Hop
from sqlwin.windows.session import Session

WEEK = 7 * DAY
WEEKDAYS = ("THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY")
"""In the order of the week that begins on 1970-01-01."""
UTC = "UTC"
ZONES = "'America/New_York', 'Europe/Berlin' or another name of the IANA's time zones"


def place_of(value: ast.Duration) -> str | None:
    """Of a text that is no duration: a day of the week is an offset, a time zone a zone."""
    if value.text is None:
        return None
    if value.text.upper() in WEEKDAYS:
        return "offset"
    return "zone" if value.text in _zones() else None


def on_calendar(given: Mapping[str, ast.Duration], span: Span) -> Hop | Cumulate | CalendarWindow:
    """A window by the arguments of a call: size, slide or step, offset, zone."""
    lengths = {place: value for place, value in given.items() if place != "zone"}
    if "offset" in given and given["offset"].text and place_of(given["offset"]) is None:
        raise _unknown(given["offset"], f"'MONDAY' or another day of the week, {ZONES}")
    if "step" in given and given["step"].months is None and given["size"].months is not None:
        return _days_of_months(given, span)
    months = any(value.months is not None for value in lengths.values())
    measured = _months if months else _micros
    shape = aligned({place: measured(value) for place, value in lengths.items()}, span)
    if "offset" in given and place_of(given["offset"]) == "offset" and shape.size % WEEK:
        message = "a day of the week begins windows of whole weeks"
        raise QueryError(message, given["offset"].span, legal="INTERVAL '1' WEEK, 'MONDAY'")
    if not months and "zone" not in given:
        return shape
    zone = _zone(given["zone"]) if "zone" in given else UTC
    step = gcd(shape.size, shape.every)
    if not months and step % HOUR:
        message = f"windows by the clocks of {zone} are of whole hours, not {format_duration(step)}"
        legal = "hours, days, weeks, months; without a zone: shorter ones are the same in all"
        raise QueryError(message, span, legal=legal)
    return _calendar(shape, months, zone)


def _days_of_months(given: Mapping[str, ast.Duration], span: Span) -> CalendarWindow:
    """CUMULATE of days up to months, which have no fixed number of them."""
    step = given["step"]
    if step.text is not None or step.micros != DAY:
        message = "CUMULATE up to months has steps of a day, or of months"
        raise QueryError(message, step.span, legal="INTERVAL '1' DAY, INTERVAL '1' MONTH")
    months = _months(given["size"])
    if months <= 0:
        message = "a window's greatest size must be greater than 0"
        raise QueryError(message, span, legal="INTERVAL '1' DAY, INTERVAL '1' MONTH")
    offset = _months(given["offset"]) if "offset" in given else 0
    zone = _zone(given["zone"]) if "zone" in given else UTC
    not_too_many(31 * months, 1, span)
    return CalendarWindow(Calendar(DAY, False, zone), DaysOfMonths(months, offset % months))


def by_clocks_of(window: Window, zone: str) -> Window:
    """A window of whole days, or of months, that names no zone, by the clocks of one."""
    group = window.group
    if window.zoned or isinstance(group, Session | OpenSession):
        return window
    if isinstance(group, CalendarWindow):
        return replace(window, group=replace(group, calendar=replace(group.calendar, zone=zone)))
    if not isinstance(group, Hop | Cumulate) or group.unit is not Unit.RANGE:
        return window
    step = gcd(group.size, group.every)
    return window if step % DAY else replace(window, group=_calendar(group, False, zone))


def default_zone(name: str, span: Span) -> str | None:
    """Of SET; None: UTC, in which days are as long always."""
    if name not in _zones():
        raise _unknown(ast.Duration(None, span, text=name))
    return None if name == UTC else name


def _calendar(shape: Hop | Cumulate, months: bool, zone: str) -> CalendarWindow:
    step = gcd(shape.size, shape.every)
    calendar = Calendar(step, months, zone, shape.offset)
    size, every = shape.size // step, shape.every // step
    if isinstance(shape, Cumulate):
        return CalendarWindow(calendar, replace(shape, size=size, step=every, offset=0))
    return CalendarWindow(calendar, replace(shape, size=size, advance=every, offset=0))


def _micros(value: ast.Duration) -> int:
    day = (value.text or "").upper()
    return WEEKDAYS.index(day) * DAY if day in WEEKDAYS else value.micros


def _months(value: ast.Duration) -> int:
    if value.months is None:
        message = "a duration of months goes with others of months alone"
        legal = "months, quarters and years in all places, or in none"
        raise QueryError(message, value.span, legal=legal)
    return value.months


def _zone(value: ast.Duration) -> str:
    name = value.text
    if name is None:
        message = "a time zone is a text"
        raise QueryError(message, value.span, legal=ZONES)
    if name not in _zones():
        raise _unknown(value)
    return name


def _unknown(value: ast.Duration, legal: str = ZONES) -> QueryError:
    message = f"no time zone is called {value.text}{nearest(value.text or '', sorted(_zones()))}"
    return QueryError(message, value.span, legal=legal)


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones()) - {"localtime", "Factory"}
