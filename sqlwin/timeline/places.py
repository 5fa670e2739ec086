"""Where in event time an emission is, by its row_key, its columns and the plan.

    group window, session    its bounds, which are in the row_key
    OVER                     the frame in RANGE that ends, or goes on, at its row
    pair of a join           from the earlier of its rows to the later
    any other                the event time that it carries, else that of its row

docs/semantics/changelog.md has the forms of a row_key.

>>> interval('["tea","2024-01-01T09:00:00Z","2024-01-01T09:01:00Z"]')
(1704099600000000, 1704099660000000)
>>> interval('["orders",0,17]') is None
True
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from sqlwin.instants import parse_instant
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Node, OverAggregate
from sqlwin.plan.properties.facts import arriving, operator_of, scans, streams_of, window_of
from sqlwin.plan.properties.times import delay
from sqlwin.schema import TIMESTAMP
from sqlwin.windows import Unit

_INSTANT = re.compile(r"-?\d{4}-\d\d-\d\dT[\d:.]+Z")
Position = tuple[str, int, int]
"""Stream, partition of the source, offset."""
Place = tuple[int | None, int | None, int | None]
"""start, end, at."""
NOWHERE: Place = (None, None, None)


def interval(row_key: str) -> tuple[int, int] | None:
    """The bounds of a window, of a row_key that has them: the last two instants side by side."""
    key = json.loads(row_key)
    found = None
    for low, high in pairwise(key):
        if _is_instant(low) and _is_instant(high):
            found = parse_instant(low), parse_instant(high)
    return found


def _is_instant(value: Any) -> bool:
    return isinstance(value, str) and _INSTANT.fullmatch(value) is not None


@dataclass(frozen=True)
class Places:
    """Of one plan. timed: columns that carry an event time. ahead, behind: of a frame in RANGE.
    streams: what it reads, from the left. counted: places are numbers of messages."""

    timed: tuple[str, ...]
    behind: int
    ahead: int
    streams: tuple[str, ...]
    counted: bool

    @classmethod
    def of(cls, plan: Node) -> Places:
        timed = [c.name for c in plan.schema if c.type == TIMESTAMP and delay(plan, c.name) == 0]
        later = [
            c.name
            for c in plan.schema
            if c.type == TIMESTAMP and delay(plan, c.name) and c.name not in timed
        ]
        window = window_of(plan)
        behind, ahead = _reach(window) if isinstance(window, OverAggregate) else (0, 0)
        names = tuple(dict.fromkeys(scan.stream.name for scan in scans(plan)))
        return cls((*timed, *later), behind, ahead, names, counted(plan))

    def place(self, row_key: str, row: Mapping[str, str], times: Mapping[Position, int]) -> Place:
        """row: its columns as text. times: of rows, by their positions."""
        bounds = None if self.counted else interval(row_key)
        if bounds is not None:
            return bounds[0], bounds[1], None
        if not self.counted:
            for name in self.timed:
                if _is_instant(row[name]):
                    return self._framed(parse_instant(row[name]))
        return self._of_rows(json.loads(row_key), times)

    def _framed(self, at: int) -> Place:
        return at - self.behind, at + self.ahead, at

    def _of_rows(self, key: list[Any], times: Mapping[Position, int]) -> Place:
        found = [times[p] for p in self._positions(key) if p in times]
        if len(found) == 1:
            return self._framed(found[0])
        if found:
            return min(found), max(found), None
        last_two = [each for each in key[-2:] if isinstance(each, int)]
        if self.counted and len(key) == len(last_two) == 2:  # a window in ROWS of all rows
            return last_two[0], last_two[1], None
        return NOWHERE

    def _positions(self, key: list[Any]) -> list[Position]:
        if len(key) == 3 and key[0] in self.streams and _integers(key[1:]):
            return [(key[0], *key[1:])]
        if _integers(key) and len(key) == 2 and self.streams:
            return [(self.streams[0], *key)]
        sides = zip(_doubled(self.streams), key, strict=False)
        return [(name, *at) for name, at in sides if _is_position(at)]


def _doubled(streams: tuple[str, ...]) -> tuple[str, ...]:
    """A stream may be joined with itself."""
    return streams * 2 if len(streams) == 1 else streams


def _is_position(key: object) -> bool:
    """And not a key of two columns, such as that of a window that is joined."""
    return isinstance(key, list) and len(key) == 2 and _integers(key)


def _integers(values: list[Any]) -> bool:
    return all(isinstance(each, int) for each in values)


def _reach(window: OverAggregate) -> tuple[int, int]:
    frames = [call.frame for call in window.calls if call.timed and call.frame.unit is Unit.RANGE]
    return (
        max((frame.preceding or 0 for frame in frames), default=0),
        max((frame.following or 0 for frame in frames), default=0),
    )


def counted(plan: Node) -> bool:
    """Whether the axis has numbers of messages: windows of these, or rows without event time."""
    operator = operator_of(plan)
    if operator is not None and arriving(operator):
        return True
    return all(stream.ts is None for stream in streams_of(plan))
