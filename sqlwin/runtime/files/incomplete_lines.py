"""Last lines without a line end, while a run follows its files: each is warned of once.

A line that is being written is incomplete for a moment. A warning is due when it has been
incomplete for some seconds and nothing of its file was read meanwhile.

>>> lines = IncompleteLines()
>>> lines.see({"the last line of a": 9}, now=0.0)
[]
>>> lines.see({"the last line of a": 20}, now=8.0)  # it goes on
[]
>>> lines.see({"the last line of a": 20}, now=19.0), lines.see({"the last line of a": 20}, 40.0)
(['the last line of a'], [])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from sqlwin.lazy_dataclass import dataclass

SECONDS = 10.0
PERIOD = 2.0
"""Seconds between two looks at all files."""


@dataclass
class IncompleteLines:
    """since: where each line begins, and when that was seen first. warned: of these it was."""

    since: dict[str, tuple[int, float]] = field(default_factory=dict)
    warned: set[tuple[str, int]] = field(default_factory=set)
    looked: float | None = None

    def due(self, now: float) -> bool:
        """Whether it is time to look; then it was looked."""
        if self.looked is not None and now - self.looked < PERIOD:
            return False
        self.looked = now
        return True

    def see(self, left: Mapping[str, int], now: float) -> list[str]:
        """The warnings that are due. left: where each waiting line begins, by its warning."""
        known = self.since
        self.since = {
            text: known[text] if text in known and known[text][0] == lo else (lo, now)
            for text, lo in left.items()
        }
        long = {text: lo for text, (lo, at) in self.since.items() if now - at >= SECONDS}
        fresh = [text for text, lo in long.items() if (text, lo) not in self.warned]
        self.warned |= {(text, long[text]) for text in fresh}
        return fresh
