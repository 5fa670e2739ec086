"""The windows: where a row goes.

Group windows are half-open `[start, end)`. A time window is aligned to the
epoch plus an offset; a tuple window counts the messages of its partition key,
in the order of their positions, from 1.

An OVER frame belongs to one row and is what SQL says: its bounds are inclusive
and, under RANGE, rows of one instant are peers and share one frame.

>>> Hop(size=60, advance=15).pane, Cumulate(size=60, step=20).pane
(15, 20)
>>> Frame(Unit.ROWS, preceding=2, following=-1)  # the two rows before this one
Frame(unit=<Unit.ROWS: 'ROWS'>, preceding=2, following=-1, exclude=<Exclude.NO_OTHERS: 'NO OTHERS'>)
>>> JoinWindow(Unit.RANGE, low=-60, high=5).mirrored  # where left rows are, seen from a right one
JoinWindow(unit=<Unit.RANGE: 'RANGE'>, low=-5, high=60)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from math import gcd
from typing import Any

from sqlwin.added import ADDED
from sqlwin.instants import DAY


class Unit(Enum):
    """What a window's size is measured in."""

    RANGE = "RANGE"
    ROWS = "ROWS"
    GROUPS = "GROUPS"
    """Of peers, which are equal in all of ORDER BY: of frames of OVER alone."""


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
    window of each run is a tumbling one of `size`. Source: Flink's CUMULATE.
    """

    size: int
    step: int
    offset: int = 0

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
class CalendarWindow:
    """Windows of whole periods: days, weeks, months as a zone has them.

    periods: the same windows over the numbers of periods. Each is `[began(n), began(m))`, see
    `kernels.calendars`.
    """

    calendar: Calendar
    periods: Hop | Cumulate

    @property
    def unit(self) -> Unit:
        return Unit.RANGE

    @property
    def tumbles(self) -> bool:
        return isinstance(self.periods, Hop) and self.periods.tumbles

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


@dataclass(frozen=True)
class Session:
    """Windows of what a key does without a pause: each goes on until nothing comes for `gap`.

    unit RANGE: microseconds of event time; a row exactly one gap away still joins. A gap of 0
    is of a join's rows that are in no session: each instant is by itself, and nothing else.
    unit ROWS: a session goes on over at most `gap` messages of other keys. gap_by: a BIGINT
    input column with the gap that follows each row, where `gap` is None. most: no session
    is longer, microseconds. starts, ends: BOOLEAN input columns; a row where it is true
    begins a session, or is the last of one. Sources: KIP-94, SAMZA-552.
    """

    gap: int | None
    unit: Unit = Unit.RANGE
    most: int | None = None
    gap_by: str | None = None
    starts: str | None = None
    ends: str | None = None

    def __post_init__(self) -> None:
        if (self.gap is None) == (self.gap_by is None):
            raise ValueError("a session has a gap, or a column of gaps")
        if self.gap is not None and self.gap < 0:
            raise ValueError(f"need a gap of at least 0, got {self.gap}")
        if self.most is not None and self.most < 1:
            raise ValueError(f"need MAX of at least 1, got {self.most}")
        if (
            self.unit is Unit.ROWS
            and (self.most, self.gap_by, self.starts, self.ends) != (None,) * 4
        ):
            raise ValueError(f"a session over messages has a gap of messages only: {self}")

    @property
    def cut(self) -> bool:
        """Whether more than pauses end it, so that one more row may part a session in two."""
        return any(part is not None for part in (self.most, self.starts, self.ends))

    @property
    def instant(self) -> bool:
        """Whether it is no session, but one instant of a key."""
        return self.gap == 0 and self.unit is Unit.RANGE

    def opened(self, instant: int) -> int | None:
        """As of `Hop`."""
        return None


GroupWindow = Aligned | Session


class Exclude(Enum):
    """Which rows near its own a frame leaves out. GROUP: the row and its peers; TIES: the peers."""

    NO_OTHERS = "NO OTHERS"
    CURRENT_ROW = "CURRENT ROW"
    GROUP = "GROUP"
    TIES = "TIES"


@dataclass(frozen=True)
class Frame:
    """From `preceding` before a row to `following` after it, both inclusive.

    Microseconds under RANGE, rows under ROWS, groups of peers under GROUPS. None: unbounded on that
    side. A negative number lies on the other side: `following=-1` is 1 PRECEDING.
    A frame may be empty. instant: all rows of a partition are of one instant, as its window's end
    names it.
    """

    unit: Unit
    preceding: int | None
    following: int | None = 0
    exclude: Exclude = Exclude.NO_OTHERS
    instant: bool = field(default=False, repr=False, metadata=ADDED)

    def __post_init__(self) -> None:
        if None not in (self.preceding, self.following) and self.preceding + self.following < 0:  # type: ignore[operator]
            raise ValueError(f"a frame must not end before it begins: {self}")

    @property
    def distant(self) -> bool:
        """Whether a bound is a distance, of time or of another key; else only of peers."""
        ends = (self.preceding, self.following)
        return self.unit is Unit.RANGE and any(end not in (None, 0) for end in ends)

    @property
    def in_time(self) -> Frame:
        """How far it reaches in event time: no further than its partition.

        >>> Frame(Unit.ROWS, None, None, instant=True).in_time == Frame(Unit.RANGE, 0, 0)
        True
        """
        return Frame(Unit.RANGE, 0, 0) if self.instant else self


@dataclass(frozen=True)
class Reach:
    """How the frames of rows hold an earlier row: it is at most `back` before a row whose frame
    holds it, or among the last `rows` before it; and no frame ends more than `after` behind its
    row. Microseconds; back None: however old it is.

    >>> Reach.of([Frame(Unit.RANGE, 5, 2), Frame(Unit.RANGE, 0, 3), Frame(Unit.ROWS, 4)])
    Reach(back=5, after=3, rows=4)
    >>> Reach.of([Frame(Unit.ROWS, None), Frame(Unit.ROWS, 4)])
    Reach(back=None, after=0, rows=0)
    >>> Reach.of([Frame(Unit.ROWS, 0, 1)]) is Reach.of([Frame(Unit.RANGE, 0, None)]) is None
    True
    """

    back: int | None
    after: int
    rows: int = 0

    @classmethod
    def of(cls, frames: Iterable[Frame]) -> Reach | None:
        """None where some frame has no end, waits for rows to follow, or counts groups."""
        every = [frame.in_time for frame in frames]
        if any(f.following is None or f.unit is Unit.GROUPS for f in every):
            return None
        if any(f.unit is Unit.ROWS and (f.following or 0) > 0 for f in every):
            return None
        timed = [f for f in every if f.unit is Unit.RANGE]
        after = max((0, *(f.following or 0 for f in timed)))
        if any(f.preceding is None for f in every):
            return cls(None, after)
        rows = max((0, *(f.preceding or 0 for f in every if f.unit is Unit.ROWS)))
        return cls(max((0, *(f.preceding or 0 for f in timed))), after, rows)

    @property
    def size(self) -> int | None:
        """How far before the end of a frame an instant may be that it holds, by its time alone."""
        return None if self.back is None else self.back + self.after


@dataclass(frozen=True)
class JoinWindow:
    """Which pairs of a join lie near enough: `low <= right position - left position <= high`.

    unit RANGE: microseconds of event time. unit ROWS: messages of a stream, over all its
    keys; the first has number 1. None: unbounded on that side. Both ends are inclusive.

    Windows of the streams themselves say the same: with RANGE a on the left and RANGE b on the
    right a pair matches iff at the later of its two instants each lies in its own stream's
    window, so `low = -b, high = a`; with ROWS m and ROWS n, `low = -(n - 1), high = m - 1`.
    """

    unit: Unit
    low: int | None
    high: int | None

    def __post_init__(self) -> None:
        if None not in (self.low, self.high) and self.low > self.high:  # type: ignore[operator]
            raise ValueError(f"a join window must not end before it begins: {self}")

    @property
    def mirrored(self) -> JoinWindow:
        """The same window with the sides changed over."""
        low = None if self.high is None else -self.high
        high = None if self.low is None else -self.low
        return JoinWindow(self.unit, low, high)


@dataclass(frozen=True)
class Steps:
    """A window over the last `size` messages of a stream that moves at multiples of `advance`.

    size: None: over all before. advance: 1: it slides with each message. Row p is there from the
    first multiple at or after p up to, and without, the first one at or after p + size.

    >>> Steps(3, 2).enters(1), Steps(3, 2).leaves(1), Steps(3, 2).enters(3), Steps(3, 2).leaves(3)
    (2, 4, 4, 6)
    """

    size: int | None
    advance: int = 1

    def __post_init__(self) -> None:
        if self.advance < 1 or (self.size is not None and self.size < self.advance):
            raise ValueError(f"need 1 <= advance <= size, got {self}")

    def enters(self, number: Any) -> Any:
        """number: an int, or whatever divides as one: an expression or an array."""
        return (number + (self.advance - 1)) // self.advance * self.advance

    def leaves(self, number: Any) -> Any:
        """None: never."""
        return None if self.size is None else self.enters(number + self.size)

    @property
    def reach(self) -> int | None:
        """How much later a message of the other stream may be that enters while a row is there."""
        return None if self.size is None else self.size + self.advance - 2


@dataclass(frozen=True)
class SteppedWindow(JoinWindow):
    """A join of windows in ROWS of which one at least advances by more than one message.

    low, high: as wide as steps make them. A pair so near matches iff there is a number at which
    both its rows are in their own stream's window. Source: SAMZA-552's advance step size.

    >>> window = SteppedWindow.of(Steps(3, 2), Steps(None))
    >>> window.low, window.high, window.together(1, 3), window.together(1, 4)
    (None, 3, True, False)
    """

    left: Steps
    right: Steps

    @classmethod
    def of(cls, left: Steps, right: Steps) -> SteppedWindow:
        low = None if right.reach is None else -right.reach
        return cls(Unit.ROWS, low, left.reach, left, right)

    @property
    def mirrored(self) -> SteppedWindow:
        return SteppedWindow.of(self.right, self.left)

    def together(self, left: Any, right: Any) -> Any:
        """Whether a left and a right row of these numbers match. Ints, or expressions."""
        first, second = self.left.leaves(left), self.right.leaves(right)
        ahead = True if first is None else self.right.enters(right) < first
        behind = True if second is None else self.left.enters(left) < second
        return behind & ahead


@dataclass(frozen=True)
class JoinSessions:
    """Which pairs of a join: those of rows whose sessions overlap as `[first, last + gap)`.

    left, right: of the two inputs, ended by a pause alone. Rows of one of them may be in no
    session, `Session(0)`: such a row matches those of the session that holds its instant. keys:
    the session key, so many of the join's keys, from the first on. Source: SAMZA-552.
    """

    left: Session
    right: Session
    keys: int

    def __post_init__(self) -> None:
        for session in (self.left, self.right):
            if session.cut or session.unit is Unit.ROWS:
                raise ValueError(f"a session of a join is ended by a gap of time alone: {session}")
        if self.left.instant and self.right.instant:
            raise ValueError("a join of sessions has sessions on one side at least")
        if self.keys < 1:
            raise ValueError("sessions of a join have a key")

    @property
    def gap(self) -> int:
        """The longer one, of those that are the same for all rows."""
        return max(self.left.gap or 0, self.right.gap or 0)


@dataclass(frozen=True)
class AsOf:
    """For each left row one right row: of those that meet `left.ts op right.ts` the nearest.

    op `>=` or `>`: the one with the greatest (ts, position); `<=` or `<`: with the least.
    """

    op: str

    def __post_init__(self) -> None:
        if self.op not in (">=", ">", "<=", "<"):
            raise ValueError(f"an ASOF join compares by >=, >, <= or <, got {self.op}")

    @property
    def backward(self) -> bool:
        """Whether the right row is the earlier one."""
        return self.op in (">=", ">")

    @property
    def strict(self) -> bool:
        """Whether rows of one instant do not match."""
        return self.op in (">", "<")
