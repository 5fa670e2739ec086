"""Windows and frames as EXPLAIN words them."""

from __future__ import annotations

from functools import partial

from sqlwin.instants import format_duration
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude, Frame
from sqlwin.windows.group import CalendarWindow, Cumulate, DaysOfMonths, GroupWindow, Whole
from sqlwin.windows.session import Session


def shape(window: GroupWindow) -> str:
    if isinstance(window, Whole):
        return "the whole stream"
    if isinstance(window, Session):
        return _session(window)
    if isinstance(window, CalendarWindow):
        return _calendar_window(window)
    size = length(window.size, window.unit)
    offset = f" offset {length(window.offset, window.unit)}" if window.offset else ""
    if isinstance(window, Cumulate):
        return f"cumulating to {size} by {length(window.step, window.unit)}{offset}{_only(window)}"
    if window.tumbles:
        return f"tumbling {size}{offset}"
    return f"hopping {size} every {length(window.advance, window.unit)}{offset}"


def _calendar_window(window: CalendarWindow) -> str:
    calendar, periods = window.calendar, window.periods
    if isinstance(periods, DaysOfMonths):
        since = f" offset {_months(periods.offset)}" if periods.offset else ""
        rest = f"{since} in {calendar.zone}{_only(window)}"
        return f"cumulating to {_months(periods.months)} by 1 day{rest}"
    measured = _months if calendar.months else partial(length, unit=Unit.RANGE)
    size = measured(periods.size * calendar.step)
    offset = f" offset {measured(calendar.offset)}" if calendar.offset else ""
    rest = f"{offset} in {calendar.zone}{_only(window)}"
    if isinstance(periods, Cumulate):
        return f"cumulating to {size} by {measured(periods.step * calendar.step)}{rest}"
    if periods.tumbles:
        return f"tumbling {size}{rest}"
    return f"hopping {size} every {measured(periods.advance * calendar.step)}{rest}"


def _only(window: Cumulate | CalendarWindow) -> str:
    return " only on update" if window.only_on_update else ""


def _months(count: int) -> str:
    """
    >>> _months(3), _months(12), _months(-1)
    ('3 months', '1 year', '-1 month')
    """
    unit, count = ("month", count) if count % 12 else ("year", count // 12)
    return f"{count} {unit}{'s' * (abs(count) != 1)}"


def _session(window: Session) -> str:
    if window.instant:
        return "instants"
    gap = window.gap_by if window.gap is None else length(window.gap, window.unit)
    most = "" if window.most is None else f" max {length(window.most, window.unit)}"
    starts = f" start when {window.starts}" if window.starts else ""
    ends = f" end when {window.ends}" if window.ends else ""
    return f"session gap {gap}{most}{starts}{ends}"


def frame(frame: Frame, measure: Unit | None = None) -> str:
    """measure: of its bounds; RANGE is one of time, ROWS of numbers."""
    measure = measure or frame.unit
    cut = " at one instant" if frame.instant else ""
    left_out = "" if frame.exclude is Exclude.NO_OTHERS else f" exclude {frame.exclude.value}"
    if frame.unit is Unit.SESSION:
        return f"session gap {length(frame.following or 0, Unit.RANGE)}{left_out.lower()}{cut}"
    begin = _bound(frame.preceding, measure, "preceding", "following")
    end = _bound(frame.following, measure, "following", "preceding")
    bounds = begin if frame.following == 0 else f"{begin} to {end}"
    return f"{frame.unit.value} {bounds}{left_out.lower()}{cut}"


def _bound(bounds: int | None, unit: Unit, side: str, other: str) -> str:
    if bounds is None:
        return f"unbounded {side}"
    if bounds == 0:
        return "current row"
    amount = format_duration(abs(bounds)) if unit is Unit.RANGE else str(abs(bounds))
    return f"{amount} {side if bounds > 0 else other}"


def length(amount: int, unit: Unit) -> str:
    if unit is Unit.RANGE:
        sign = "-" if amount < 0 else ""
        return f"{sign}{format_duration(abs(amount))}"
    return f"{amount} row{'' if amount == 1 else 's'}"
