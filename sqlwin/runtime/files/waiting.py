"""Last lines that wait for their line end while a run follows its files: each is warned of once.

A line that is being written is there in part for a moment. It is warned of when it has waited
for some seconds and nothing before it was taken meanwhile.

>>> waiting = Waiting()
>>> waiting.see({"the last line of a": 9}, now=0.0)
[]
>>> waiting.see({"the last line of a": 20}, now=8.0)  # it goes on
[]
>>> waiting.see({"the last line of a": 20}, now=19.0), waiting.see({"the last line of a": 20}, 40.0)
(['the last line of a'], [])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SECONDS = 10.0
PERIOD = 2.0
"""Seconds between two looks at all files."""


@dataclass
class Waiting:
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
        """What is to be warned of. left: where each waiting line begins, by its warning."""
        known = self.since
        self.since = {
            text: known[text] if text in known and known[text][0] == lo else (lo, now)
            for text, lo in left.items()
        }
        long = {text: lo for text, (lo, at) in self.since.items() if now - at >= SECONDS}
        fresh = [text for text, lo in long.items() if (text, lo) not in self.warned]
        self.warned |= {(text, long[text]) for text in fresh}
        return fresh
