"""OVER frames: the rows around each row.

A frame belongs to one row and is what SQL says: its bounds are inclusive and, under RANGE, rows
of one instant are peers and share one frame.

>>> Frame(Unit.ROWS, preceding=2, following=-1)  # the two rows before this one
Frame(unit=<Unit.ROWS: 'ROWS'>, preceding=2, following=-1, exclude=<Exclude.NO_OTHERS: 'NO OTHERS'>)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from enum import Enum

from sqlwin.added import ADDED
from sqlwin.lazy_dataclass import dataclass
from sqlwin.windows import Unit


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
    Under SESSION both are the gap: from row to row, to either side, as far as none is further from
    the next. A frame may be empty. instant: all rows of a partition are of one instant, as its
    window's end names it.
    """

    unit: Unit
    preceding: int | None
    following: int | None = 0
    exclude: Exclude = Exclude.NO_OTHERS
    instant: bool = field(default=False, repr=False, metadata=ADDED)

    def __post_init__(self) -> None:
        if None not in (self.preceding, self.following) and self.preceding + self.following < 0:  # type: ignore[operator]
            raise ValueError(f"a frame must not end before it begins: {self}")
        if self.unit is Unit.SESSION and not (self.preceding == self.following and self.preceding):
            raise ValueError(f"a session has one gap, greater than 0: {self}")

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
        """None where some frame has no end, waits for rows to follow, counts groups, or is a
        session."""
        every = [frame.in_time for frame in frames]
        if any(f.following is None or f.unit in (Unit.GROUPS, Unit.SESSION) for f in every):
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
