"""Calls that share a partition and an order, and how far from a row their frames look.

    reach      RANGE: microseconds before a row; an UNBOUNDED frame's end where it lies there
    after      RANGE: microseconds after it
    back       ROWS: rows of the partition before a row; as with `reach`
    ahead      ROWS: rows after it
    instants_back, instants_ahead
               GROUPS: instants of the partition before a row and after it that hold these groups;
               with further keys they hold more
    sessions   SESSION: calls whose frames go on for as long as rows follow each other
    based      calls that are unbounded before: a base stands for rows that are not read

Where some frame has no end, or some order does not begin with event time, no row is ever full, so
all rows stay and no base is kept.

>>> from sqlwin.kernels.folds import fold
>>> import polars as pl, pyarrow as pa
>>> rows = fold("n", "count", (), (), pa.int64(), None)
>>> frames = [Frame(Unit.ROWS, *bounds) for bounds in ((3, -1), (None, 2))]
>>> calls = [FrameCall(rows, ("k",), frame, pl.Int64()) for frame in frames]
>>> (group,) = groups_of(tuple(calls)).each
>>> group.back, group.ahead, group.depth, len(group.based)
(3, 2, 5, 1)
"""

from __future__ import annotations

from functools import cached_property

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.over.framing import FrameCall
from sqlwin.schema import Order
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude, Frame


@dataclass(frozen=True)
class PartitionGroup:
    """The calls of one partition and order. number: of the group. kept: no row may ever leave.
    order: the keys behind event time, or, where it is not timed, all keys.
    """

    number: int
    partition: tuple[str, ...]
    order: tuple[Order, ...]
    timed: bool
    calls: tuple[FrameCall, ...]
    kept: bool

    @cached_property
    def reach(self) -> int:
        return max((_before(f) for f in self._frames(Unit.RANGE)), default=0)

    @cached_property
    def after(self) -> int:
        return max((_after(f) for f in self._frames(Unit.RANGE)), default=0)

    @cached_property
    def back(self) -> int:
        return max((_before(f) for f in self._frames(Unit.ROWS)), default=0)

    @cached_property
    def ahead(self) -> int:
        return max((_after(f) for f in self._frames(Unit.ROWS)), default=0)

    @cached_property
    def instants_back(self) -> int:
        return max((_before(f) for f in self._frames(Unit.GROUPS)), default=0)

    @cached_property
    def instants_ahead(self) -> int:
        return max((_after(f) for f in self._frames(Unit.GROUPS)), default=0)

    @cached_property
    def sessions(self) -> tuple[FrameCall, ...]:
        if not self.timed:
            return ()
        return tuple(c for c in self.calls if c.frame.in_time.unit is Unit.SESSION)

    @property
    def depth(self) -> int:
        """How many rows of a partition a ROWS frame may still want when their time is over."""
        return self.back + self.ahead

    @property
    def instants(self) -> int:
        """How many instants of a partition a frame in GROUPS may still want then."""
        return self.instants_back + self.instants_ahead

    @property
    def looks_back(self) -> bool:
        """Whether rows before a row are counted, however old."""
        return self.back > 0 or self.instants_back > 0 or bool(self.sessions)

    @property
    def looks_ahead(self) -> bool:
        return self.ahead > 0 or self.instants_ahead > 0 or bool(self.sessions)

    @property
    def deep(self) -> bool:
        return self.depth > 0 or self.instants > 0 or bool(self.sessions)

    @cached_property
    def counting(self) -> tuple[FrameCall, ...]:
        """Calls that wait for rows to follow, not only for time; a session for none to."""
        if not self.timed:
            return ()
        return tuple(c for c in self.calls if _waits(c.frame.in_time))

    @cached_property
    def peers(self) -> bool:
        """Whether rows of one instant must stay together, for a frame leaves them out or counts
        them as one, or their positions do not order them."""
        return bool(self.order or self.instants) or any(
            c.frame.exclude in (Exclude.GROUP, Exclude.TIES) for c in self.counting
        )

    @cached_property
    def based(self) -> tuple[FrameCall, ...]:
        if self.kept:
            return ()
        return tuple(call for call in self.calls if call.frame.in_time.preceding is None)

    def _frames(self, unit: Unit) -> list[Frame]:
        """Those that say how far in time, or how many rows before and behind, a row is read."""
        if not self.timed:
            return []
        frames = (call.frame.in_time for call in self.calls)
        return [frame for frame in frames if frame.unit is unit]


@dataclass(frozen=True)
class PartitionGroups:
    """What the groups of an operator have together."""

    each: tuple[PartitionGroup, ...]

    @cached_property
    def calls(self) -> tuple[FrameCall, ...]:
        return tuple(call for group in self.each for call in group.calls)

    @cached_property
    def counting(self) -> tuple[FrameCall, ...]:
        """Calls that wait for rows to follow."""
        return tuple(call for group in self.each for call in group.counting)

    @property
    def timed(self) -> bool:
        return all(group.timed for group in self.each)

    @property
    def kept(self) -> bool:
        """Of one group as of all."""
        return self.each[0].kept

    @cached_property
    def reach(self) -> int:
        return max(group.reach for group in self.each)

    @cached_property
    def after(self) -> int:
        return max(group.after for group in self.each)


def groups_of(calls: tuple[FrameCall, ...]) -> PartitionGroups:
    """In the order of their first calls."""
    kept = any(call.frame.in_time.following is None or not call.timed for call in calls)
    scopes = list(dict.fromkeys(call.scope for call in calls))
    return PartitionGroups(
        tuple(
            PartitionGroup(number, *scope, tuple(c for c in calls if c.scope == scope), kept)
            for number, scope in enumerate(scopes)
        )
    )


def _before(frame: Frame) -> int:
    """An unbounded frame looks back to its end, as far as rows themselves are wanted."""
    if frame.preceding is not None:
        return max(frame.preceding, 0)
    return 0 if frame.following is None else max(-frame.following, 0)


def _waits(frame: Frame) -> bool:
    return frame.unit is not Unit.RANGE and _after(frame) > 0


def _after(frame: Frame) -> int:
    return 0 if frame.following is None else max(frame.following, 0)
