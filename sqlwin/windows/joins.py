"""Which pairs of a join lie near enough: windows of time, of messages and of sessions, and ASOF.

>>> JoinWindow(Unit.RANGE, low=-60, high=5).mirrored  # where left rows are, seen from a right one
JoinWindow(unit=<Unit.RANGE: 'RANGE'>, low=-5, high=60)
"""

from __future__ import annotations

from typing import Any

from sqlwin.lazy_dataclass import dataclass
from sqlwin.windows import Unit
from sqlwin.windows.session import Session


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
class SpannedWindow(JoinWindow):
    """A join in ROWS whose left rows are results of joins in ROWS: a *span* of numbers each.

    first, last: columns of a left row, the numbers at which all its messages are in their windows,
    from the greatest of theirs on. None: they never leave, as where `last` is NULL. A right
    message is with it iff there is a number at which both are there: its own is no greater than
    `last`, and it is in its window at `first`. high: no less than `last - first` of any row.

    >>> window = SpannedWindow(Unit.ROWS, low=-1, high=2, first="a", last="b")
    >>> [window.together(5, 6, number) for number in (3, 4, 6, 7)]
    [False, True, True, False]
    """

    first: str
    last: str | None

    def together(self, first: int, last: int | None, number: int) -> bool:
        behind = self.low is None or first + self.low <= number
        return behind and (last is None or number <= last)


@dataclass(frozen=True)
class JoinSessions:
    """Which pairs of a join: those of rows whose sessions overlap as `[first, last + gap)`.

    left, right: of the two inputs, ended by a pause alone, of time or of messages. Rows of one of
    them may be in no session, `Session(0)`: such a row matches those of the session that holds its
    instant, or its number. keys: the session key, so many of the join's keys, from the first on.
    Source: SAMZA-552.
    """

    left: Session
    right: Session
    keys: int

    def __post_init__(self) -> None:
        for session in (self.left, self.right):
            if session.cut:
                raise ValueError(f"a session of a join is ended by its gap alone: {session}")
        if len({each.unit for each in (self.left, self.right) if not each.instant}) > 1:
            raise ValueError("one session of a join counts messages, the other one time")
        if self.left.instant and self.right.instant:
            raise ValueError("a join of sessions has sessions on one side at least")
        if self.keys < 1:
            raise ValueError("sessions of a join have a key")

    @property
    def unit(self) -> Unit:
        return self.left.unit if self.right.instant else self.right.unit

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
