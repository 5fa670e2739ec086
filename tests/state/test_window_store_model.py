"""Any sequence of actions on the window store agrees with a dict that keeps everything."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from sqlwin.state.stores.window_store import Entry, InMemoryWindowStore
from tests.support.draws import one_in

pytestmark = pytest.mark.drawn

KEYS, TIMES = st.sampled_from("abc"), st.integers(-15, 25)
VALUES = st.none() | st.integers(0, 3)


class StoreMachine(RuleBasedStateMachine):
    """Against a dict that keeps everything and asks the two rules. Sizes are set by the test."""

    sizes: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.store = InMemoryWindowStore("s", **self.sizes)
        self.rows: dict[tuple[int, str], list[int]] = {}
        self.now, self.expired = -(10**9), 0

    @rule(key=KEYS, value=VALUES, time=TIMES)
    def put(self, key: str, value: int | None, time: int) -> None:
        self.now = max(self.now, time)
        writable = time > self.now - self.store.grace
        assert self.store.put(key, value, time) is writable
        if not writable:
            self.expired += 1
        elif self.store.retain_duplicates:
            self.rows.setdefault((time, key), []).extend([] if value is None else [value])
        else:
            self.rows[time, key] = [] if value is None else [value]

    def shown(self) -> list[Entry]:
        return [
            Entry(key, time, value)
            for (time, key), values in sorted(self.rows.items())
            for value in values
            if time > self.now - self.store.retention
        ]

    @rule(key=KEYS, time=TIMES)
    def fetch(self, key: str, time: int) -> None:
        values = [e.value for e in self.shown() if (e.key, e.time) == (key, time)]
        assert self.store.fetch(key, time) == (values[-1] if values else None)

    @rule(keys=st.tuples(KEYS, KEYS), lo=TIMES, hi=TIMES, backward=st.booleans())
    def ranges(self, keys: tuple[str, str], lo: int, hi: int, backward: bool) -> None:
        step = -1 if backward else 1
        timed = [e for e in self.shown() if lo <= e.time <= hi][::step]
        assert list(self.store.fetch_all(lo, hi, backward=backward)) == timed
        assert list(self.store.fetch(keys[0], lo, hi, backward=backward)) == [
            e for e in timed if e.key == keys[0]
        ]
        assert list(self.store.fetch_range(*keys, lo, hi, backward=backward)) == [
            e for e in timed if keys[0] <= e.key <= keys[1]
        ]

    @invariant()
    def agrees(self) -> None:
        self.store._check()
        assert list(self.store.all()) == self.shown()
        assert list(self.store.all(backward=True)) == self.shown()[::-1]
        assert (self.store.expired, len(self.store)) == (self.expired, len(self.shown()))


@pytest.mark.parametrize("duplicates", [False, True])
@pytest.mark.parametrize(("retention", "grace", "interval"), [(8, 4, None), (8, 8, 3), (0, 0, 1)])
def test_agrees_with_a_dict(
    retention: int, grace: int, interval: int | None, duplicates: bool
) -> None:
    sizes = {
        "retention": retention,
        "window_size": 0,
        "grace": grace,
        "segment_interval": interval,
        "retain_duplicates": duplicates,
    }
    machine = type("Machine", (StoreMachine,), {"sizes": sizes})
    run_state_machine_as_test(
        machine,
        settings=one_in(1, stateful_step_count=25, database=None),
    )
