"""The specification of the window operators: keep every row, compute everything anew.

At each call all windows of all rows ever taken are computed from scratch, and
what goes out follows from four definitions:

- a time window is *full* when the watermark is at its end or past it (of an OVER
  row: past its instant), a tuple window when its partition has counted so far;
- a window that becomes full is emitted `full`;
- a window that was full already and takes in a row is *pending* from then on. It
  is emitted `late` at once (ON UPDATE), a period after it became pending (EVERY),
  before it leaves retention, at the end of input, or not at all (NEVER);
- an emission is `+I` revision 0 if its row_key was never emitted, else `+U` and
  one revision more.

State is the operator's own and does not survive it: this is for tests.

Worked example, a tumbling minute, LATE EVERY 10 s: rows at 0:10 and 1:10, then
watermark 1:00: [0:00, 1:00) goes out full, `+I` 0. A row at 0:20 comes at now = 5 s:
pending since 5 s, and at 15 s it goes out late, `+U` 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.reference import Row
from sqlwin.operators.changes import CHANGE_SCHEMA
from sqlwin.operators.contract import Stores
from sqlwin.policies import Late, Policy
from sqlwin.schema import EMIT, OP, PART, POSITION, REVISION, ROW_KEY, SEQ

NUMBER = "__number"


@dataclass(frozen=True)
class Window:
    """One window that holds a row.

    row_key: its identity. end: it is full at a watermark of `end`; of a tuple
    window, when its partition has counted to `end`. counted: how far that is.
    values: computes the output columns, and is asked only for what is emitted: a
    sum may leave its type on the way and come back. held: positions of its rows.
    """

    row_key: str
    end: int
    counted: int
    values: Callable[[], dict[str, Any]]
    held: frozenset[tuple[Any, ...]]


@dataclass(frozen=True)
class Definition:
    """Which windows a list of rows makes, and how their emissions look.

    by_count: windows measured in messages; else in event time.
    """

    windows: Callable[[list[Row]], list[Window]]
    output: dict[str, pl.DataType]
    carried: tuple[str, ...]
    policy: Policy
    by_count: bool = False
    withdraw: bool = False


@dataclass
class ReferenceOperator:
    """Every row taken, the last emission of every window, and since when each waits."""

    definition: Definition
    taken: list[Row] = field(default_factory=list)
    closed: int = START
    emitted: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)

    @property
    def output(self) -> dict[str, pl.DataType]:
        return self.definition.output

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.select(*self.definition.carried, *POSITION)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        full = self._full()
        rows = batch.sort(PART, SEQ).to_dicts()
        self.taken += rows
        if self.definition.by_count:
            return self._emit((w for key, w in self._full().items() if key not in full), "full")
        self._wait(rows, now)
        at_once = self.definition.policy.late is Late.ON_UPDATE
        return self._correct(lambda _: True) if at_once else self.nothing()

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        if self.definition.by_count or watermark <= self.closed:
            return self.nothing()
        full = self._full()
        self.closed = watermark
        closing = [w for key, w in self._full().items() if key not in full]
        return pl.concat([self._emit(closing, "full"), self._correct(self._leaves)])

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        period = self.definition.policy.late_period
        return self._correct(lambda w: self.pending[w.row_key] + period <= now)

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        corrected = self._correct(lambda _: True)
        full = self._full()
        still_open = [w for w in self._windows() if w.row_key not in full]
        return pl.concat([corrected, self._emit(still_open, "full")])

    def next_deadline(self, stores: Stores) -> int | None:
        first = min(self.pending.values(), default=None)
        return None if first is None else first + self.definition.policy.late_period

    def nothing(self) -> pl.DataFrame:
        return pl.DataFrame(schema={**self.output, **CHANGE_SCHEMA})

    # The definitions.

    def _windows(self) -> list[Window]:
        return self.definition.windows(self.taken)

    def _full(self) -> dict[str, Window]:
        """Windows that are full now, by row_key."""
        mark = self.closed
        reached = [(w, w.counted if self.definition.by_count else mark) for w in self._windows()]
        return {w.row_key: w for w, at in reached if w.end <= at}

    def _wait(self, rows: Iterable[Row], now: int) -> None:
        if self.definition.policy.late is Late.NEVER:
            return
        new = {position(row) for row in rows}
        for key, window in self._full().items():
            if window.held & new:
                self.pending.setdefault(key, now)

    def _leaves(self, window: Window) -> bool:
        """Whether retention is over: no row that may still come is held by it."""
        return window.end + self.definition.policy.retain <= min(self.closed, END)

    def _correct(self, due: Callable[[Window], bool]) -> pl.DataFrame:
        waiting = [w for w in self._windows() if w.row_key in self.pending] if self.pending else []
        chosen = [window for window in waiting if due(window)]
        for window in chosen:
            del self.pending[window.row_key]
        return self._emit(chosen, "late")

    def _emit(self, windows: Iterable[Window], emit: str) -> pl.DataFrame:
        records = [record for window in windows for record in self._changes(window, emit)]
        return pl.DataFrame(records, schema=self.nothing().schema, orient="row")

    def _changes(self, window: Window, emit: str) -> list[dict[str, Any]]:
        values = window.values()
        revision, old = self.emitted.get(window.row_key, (-1, values))
        self.emitted[window.row_key] = (revision + 1, values)
        change = {EMIT: emit, ROW_KEY: window.row_key}
        if revision < 0:
            return [{**values, OP: "+I", REVISION: 0, **change}]
        update = {**values, OP: "+U", REVISION: revision + 1, **change}
        withdrawal = {**old, OP: "-U", REVISION: revision, **change}
        return [withdrawal, update] if self.definition.withdraw else [update]


def position(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in POSITION)


def by_position(rows: Iterable[Row]) -> list[Row]:
    """Rows in the order that ties, frames and picks go by."""
    return sorted(rows, key=position)
