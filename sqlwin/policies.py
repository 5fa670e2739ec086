"""When a window is emitted, how long it is kept, what becomes of expired rows.

The words are SAMZA-552's: full size, late arrival, retention. All times are
microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sqlwin.instants import SECOND

DEFAULT_LATE_PERIOD = 10 * SECOND


class Late(Enum):
    """What a window does about rows that came after it was emitted full."""

    EVERY = "every"
    ON_UPDATE = "on update"
    NEVER = "never"


@dataclass(frozen=True)
class Policy:
    """The policies of one window operator.

    late, late_period: SAMZA-552's default is a batch of 10 s of processing time.
    retain: event time a full window is kept to be corrected (not its own length).
    """

    retain: int
    late: Late = Late.EVERY
    late_period: int = DEFAULT_LATE_PERIOD

    def __post_init__(self) -> None:
        if self.retain < 0 or self.late_period < 0:
            raise ValueError(f"negative duration in {self}")
