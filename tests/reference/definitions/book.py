"""What the specification of the window operators knows: its rows, its windows, what waits.

The words are those of `tests.reference.operator`: which windows are full, late, deserted,
leave retention, and what of them waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlwin.instants import START
from sqlwin.policies import Policy
from sqlwin.schema import TS
from tests.reference.definitions.emitted import Emitted
from tests.reference.definitions.horizons import Horizons
from tests.reference.definitions.sessions import replaces
from tests.reference.definitions.waiting import Waiting, together, wait_early, wait_late
from tests.reference.definitions.window import Definition, Window, key_text
from tests.reference.kernels.rows import Row


@dataclass
class Book:
    """Every row taken, the last emission of every window, and what waits.

    filled: tuple windows that were full at the last watermark. emitted: what is
    out, and what of that is no more. empty: windows whose rows were retracted, whether out or not.
    certain: where rows are numbered by event time, past how many of a bucket the watermark was.
    reached: the horizons of RETAIN n ROWS as they were at the last watermark.
    """

    definition: Definition
    taken: list[Row] = field(default_factory=list)
    windows: dict[str, Window] = field(default_factory=dict)
    closed: int = START
    filled: set[str] = field(default_factory=set)
    shown: set[str] = field(default_factory=set)
    waiting: dict[str, Waiting] = field(default_factory=dict)
    emitted: Emitted = field(default_factory=Emitted)
    empty: dict[str, Window] = field(default_factory=dict)
    certain: dict[str, int] = field(default_factory=dict)
    reached: Horizons = field(default_factory=dict)

    @property
    def policy(self) -> Policy:
        return self.definition.policy

    def full(self, window: Window) -> bool:
        """By the rows now known; a tuple window is full from that watermark."""
        if self.definition.by_count:
            return window.row_key in self.filled
        if self.definition.ordered:
            return window.last <= self.certain.get(window.bucket, 0)
        return window.full_at(self.closed)

    def late(self, window: Window) -> bool:
        return window.row_key in self.shown or self.full(window)

    def leaves(self, window: Window) -> bool:
        """Whether retention is over: no row that may still come is held by it."""
        retain = self.policy.retain
        if self.definition.ordered:
            return retain is not None and window.last <= self._before(retain)[window.bucket]
        by_time = retain is not None and window.full_at(self.closed - retain)
        floor, _ = self.reached.get(window.bucket, (START, {}))
        return by_time or window.full_at(floor)

    def missed(self, window: Window) -> bool:
        """Whether a row comes too late for it that may count in others."""
        if self.definition.ends is None or self.policy.retain is None:
            return False
        return window.full_at(self.closed - self.policy.retain)

    def known(self) -> list[Window]:
        known = {**self.empty, **self.emitted.vanished, **self.windows}
        return list(known.values())

    def certify(self) -> None:
        """What was certain stays so, though rows of it go."""
        for bucket, number in self._before(0).items():
            self.certain[bucket] = max(number, self.certain.get(bucket, 0))

    def _before(self, retain: int) -> Counter[str]:
        """How many rows of each bucket the watermark is past by more than `retain`."""
        keys, since = self.definition.buckets, self.closed - retain
        return Counter(key_text(row, keys) for row in self.taken if row[TS] < since)

    @property
    def empties(self) -> bool:
        """Whether a window may be without rows, and no other in its place."""
        return self.definition.weighted and not self.definition.sessions

    def emptied(self) -> list[Window]:
        """Those out whose rows were retracted; of a session what replaces it goes first."""
        return list(self.emitted.vanished.values()) if self.empties else []

    # Sessions whose rows are retracted.

    def deserted(self) -> list[Window]:
        """Those that have vanished, and that no open window replaces."""
        if not (self.definition.weighted and self.definition.sessions):
            return []
        still_open = [w for w in self.windows.values() if not self.late(w)]
        gone = self.emitted.vanished.values()
        return [w for w in gone if not any(replaces(each, w) for each in still_open)]

    def overdue(self) -> list[Window]:
        """Those of them that were open, are full by now, and have no time of their own."""
        waits = [w for w in self.of_waiting(self.deserted()) if self.full(w)]
        return [w for w in waits if self.waiting[w.row_key].due is None]

    # What waits.

    def touched(self, before: Window | None, window: Window) -> bool:
        """A row that became full as its followers came has changed, excluded though they are."""
        if before is None or before.frames != window.frames:
            return True
        return self.full(window) and not self.full(before)

    def fills(self, before: list[Window], window: Window) -> bool:
        """Whether it was open and is full with a late row: one that follows, or that cuts it."""
        was_open = any(not self.full(each) for each in before)
        return was_open and self.full(window) and not self.definition.by_count

    def vanish(self, gone: list[Window], now: int) -> None:
        """What waits there is handed on; one that is out and late waits as a correction too."""
        keys = [window.row_key for window in gone]
        handed = {key: self.waiting.pop(key) for key in keys if key in self.waiting}
        for key, window in self.windows.items():
            known = [handed[w.row_key] for w in gone if w.row_key in handed and replaces(window, w)]
            if known:
                self.waiting[key] = together([self.waiting.get(key, Waiting()), *known])
        for window in self.emitted.vanish(gone, self.windows):
            after = self._wait_gone(window, handed.get(window.row_key, Waiting()), now)
            if after is not None:
                self.waiting[window.row_key] = after

    def _wait_gone(self, window: Window, own: Waiting, now: int) -> Waiting | None:
        """An open one goes with what replaces it; where nothing need do so, by itself too."""
        weighted = self.definition.weighted
        if not self.late(window):
            return wait_early(self.policy, own, 1, now, again=True) if weighted else None
        if self.definition.by_count:
            return None
        return wait_late(self.policy, self.full(window) or not weighted, own, 1, now)

    def touch(self, window: Window, rows: int, now: int) -> None:
        known = self.waiting.pop(window.row_key, Waiting())
        if self.definition.by_count:
            self.shown.discard(window.row_key)
        if self.late(window):
            after = wait_late(self.policy, self.full(window), known, rows, now)
        else:
            again = window.row_key in self.emitted.last
            after = wait_early(self.policy, known, rows, now, again)
        if after is not None:
            self.waiting[window.row_key] = after

    def of_waiting(self, windows: Iterable[Window]) -> list[Window]:
        return list({w.row_key: w for w in windows if w.row_key in self.waiting}.values())

    def due(self, window: Window, now: int) -> bool:
        due = self.waiting[window.row_key].due
        return due is not None and due <= now
