"""Group windows: which windows a row is in, by its time or its number.

They are half-open `[start, end)`. A time window is aligned to the epoch plus an offset; a tuple
window counts the messages of its partition key, in the order of their positions, from 1.

>>> Hop(size=60, advance=15).pane, Cumulate(size=60, step=20).pane
(15, 20)
"""

from __future__ import annotations

from dataclasses import field
from math import gcd

from sqlwin.added import ADDED
from sqlwin.instants import DAY
from sqlwin.lazy_dataclass import dataclass
from sqlwin.windows import Unit
from sqlwin.windows.session import Session


@dataclass(frozen=True)
class Hop:
    """Windows of `size` every `advance`; a tumbling window where the two are equal.

    `unit` RANGE: microseconds of event time, aligned to the epoch plus `offset`.
    `unit` ROWS: messages of the partition key, the first has number 1.
    """

    size: int
    advance: int
    offset: int = 0
    unit: Unit = Unit.RANGE

    def __post_init__(self) -> None:
        if not 0 < self.advance <= self.size:
            raise ValueError(f"need 0 < advance <= size, got {self.advance} and {self.size}")
        if self.unit is Unit.ROWS and self.offset:
            raise ValueError(f"windows in ROWS start at message 1, got offset {self.offset}")

    @property
    def tumbles(self) -> bool:
        return self.size == self.advance

    @property
    def every(self) -> int:
        """How far the ends of windows are apart."""
        return self.advance

    def opened(self, instant: int) -> int | None:
        """The number of the last window that an instant opens; None: each row may open one."""
        return (instant - self.offset) // self.advance

    @property
    def pane(self) -> int:
        """The greatest length that cuts every window into whole panes."""
        return gcd(self.size, self.advance)


@dataclass(frozen=True)
class Cumulate:
    """Windows that begin together every `size` and end after 1, 2, … steps.

    Microseconds of event time, aligned to the epoch plus `offset`; the last
    window of each run is a tumbling one of `size`. only_on_update: a group has those windows
    alone in whose last step it has a row. Source: Flink's CUMULATE and its emitOnlyOnUpdate.
    """

    size: int
    step: int
    offset: int = 0
    only_on_update: bool = field(default=False, repr=False, metadata=ADDED)

    def __post_init__(self) -> None:
        if not (0 < self.step <= self.size and self.size % self.step == 0):
            raise ValueError(f"need a step that divides size, got {self.step} and {self.size}")

    @property
    def unit(self) -> Unit:
        return Unit.RANGE

    @property
    def every(self) -> int:
        return self.step

    def opened(self, instant: int) -> int | None:
        """As of `Hop`."""
        return (instant - self.offset) // self.step

    @property
    def pane(self) -> int:
        return self.step


@dataclass(frozen=True)
class Calendar:
    """The periods of a time zone's calendar: number 0 begins on 1970-01-01, plus `offset`.

    step: of a period, in months or else in microseconds as the zone's clocks show them, so that a
    day has 24 hours whatever they do. offset: in the same measure. zone: IANA's name.
    """

    step: int
    months: bool
    zone: str = "UTC"
    offset: int = 0

    @property
    def usual(self) -> int:
        """Microseconds of a period, give or take."""
        return 30 * DAY * self.step if self.months else self.step

    @property
    def longest(self) -> int:
        """Microseconds that no period exceeds: a clock was put back by a day once."""
        return DAY + (31 * DAY * self.step if self.months else self.step)


@dataclass(frozen=True)
class DaysOfMonths:
    """Windows of days that begin together with every run of so many months, and end after each of
    its days; over the numbers of days since 1970.

    offset: in months, where runs begin: 3 of a year that begins in April. only_on_update: as of
    `Cumulate`.
    """

    months: int
    offset: int = 0
    only_on_update: bool = field(default=False, repr=False, metadata=ADDED)

    @property
    def unit(self) -> Unit:
        return Unit.RANGE

    @property
    def size(self) -> int:
        """No window has more days."""
        return 31 * self.months

    @property
    def step(self) -> int:
        return 1

    @property
    def every(self) -> int:
        return 1

    @property
    def pane(self) -> int:
        return 1

    @property
    def runs(self) -> Calendar:
        return Calendar(self.months, months=True, offset=self.offset)


@dataclass(frozen=True)
class CalendarWindow:
    """Windows of whole periods: days, weeks, months as a zone has them.

    periods: the same windows over the numbers of periods, `DaysOfMonths` over those of days. Each
    is `[began(n), began(m))`, see `kernels.calendars`.
    """

    calendar: Calendar
    periods: Hop | Cumulate | DaysOfMonths

    @property
    def unit(self) -> Unit:
        return Unit.RANGE

    @property
    def tumbles(self) -> bool:
        return isinstance(self.periods, Hop) and self.periods.tumbles

    @property
    def only_on_update(self) -> bool:
        """As of `Cumulate`."""
        return not isinstance(self.periods, Hop) and self.periods.only_on_update

    @property
    def size(self) -> int:
        """No window is longer."""
        return self.periods.size * self.calendar.longest

    @property
    def every(self) -> int:
        """How far the ends of windows are apart, give or take."""
        return self.periods.every * self.calendar.usual

    @property
    def pane(self) -> int:
        """The usual length of a pane."""
        return self.periods.pane * self.calendar.usual

    def opened(self, instant: int) -> int | None:
        """As of `Hop`."""
        return None


@dataclass(frozen=True)
class Whole:
    """One window, all of the stream: it is not full before the input ends."""

    @property
    def unit(self) -> Unit:
        return Unit.RANGE

    def opened(self, instant: int) -> int | None:
        """As of `Hop`."""
        return 0


Ending = Hop | Cumulate | CalendarWindow
"""Windows that a row's time alone, or its number, says it is in, and that end."""

Aligned = Ending | Whole


def known_by_start(window: Ending) -> bool:
    """Whether no two windows begin together. Those that hop over a calendar may, where a zone left
    out a whole day."""
    return isinstance(window, Hop) or (isinstance(window, CalendarWindow) and window.tumbles)


GroupWindow = Aligned | Session
