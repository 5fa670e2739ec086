"""A changelog by definition: what is true, what was emitted of it, and what waits to be emitted.

Each row_key has values or none. A change is emitted when it is due: then what is true is
compared with what was emitted last. Nothing of it goes out where that is the same again.

| emitted | true   | goes out                                                |
|---------|--------|---------------------------------------------------------|
| none    | values | `+I`, revision one more, 0 for the first                |
| values  | none   | `-D`, revision one more                                 |
| values  | others | `+U`, revision one more, below a `-U` where retractions are wanted |

EARLY EVERY n ROWS: what is on time waits until n results with the same values of `keys` do, or
the watermark, `closed`, has passed the rows of its own.

What goes out together: retractions first, then the rest, each by `order`.

>>> log = Changelog(Policy(retain=None, late=Late.NEVER))
>>> log.change("a", {"x": 1}, "full", due=3); log.change("b", {"x": 2}, "late", due=None)
>>> log.go(2), [tuple(record.values()) for record in log.go(3)], list(log.true)
([], [(1, '+I', 'full', 0, 'a')], ['a'])
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlwin.instants import END, START
from sqlwin.policies import Early, Late, Policy, end_of_period
from sqlwin.schema import EMIT, OP, REVISION, ROW_KEY
from tests.reference.definitions.values import json_array
from tests.reference.definitions.window import comparable

Values = dict[str, Any]
Order = tuple[Any, ...]


@dataclass(frozen=True)
class Due:
    """When a change that comes now goes out; None: never."""

    early: int
    late: int | None


NEVER = END - 1
"""When what waits for rows is due by the clock."""


@dataclass
class Changelog:
    """emitted: of each row_key the revision, and the values unless they were retracted.

    keys: names of equal columns, of the left and the right. dated: rows have a time, the first
    of an order."""

    policy: Policy
    update_before: bool = False
    keys: tuple[tuple[str, str], ...] = ()
    dated: bool = False
    true: dict[str, Values] = field(default_factory=dict)
    emitted: dict[str, tuple[int, Values | None]] = field(default_factory=dict)
    waiting: dict[str, tuple[int, str]] = field(default_factory=dict)
    orders: dict[str, Order] = field(default_factory=dict)

    def due(self, now: int) -> Due:
        """Periods end at multiples of them."""
        policy = self.policy
        early = end_of_period(now, policy.early_period) if policy.early is Early.EVERY else now
        early = NEVER if policy.early is Early.ROWS else early
        late = end_of_period(now, policy.late_period) if policy.late is Late.EVERY else now
        return Due(early, None if policy.late is Late.NEVER else late)

    def change(
        self, key: str, values: Values | None, word: str, due: int | None, order: Order = ()
    ) -> None:
        """Let `values` be true of `key`; one that is never emitted is not, unless `key` waits."""
        known = self.waiting.pop(key, None)
        if due is None and known is None:
            return
        self.orders[key] = order
        self.true.pop(key, None)
        if values is not None:
            self.true[key] = values
        if not _same(self.emitted.get(key, (-1, None))[1], values):
            times = [time for time in (due, known and known[0]) if time is not None]
            self.waiting[key] = (min(times), word)

    def go(self, now: int = END, closed: int = START, silent: bool = False) -> list[Values]:
        """Emissions of what is due by now; silent: of what waits for rows, too."""
        passed = {key for key in self.waiting if self.dated and self.orders[key][0] < closed}
        rows = {key for key, (due, _) in self.waiting.items() if due == NEVER}
        counted = self._counted() | (rows if silent else rows & passed)
        keys = [key for key, (due, _) in self.waiting.items() if due <= now or key in counted]
        keys.sort(key=lambda key: (key in self.true, self.orders[key]))
        return [record for key in keys for record in self._emitted(key)]

    def _counted(self) -> set[str]:
        """The row_keys that are on time and wait, with n or more of their equal columns."""
        found: dict[str, set[str]] = {}
        for key, (_, word) in self.waiting.items():
            if word != "late":
                found.setdefault(self._equal(key), set()).add(key)
        n = self.policy.early_rows
        return {key for keys in found.values() if n and len(keys) >= n for key in keys}

    def _equal(self, key: str) -> str:
        values = self.true.get(key) or self.emitted[key][1]
        assert values is not None
        pairs = [(values[left], values.get(right)) for left, right in self.keys]
        return json_array([right if left is None else left for left, right in pairs])

    def forget(self, key: str) -> None:
        """As if nothing had ever been true of it."""
        self.true.pop(key, None)
        self.emitted.pop(key, None)
        self.waiting.pop(key, None)
        self.orders.pop(key, None)

    @property
    def deadline(self) -> int | None:
        times = (due for due, _ in self.waiting.values())
        return min((due for due in times if due < NEVER), default=None)

    def _emitted(self, key: str) -> list[Values]:
        _, word = self.waiting.pop(key)
        revision, old = self.emitted.get(key, (-1, None))
        new = self.true.get(key)
        self.emitted[key] = (revision + 1, new)
        if old is None or new is None:
            values, op = (new, "+I") if new is not None else (old, "-D")
            assert values is not None
            return [_record(values, op, word, revision + 1, key)]
        update = _record(new, "+U", word, revision + 1, key)
        return [_record(old, "-U", word, revision, key), update] if self.update_before else [update]


def _record(values: Values, op: str, word: str, revision: int, key: str) -> Values:
    return {**values, OP: op, EMIT: word, REVISION: revision, ROW_KEY: key}


def _same(one: Values | None, other: Values | None) -> bool:
    if one is None or other is None:
        return one is other
    return comparable(one) == comparable(other)
