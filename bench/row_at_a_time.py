"""The two queries as one would write them for Spark today: a processor over rows.

Each key keeps its own state in Spark's RocksDB and closes by Spark's event-time
watermark with timers. They are written to be fast in that style: a key's rows of
a batch are folded in memory first, so each window is read and written once a
batch; instants arrive as integers; the frame slides with two pointers.

The logic is the same for both forms of the API (`Tumbling`, `Sliding`); how rows
come and go differs: pandas frames, or Rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    ListState,
    MapState,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from bench.queries import OVER_MS, TUMBLE_MS

Event = tuple[int, int]
"""Milliseconds and value."""
TUMBLE_OUT = "key bigint, start bigint, n bigint, total bigint, top bigint"
OVER_OUT = "key bigint, ms bigint, value bigint, total bigint, n bigint"


@dataclass
class Tumbling:
    """windows: start to (count, sum, max)."""

    handle: StatefulProcessorHandle
    windows: MapState

    @staticmethod
    def of(handle: StatefulProcessorHandle) -> Tumbling:
        windows = handle.getMapState(
            "windows", "start bigint", "n bigint, total bigint, top bigint"
        )
        return Tumbling(handle, windows)

    def take(self, events: Iterable[Event]) -> None:
        fresh: dict[int, tuple[int, int, int]] = {}
        for ms, value in events:
            start = ms - ms % TUMBLE_MS
            n, total, top = fresh.get(start, (0, 0, value))
            fresh[start] = (n + 1, total + value, value if value > top else top)
        for start, (n, total, top) in fresh.items():
            known = self.windows.getValue((start,))
            if known is None:
                self.handle.registerTimer(start + TUMBLE_MS)
            else:
                n, total, top = n + known[0], total + known[1], max(top, known[2])
            self.windows.updateValue((start,), (n, total, top))

    def fire(self, key: int, expiry: int, watermark: int) -> list[tuple[int, ...]]:
        start = expiry - TUMBLE_MS
        n, total, top = self.windows.getValue((start,)) or (0, 0, 0)
        self.windows.removeKey((start,))
        return [(key, start, n, total, top)]


@dataclass
class Sliding:
    """rows: (ms, value, whether its result is still to come)."""

    handle: StatefulProcessorHandle
    rows: ListState

    @staticmethod
    def of(handle: StatefulProcessorHandle) -> Sliding:
        return Sliding(
            handle, handle.getListState("rows", "ms bigint, value bigint, pending boolean")
        )

    def take(self, events: Iterable[Event]) -> None:
        fresh = [(ms, value, True) for ms, value in events]
        self.rows.appendList(fresh)
        self.handle.registerTimer(min(fresh)[0] + 1)

    def fire(self, key: int, expiry: int, watermark: int) -> list[tuple[int, ...]]:
        rows = sorted(self.rows.get())
        out = list(slid(key, rows, watermark))
        if not out:  # another timer of this key was first
            return out
        kept = [
            (ms, value, pending and ms >= watermark)
            for ms, value, pending in rows
            if ms >= watermark - OVER_MS
        ]
        if kept:
            self.rows.put(kept)
        else:
            self.rows.clear()
        still = next((ms for ms, _, pending in kept if pending), None)
        if still is not None:
            self.handle.registerTimer(still + 1)
        return out


def slid(
    key: int, rows: list[tuple[int, int, bool]], watermark: int
) -> Iterator[tuple[int, ...]]:
    """Results of the pending rows before the watermark; rows are sorted by time.

    >>> rows = [(0, 5, False), (60_000, 1, True), (60_000, 2, True), (120_001, 3, True)]
    >>> list(slid(7, rows, watermark=120_002))
    [(7, 60000, 1, 8, 3), (7, 60000, 2, 8, 3), (7, 120001, 3, 6, 3)]
    """
    lo = hi = total = 0
    for ms, value, pending in rows:
        if ms >= watermark:
            return
        while hi < len(rows) and rows[hi][0] <= ms:
            total += rows[hi][1]
            hi += 1
        while rows[lo][0] < ms - OVER_MS:
            total -= rows[lo][1]
            lo += 1
        if pending:
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
        self.state.take(
            event
            for frame in rows
            for event in zip(frame["ms"].tolist(), frame["value"].tolist(), strict=True)
        )
        return iter(())

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        watermark = timerValues.getCurrentWatermarkInMs()
        out = self.state.fire(int(key[0]), expiredTimerInfo.getExpiryTimeInMs(), watermark)
        if out:
            yield pd.DataFrame(out, columns=list(self.columns))

    def close(self) -> None:
        pass


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
        self.state.take((row.ms, row.value) for row in rows)
        return iter(())

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803
    ) -> Iterator[Row]:
        watermark = timerValues.getCurrentWatermarkInMs()
        out = self.state.fire(int(key[0]), expiredTimerInfo.getExpiryTimeInMs(), watermark)
        return (self.row(*values) for values in out)

    def close(self) -> None:
        pass
