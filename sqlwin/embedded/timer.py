"""Where the time of a batch goes.

>>> at = iter([10.0, 10.5, 12.0])
>>> timer = Timer(lambda: next(at))
>>> timer.lap("read"), timer.lap("sinks")
(None, None)
>>> timer.laps
{'read': 0.5, 'sinks': 1.5}
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import field

from sqlwin.lazy_dataclass import dataclass


@dataclass
class Timer:
    """laps: seconds of each part, one behind the other."""

    clock: Callable[[], float] = time.perf_counter
    laps: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.last = self.clock()

    def lap(self, name: str) -> None:
        now = self.clock()
        self.laps[name], self.last = now - self.last, now
