"""The two queries as one would write them for Spark today: a processor over rows.

Each key keeps its own state in Spark's RocksDB and closes by Spark's event-time
watermark with timers. They are written to be fast in that style: a key's rows of
a batch are folded in memory first, so each window is read and written once a
batch; instants arrive as integers; the frame slides with two pointers.

The logic is the same for both forms of the API (`Tumbling`, `Sliding`); how rows
come and go differs: pandas frames, or Rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
    ValueState,
)

from bench.queries import OVER_MS, TUMBLE_MS

Event = tuple[int, int]
"""Milliseconds and value."""
TUMBLE_OUT = "key bigint, start bigint, n bigint, total bigint, top bigint"
OVER_OUT = "key bigint, ms bigint, value bigint, total bigint, n bigint"


Result = tuple[int, ...]


@dataclass
class Tumbling:
    """windows: starts, counts, sums and greatest values of a key's open windows.

    A MapState of windows would be the obvious choice, but it costs a call to read and
    one to write for each window, and a timer each. timer: as in `Sliding`.
    """

    handle: StatefulProcessorHandle
    windows: ValueState

    @staticmethod
    def of(handle: StatefulProcessorHandle) -> Tumbling:
        arrays = ", ".join(f"{name} array<bigint>" for name in ("start", "n", "total", "top"))
        return Tumbling(handle, handle.getValueState("windows", f"{arrays}, timer bigint"))

    def take(self, key: int, events: Iterable[Event], watermark: int) -> list[Result]:
        *known, timer = self.windows.get() or ([], [], [], [], 0)
        windows = {start: values for start, *values in zip(*known, strict=True)}
        for ms, value in events:
            n, total, top = windows.get(start := ms - ms % TUMBLE_MS, (0, 0, value))
            windows[start] = [n + 1, total + value, value if value > top else top]
        ready = sorted(start for start in windows if start + TUMBLE_MS <= watermark)
        out = [(key, start, *windows.pop(start)) for start in ready]
        wanted = min(windows) + TUMBLE_MS if windows else 0
        set_timer(self.handle, timer, wanted)
        if windows:
            columns = zip(*((start, *values) for start, values in windows.items()), strict=True)
            self.windows.update((*map(list, columns), wanted))
        else:
            self.windows.clear()
        return out

    def fire(self, key: int, watermark: int) -> list[Result]:
        return self.take(key, (), watermark)


@dataclass
class Sliding:
    """history: instants and values of a key in order of time; `done`: all before is emitted.

    A ListState would be the obvious choice, but it hands its rows over one call a row;
    two arrays in one value come at once. timer: the one that is set; 0 is none.
    """

    handle: StatefulProcessorHandle
    history: ValueState

    @staticmethod
    def of(handle: StatefulProcessorHandle) -> Sliding:
        columns = "ms array<bigint>, value array<bigint>, done bigint, timer bigint"
        return Sliding(handle, handle.getValueState("history", columns))

    def take(self, key: int, events: Iterable[Event], watermark: int) -> list[Result]:
        instants, values, done, timer = self.history.get() or ([], [], 0, 0)
        rows = sorted([*zip(instants, values, strict=True), *events])
        out = list(slid(key, rows, done, watermark))
        retained = rows[bisect_left(rows, (watermark - OVER_MS,)) :]
        pending = bisect_left(retained, (watermark,))
        wanted = retained[pending][0] + 1 if pending < len(retained) else 0
        set_timer(self.handle, timer, wanted)
        if retained:
            instants, values = [row[0] for row in retained], [row[1] for row in retained]
            self.history.update((instants, values, max(done, watermark), wanted))
        else:
            self.history.clear()
        return out

    def fire(self, key: int, watermark: int) -> list[Result]:
        return self.take(key, (), watermark)


def set_timer(handle: StatefulProcessorHandle, timer: int, wanted: int) -> None:
    """A timer whose rows were emitted with others must not fire for nothing; 0 is none."""
    if timer and timer != wanted:
        handle.deleteTimer(timer)
    if wanted and timer != wanted:
        handle.registerTimer(wanted)


def slid(key: int, rows: list[Event], done: int, watermark: int) -> Iterator[Result]:
    """Results of the rows with done <= ms < watermark; rows are sorted by time.

    >>> rows = [(0, 5), (60_000, 1), (60_000, 2), (120_001, 3)]
    >>> list(slid(7, rows, done=60_000, watermark=120_002))
    [(7, 60000, 1, 8, 3), (7, 60000, 2, 8, 3), (7, 120001, 3, 6, 3)]
    """
    first, end = bisect_left(rows, (done,)), bisect_left(rows, (watermark,))
    if first == end:
        return
    lo = bisect_left(rows, (rows[first][0] - OVER_MS,))
    hi = first
    total = sum(value for _, value in rows[lo:hi])
    for ms, value in rows[first:end]:
        while hi < len(rows) and rows[hi][0] <= ms:
            total += rows[hi][1]
            hi += 1
        while rows[lo][0] < ms - OVER_MS:
            total -= rows[lo][1]
            lo += 1
        yield key, ms, value, total, hi - lo


class InPandas(StatefulProcessor):
    """For transformWithStateInPandas: a key's rows come as pandas frames, results go as one."""

    def __init__(self, logic: type[Tumbling] | type[Sliding], columns: tuple[str, ...]) -> None:
        self.logic, self.columns = logic, columns

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = self.logic.of(handle)

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        events = (
            event
            for frame in rows
            for event in zip(frame["ms"].tolist(), frame["value"].tolist(), strict=True)
        )
        return self._frames(
            self.state.take(int(key[0]), events, timerValues.getCurrentWatermarkInMs())
        )

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        watermark = timerValues.getCurrentWatermarkInMs()
        return self._frames(self.state.fire(int(key[0]), watermark))

    def close(self) -> None:
        pass

    def _frames(self, results: list[Result]) -> Iterator[pd.DataFrame]:
        if results:
            yield pd.DataFrame(results, columns=list(self.columns))


class InRows(StatefulProcessor):
    """For transformWithState: rows come and go as Rows."""

    def __init__(self, logic: type[Tumbling] | type[Sliding], columns: tuple[str, ...]) -> None:
        self.logic, self.row = logic, Row(*columns)

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = self.logic.of(handle)

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        watermark = timerValues.getCurrentWatermarkInMs()
        out = self.state.take(int(key[0]), ((row.ms, row.value) for row in rows), watermark)
        return (self.row(*values) for values in out)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803
    ) -> Iterator[Row]:
        watermark = timerValues.getCurrentWatermarkInMs()
        out = self.state.fire(int(key[0]), watermark)
        return (self.row(*values) for values in out)

    def close(self) -> None:
        pass
