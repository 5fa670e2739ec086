"""The windows: where a row goes.

Group windows are half-open `[start, end)`. A time window is aligned to the
epoch plus an offset; a tuple window counts the messages of its partition key,
in the order of their positions, from 1.

An OVER frame belongs to one row and is what SQL says: its bounds are inclusive
and, under RANGE, rows of one instant are peers and share one frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import gcd


class Unit(Enum):
    """What a window's size is measured in."""

    RANGE = "RANGE"
    ROWS = "ROWS"


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

    @property
    def tumbles(self) -> bool:
        return self.size == self.advance

    @property
    def pane(self) -> int:
        """The greatest length that cuts every window into whole panes."""
        return gcd(self.size, self.advance)


@dataclass(frozen=True)
class Frame:
    """`unit BETWEEN preceding PRECEDING AND CURRENT ROW` of one row.

    `preceding`: microseconds under RANGE, rows under ROWS; at least 0.
    """

    unit: Unit
    preceding: int

    def __post_init__(self) -> None:
        if self.preceding < 0:
            raise ValueError(f"a frame reaches back by at least 0, got {self.preceding}")
