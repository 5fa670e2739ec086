"""Panes: the pieces that group windows are put together from.

A hop of `size` every `advance` is cut at every multiple of gcd(size, advance),
plus the offset; cumulating windows are cut at every step; the whole stream is one
pane. No window's edge falls inside a pane, so a row is folded into one pane, and
a pane goes whole into each window that holds it.

A hop's window that starts at w holds the pane at p iff `w <= p < w + size`; the
starts w are `offset + n * advance`. Size 5, advance 3: pane 6 is in the windows
at 3 and 6, pane 5 only in the one at 3. A cumulating window that ends at e holds
the panes below e of the run that e - 1 is in. Size 6, step 2: pane 2 is in the
windows that end at 4 and 6, not in the one of its run that ends at 2.

Time windows are known by their end, which says when they are full:

>>> panes = pl.DataFrame({"pane": [5, 6]})
>>> ends_of(panes, "pane", Hop(size=5, advance=3))["__end"].to_list()
[8, 8, 11]
>>> ends_of(panes, "pane", Cumulate(size=6, step=1))["__end"].to_list()
[6, 7, 8, 9, 10, 11, 12]
>>> ends_at(5, Hop(size=5, advance=3)), ends_at(6, Hop(size=5, advance=3))
((8, 8), (8, 11))
>>> start_of(6, Cumulate(size=6, step=1)), earliest(12, Hop(size=5, advance=3))
(0, 9)

Windows of a calendar are cut where its periods begin: all is reckoned with their numbers, and
panes and ends are instants as well.

Source: stream slicing, Traub et al., EDBT 2019.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import polars as pl

from sqlwin.instants import DAY, END, START
from sqlwin.kernels.calendars import began, number
from sqlwin.kernels.columns import beside
from sqlwin.kernels.frames import Ints
from sqlwin.polars_frames import where
from sqlwin.windows import Unit
from sqlwin.windows.frames import Reach
from sqlwin.windows.group import Aligned, CalendarWindow, Cumulate, DaysOfMonths, Ending, Hop, Whole

WINDOW_END = "__end"
_NUMBER, _ROW = "__number", "__row"
ENDLESS = END - 1
"""The end of `Whole`: below END, since a store holds no time that is not."""

X = TypeVar("X", int, pl.Expr)
N = TypeVar("N", int, pl.Expr, Ints)


def pane_start(x: N, pane: int, offset: int) -> N:
    """Start of the pane that holds x: the greatest `offset + n * pane` <= x. Int64."""
    # the remainder of a floor division is never negative, also for x before the epoch
    return x - (x - offset) % pane


def pane_of(ts: X, window: Aligned) -> X:
    """Start of the pane that holds an instant, or a message by its number. Int64."""
    if isinstance(window, Whole):
        return ts * 0  # not a literal: grouped by one, no rows would be one group
    if isinstance(window, CalendarWindow):
        calendar = window.calendar
        return began(pane_start(number(ts, calendar), window.periods.pane, 0), calendar)
    return pane_start(ts, window.pane, origin(window))


def start_of(end: X, window: Ending | DaysOfMonths) -> X:
    """Start of the time window that ends at `end`. Int64."""
    if isinstance(window, CalendarWindow):
        last = _first_at(end, window)
        return began(start_of(last, window.periods), window.calendar)
    if isinstance(window, DaysOfMonths):
        return _run(end - 1, window)
    if isinstance(window, Cumulate):
        return pane_start(end - 1, window.size, window.offset)
    return end - window.size


def _run(day: X, window: DaysOfMonths, nth: int = 0) -> X:
    """The first day of the run of months that a day is in, or of the n-th one behind it."""
    return began(number(day * DAY, window.runs) + nth, window.runs) // DAY


def _first_at(end: X, window: CalendarWindow) -> X:
    """The number of the first period that begins at an instant or later."""
    return number(end - 1, window.calendar) + 1


def earliest(end: X, window: Ending | DaysOfMonths | Reach) -> X:
    """The first start of the time windows that end at `end` or later, one or not. Int64."""
    if isinstance(window, Reach):
        return end * 0 + START if window.size is None else end - window.size - 1
    if isinstance(window, CalendarWindow):
        first = earliest(_first_at(end, window), window.periods)
        return began(first, window.calendar)
    if isinstance(window, Cumulate | DaysOfMonths):
        return start_of(end, window)
    return pane_start(end - window.size + window.advance - 1, window.advance, origin(window))


def ends_at(ts: X, window: Ending | DaysOfMonths | Reach) -> tuple[X, X]:
    """The ends of the first and of the last time window that holds an instant. Int64.

    Of frames, whose last instant is within: that of a row as far before as it may be, and of one as
    far behind.
    """
    if isinstance(window, Reach):
        return ts + 1, ts * 0 + END if window.size is None else ts + window.size + 1
    if isinstance(window, CalendarWindow):
        low, high = ends_at(number(ts, window.calendar), window.periods)
        return began(low, window.calendar), began(high, window.calendar)
    if isinstance(window, DaysOfMonths):
        return ts + 1, _run(ts, window, 1)
    if isinstance(window, Cumulate):
        first = pane_start(ts, window.step, window.offset) + window.step
        return first, pane_start(ts, window.size, window.offset) + window.size
    base = origin(window)
    first = pane_start(ts - window.size, window.advance, base) + window.advance + window.size
    return first, pane_start(ts, window.advance, base) + window.size


def span_of(window: Aligned, first: int, last: int) -> tuple[int, int]:
    """lo and hi: windows that end at `first` to `last` hold rows of lo <= ts < hi only."""
    if not isinstance(window, Whole):
        return earliest(first, window), last
    return (START, END) if first <= ENDLESS <= last else (0, 0)


def ends_between(window: Aligned, after: int, until: int) -> bool:
    """Whether a time window, with rows or without, ends at after < end <= until.

    >>> minute = Hop(size=60, advance=60)
    >>> ends_between(minute, 60, 119), ends_between(minute, 60, 120)
    (False, True)
    """
    if isinstance(window, Whole):
        return after < ENDLESS <= until
    return ends_at(after, window)[0] <= until


def origin(window: Hop | Cumulate) -> int:
    """Where windows are aligned: the epoch and an offset, or the first message, which is 1."""
    return window.offset + (1 if window.unit is Unit.ROWS else 0)


def ends_of(
    panes: pl.DataFrame,
    time: str,
    window: Aligned | DaysOfMonths,
    first: int = START,
    last: int = END,
) -> pl.DataFrame:
    """Each pane's row once for every time window that holds it, with the window's end.

    panes: column `time`, Int64, no NULL, is the pane's start. first, last: only windows that end
    there. Adds `__end` Int64. Rows stay in order; the windows of one pane ascend. Windows of
    messages begin at message 1 or later: one that began earlier could never come to its n messages.
    """
    if isinstance(window, Whole):
        some = panes if first <= ENDLESS <= last else panes.clear()
        return some.with_columns(pl.lit(ENDLESS, pl.Int64).alias(WINDOW_END))
    if isinstance(window, CalendarWindow):
        ends = _ends_of_calendar(panes, time, window)
        return where(ends, (ends[WINDOW_END] >= first) & (ends[WINDOW_END] <= last))
    if isinstance(window, DaysOfMonths):
        return _ends_of_days(panes, time, window)
    if isinstance(window, Hop) and window.tumbles:
        end = (panes.get_column(time) + window.size).alias(WINDOW_END)
        ends = beside(panes, end)
        if panes.is_empty() or (first <= end.min() and end.max() <= last):  # type: ignore[operator]
            return ends
        return where(ends, (end >= first) & (end <= last))
    low, high = held_by(panes[time].to_numpy(), window, first, last)
    return _repeated(panes, WINDOW_END, low, (high - low) // window.every + 1, window.every)


def held_by(pane: Ints, window: Hop | Cumulate, first: int, last: int) -> tuple[Ints, Ints]:
    """Of the time windows that hold each pane and end at `first` to `last`, the first and the last
    end; of none a last one before the first."""
    step, base = window.every, origin(window)
    if isinstance(window, Cumulate):
        low, high = pane + step, pane_start(pane, window.size, base) + window.size
    else:
        low = pane_start(pane - window.size, step, base) + step + window.size
        high = pane_start(pane, step, base) + window.size
        base += window.size
        if window.unit is Unit.ROWS:
            low = np.maximum(low, base)
    # the nearest ends inside the bounds, which are no instants where they are open
    if first > START:
        low = np.maximum(low, first + (base - first) % step)
    if last < END:
        high = np.minimum(high, last - (last - base) % step)
    return low, np.maximum(high, low - step)


def _ends_of_days(panes: pl.DataFrame, time: str, window: DaysOfMonths) -> pl.DataFrame:
    low, high = (
        panes.select(each)[time].to_numpy()  # the ends of the first and the last window of each
        for each in ends_at(pl.col(time), window)
    )
    return _repeated(panes, WINDOW_END, low, high - low + 1, 1)


def _ends_of_calendar(panes: pl.DataFrame, time: str, window: CalendarWindow) -> pl.DataFrame:
    """Two periods begin at one instant where a zone left out a whole day: then two windows, of
    which one holds the other, end there, and are one."""
    numbered = panes.with_columns(number(pl.col(time), window.calendar).alias(_NUMBER))
    ends = ends_of(numbered.with_row_index(_ROW), _NUMBER, window.periods)
    ended = ends.with_columns(began(pl.col(WINDOW_END), window.calendar))
    if window.periods.pane != window.periods.size and window.calendar.zone != "UTC":
        ended = ended.unique([_ROW, WINDOW_END], maintain_order=True)
    return ended.drop(_ROW, _NUMBER)


def _repeated(panes: pl.DataFrame, name: str, first: Ints, count: Ints, step: int) -> pl.DataFrame:
    """Each row `count` times, with `name` counting up from `first` by `step`."""
    nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    values = np.repeat(first, count) + nth * step
    rows = panes.select(pl.all().gather(np.repeat(np.arange(len(panes)), count)))
    return rows.with_columns(pl.Series(name, values, dtype=pl.Int64))
