"""The baseline's own logic, without Spark: the same results whatever the batches."""

from __future__ import annotations

import random
from typing import Any

import pytest

from bench.queries import OVER_MS, TUMBLE_MS
from bench.row_at_a_time import Event, Result, Sliding, Tumbling

KEY = 7
DELAY = 5_000


class Timers:
    """A handle of one key: its timers and its one value."""

    def __init__(self) -> None:
        self.due: set[int] = set()
        self.value: Any = None

    def registerTimer(self, at: int) -> None:  # noqa: N802 - Spark's name
        self.due.add(at)

    def deleteTimer(self, at: int) -> None:  # noqa: N802
        self.due.discard(at)

    def getValueState(self, *_: str) -> Timers:  # noqa: N802
        return self

    def get(self) -> Any:
        return self.value

    def update(self, value: Any) -> None:
        self.value = value

    def clear(self) -> None:
        self.value = None


def _events(count: int) -> list[Event]:
    draw = random.Random(count)
    return [
        (100_000 + at * 700 - draw.randrange(DELAY), draw.randrange(100)) for at in range(count)
    ]


def _fed(logic: Any, events: list[Event], size: int) -> list[Result]:
    timers = Timers()
    state = logic.of(timers)
    out: list[Result] = []
    watermark = 0
    for at in range(0, len(events) + size, size):
        batch = events[at : at + size]
        if batch:
            out += state.take(KEY, batch, watermark)
        while due := sorted(at for at in timers.due if at <= watermark):
            timers.due.discard(due[0])
            out += state.fire(KEY, watermark)
        seen = max((ms for ms, _ in events[: at + size]), default=0)
        watermark = seen - DELAY if at + size < len(events) else seen + 10 * TUMBLE_MS
    return sorted(out)


@pytest.mark.parametrize("size", [1, 13, 1_000])
def test_tumbling(size: int) -> None:
    events = _events(400)
    windows: dict[int, list[int]] = {}
    for ms, value in events:
        windows.setdefault(ms - ms % TUMBLE_MS, []).append(value)
    wanted = [(KEY, start, len(v), sum(v), max(v)) for start, v in windows.items()]
    assert _fed(Tumbling, events, size) == sorted(wanted)


@pytest.mark.parametrize("size", [1, 13, 1_000])
def test_sliding(size: int) -> None:
    events = _events(400)
    frames = [[v for at, v in events if ms - OVER_MS <= at <= ms] for ms, _ in events]
    wanted = [
        (KEY, ms, value, sum(frame), len(frame))
        for (ms, value), frame in zip(events, frames, strict=True)
    ]
    assert _fed(Sliding, events, size) == sorted(wanted)
