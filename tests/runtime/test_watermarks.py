"""Watermarks of partitions, some of them idle, against their definition."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import START
from sqlwin.runtime.inputs.watermarks import Watermarks

Batch = tuple[int, dict[int, int]]
"""How long after the one before, and the greatest event time of each partition."""

BATCHES = st.lists(
    st.tuples(
        st.integers(0, 20),
        st.dictionaries(st.integers(0, 3), st.integers(0, 100), max_size=4),
    ),
    max_size=12,
)


def by_definition(batches: list[Batch], timeout: int) -> list[int]:
    found, reached, now = [], START, 0
    greatest: dict[int, int] = {}
    last: dict[int, int] = {}
    for after, marks in batches:
        now += after
        for part, ts in marks.items():
            greatest[part], last[part] = max(ts, greatest.get(part, START)), now
        awake = [greatest[part] for part in last if now - last[part] < timeout]
        least = min(awake) if awake else max(greatest.values(), default=START)
        reached = max(reached, least)
        found.append(reached)
    return found


@given(BATCHES, st.integers(1, 40), st.integers(0, 12))
def test_idle_partitions_are_passed_over(batches: list[Batch], timeout: int, cut: int) -> None:
    """Also where the run is restarted before a batch."""
    clock, found, now = Watermarks({"s": 0}, {"s": timeout}), [], 0
    for at, (after, marks) in enumerate(batches):
        now += after
        if at == cut:
            saved = json.loads(json.dumps(clock.to_json()))
            clock = Watermarks({"s": 0}, {"s": timeout})
            clock.restore(saved)
        clock.observe("s", marks, now)
        clock.pass_time(now)
        found.append(clock.of("s"))
    assert found == by_definition(batches, timeout)


@given(BATCHES, st.integers(1, 40))
def test_the_deadline_is_when_the_watermark_rises_next(batches: list[Batch], timeout: int) -> None:
    clock, now = Watermarks({"s": 0}, {"s": timeout}), 0
    for after, marks in batches:
        now += after
        clock.observe("s", marks, now)
        clock.pass_time(now)
    before = clock.of("s")
    rises = []
    for at in range(now + 1, now + timeout + 1):
        again = Watermarks({"s": 0}, {"s": timeout})
        again.restore(json.loads(json.dumps(clock.to_json())))
        again.pass_time(at)
        rises += [at] if again.of("s") > before else []
    assert clock.deadline() == next(iter(rises), None)


def test_a_timeout_that_comes_later_begins_then() -> None:
    clock = Watermarks({"s": 0})
    clock.observe("s", {0: 5, 1: 9}, now=100)
    later = Watermarks({"s": 0}, {"s": 10})
    later.restore(json.loads(json.dumps(clock.to_json())))
    later.observe("s", {1: 11}, now=200)
    later.pass_time(200)
    assert (later.of("s"), later.deadline()) == (5, 210)
    later.pass_time(210)
    assert later.of("s") == 11
