"""A table of lifetimes by definition: the rules of `sqlwin.state.ttl.lifetimes`, over a plain list.

>>> from sqlwin.policies import Cleanup
>>> table = Lifetimes(Ttl(10, cleanup=Cleanup(timers=True)))
>>> table.at(0); table.write("ann", 0); table.at(9); list(table.visible())
['ann']
>>> table.at(10); list(table.visible()), len(table.lifetimes)
([], 1)
>>> table.clean_by_timers(); len(table.lifetimes)
0
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from sqlwin.instants import START
from sqlwin.policies import Ttl, TtlTime, Update, Visibility

WORTH = 4


@dataclass
class Life:
    key: Hashable
    number: int
    touched: int
    cleaned: bool = False


@dataclass
class Lifetimes:
    """time: what has expired by now is judged by it. looked: the last life looked at."""

    ttl: Ttl
    lifetimes: list[Life] = field(default_factory=list)
    next: int = 0
    looked: int = -1
    time: int = START

    def at(self, now: int, watermark: int = START) -> None:
        self.time = now if self.ttl.time is TtlTime.PROCESSING else watermark

    def visible(self) -> dict[Hashable, Life]:
        never = self.ttl.visibility is Visibility.NEVER
        return {
            life.key: life
            for life in self.lifetimes
            if not life.cleaned and not (never and self._expired(life))
        }

    def stamp(self, latest: int) -> int:
        """latest: event time of what writes or reads."""
        return max(self.time, latest) if self.ttl.time is TtlTime.EVENT else self.time

    @property
    def deadline(self) -> int | None:
        if not self.ttl.cleanup.timers or self.ttl.time is not TtlTime.PROCESSING:
            return None
        times = [life.touched + self.ttl.length for life in self.lifetimes if not life.cleaned]
        return min(times, default=None)

    # What renews.

    def write(self, key: Hashable, stamp: int) -> None:
        life = self.visible().get(key)
        if life is None:
            for before in self.lifetimes:
                before.cleaned |= before.key == key
            life = Life(key, self.next, stamp)
            self.lifetimes.append(life)
            self.next += 1
        life.touched = max(life.touched, stamp)

    def read(self, key: Hashable, stamp: int) -> None:
        life = self.visible().get(key)
        if life is not None and self._expired(life):
            life.cleaned = True
        elif life is not None and self.ttl.update is Update.READ:
            life.touched = max(life.touched, stamp)

    # What cleans.

    def clean_by_timers(self) -> None:
        if self.ttl.cleanup.timers:
            self.lifetimes = [x for x in self.lifetimes if not (x.cleaned or self._expired(x))]

    def look(self, entries: int) -> None:
        lifetimes = [life for life in self.lifetimes if not life.cleaned]
        further = [life for life in lifetimes if life.number > self.looked]
        for life in [*further, *(x for x in lifetimes if x.number <= self.looked)][:entries]:
            self.looked, life.cleaned = life.number, self._expired(life)

    def compact(self) -> None:
        all_ = self.ttl.cleanup.compaction
        gone = [life for life in self.lifetimes if life.cleaned or (all_ and self._expired(life))]
        if not gone:
            return
        since = min(life.touched for life in gone) + self.ttl.length
        late = since + self.ttl.length // WORTH <= self.time
        if late or len(gone) * WORTH >= len(self.lifetimes):
            self.lifetimes = [life for life in self.lifetimes if life not in gone]

    def _expired(self, life: Life) -> bool:
        return life.touched + self.ttl.length <= self.time
