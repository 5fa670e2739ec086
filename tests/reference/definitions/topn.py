"""TopN by definition: at each emission all rows so far are placed, and what changed goes out.

A row with a place up to `limit` is in. Between two emissions of a partition a row that
came in is inserted, one whose place changed updated, one that is out retracted with
its old values. No partition is ever full: every emission is `early`, as the policy says
(the binder's default is ON UPDATE); at an end of input, and when the stream was silent for
TIMEOUT, what waits goes out. But a partition all of whose rows are of one instant
(`becomes_final`) is full when that one is beyond retention: what waits goes out, and it is
forgotten.

Where rows are retracted (`weighted`), those now there are placed; one that has other values
than were shown is updated too. A row that is neither there nor shown is forgotten.

Worked example, the greatest value: 5 comes, `+I` 0. 7 comes: of 5 `-D` 1, of 7 `+I` 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.polars_frames import empty
from sqlwin.policies import Early, Policy
from sqlwin.schema import EMIT, OP, PART, POSITION, REVISION, ROW_KEY, SEQ, TS, WEIGHT, Order
from tests.reference.definitions.ranks import places
from tests.reference.definitions.retracted import acting, changed, effective, horizon
from tests.reference.definitions.values import json_array
from tests.reference.definitions.waiting import Waiting, wait_early
from tests.reference.definitions.window import by_position, key_text, position
from tests.reference.kernels.exact import ascending
from tests.reference.kernels.rows import Row

At = tuple[int, int]
Shown = dict[At, tuple[int, Row]]
"""Partition and position of a row, to its place and itself."""


@dataclass(frozen=True)
class Top:
    """Fields as of plan.nodes.TopN; carried: the input's columns."""

    stream: str
    name: str
    function: str
    partition: tuple[str, ...]
    order: tuple[Order, ...]
    limit: int
    policy: Policy
    carried: dict[str, pl.DataType]
    update_before: bool = False
    weighted: bool = False
    becomes_final: bool = False


@dataclass
class ReferenceTopN:
    """Every row taken, what was shown of each partition, the last revision of each row.

    instants: of the rows of each partition, where they have one.
    """

    top: Top
    taken: list[Row] = field(default_factory=list)
    shown: dict[str, Shown] = field(default_factory=lambda: defaultdict(dict))
    revisions: dict[tuple[str, At], int] = field(default_factory=dict)
    waiting: dict[str, Waiting] = field(default_factory=dict)
    instants: dict[str, int] = field(default_factory=dict)

    @property
    def output(self) -> dict[str, pl.DataType]:
        return {**self.top.carried, self.top.name: pl.Int64()}

    def stores(self) -> list[StoreSpec]:
        return []

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.select(*self.top.carried, *POSITION, *([WEIGHT] if self.top.weighted else []))

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        self.instants |= {self._key(row): row[TS] for row in batch.to_dicts()}
        if self.top.weighted:
            said = acting(batch.to_dicts(), self.taken, horizon(self.top.policy, stores))
            return self._change(said, now)
        known = {_at(row) for row in self.taken}
        new = {(r[PART], r[SEQ]): r for r in batch.to_dicts() if (r[PART], r[SEQ]) not in known}
        self.taken += new.values()
        came: dict[str, int] = defaultdict(int)
        for row in new.values():
            came[self._key(row)] += 1
        for key, rows in came.items():
            self._wait(key, rows, now)
        return self.nothing()

    def _change(self, batch: Sequence[Row], now: int) -> pl.DataFrame:
        gone, came = changed(batch, self.taken)
        self.taken = [row for row in self.taken if position(row) not in gone] + came
        for key, rows in Counter(map(self._key, effective(batch))).items():
            self._wait(key, rows, now)
        self._forget()
        return self.nothing()

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        stores.watermark = max(watermark, stores.watermark)
        if not self.top.becomes_final or self.top.policy.retain is None:
            return self.nothing()
        floor = stores.watermark - self.top.policy.retain
        settled = [key for key, instant in self.instants.items() if instant < floor]
        out = self._emit([key for key in self.waiting if key in settled], "full")
        self.taken = [row for row in self.taken if row[TS] >= floor]
        for key in settled:
            self.shown.pop(key, None)
            del self.instants[key]
        self._forget()
        return out

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        timeout, heard = self.top.policy.timeout, stores.last_input
        if timeout is not None and heard is not None and now >= heard + timeout:
            stores.last_input = None
            return self._emit(self.waiting)
        return self._emit(k for k, w in self.waiting.items() if w.due is not None and w.due <= now)

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        return self._emit(self.waiting)

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return pl.DataFrame()

    def next_deadline(self, stores: Stores) -> int | None:
        deadlines = [w.due for w in self.waiting.values() if w.due is not None]
        if self.top.policy.timeout is not None and stores.last_input is not None:
            deadlines.append(stores.last_input + self.top.policy.timeout)
        return min(deadlines, default=None)

    def nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})

    # The definitions.

    def _wait(self, key: str, rows: int, now: int) -> None:
        """Every row counts for ROWS n; a period runs from the first change of what is in."""
        policy, known = self.top.policy, self.waiting.get(key, Waiting())
        differs = self._differs(self.shown[key], self._inside(key))
        if policy.early is Early.ROWS or (policy.early is not None and differs):
            self.waiting[key] = wait_early(policy, known, rows, now) or known
        elif policy.early is None:
            self.waiting[key] = known

    def _inside(self, key: str) -> Shown:
        """The rows of a partition that are in, with their places."""
        rows = by_position(row for row in self.taken if self._key(row) == key)
        found = places(rows, self.top.order, self.top.function)
        placed = zip(rows, found, strict=True)
        return {_at(row): (place, row) for row, place in placed if place <= self.top.limit}

    def _differs(self, was: Shown, now: Shown) -> bool:
        return was.keys() != now.keys() or any(self._moved(was[at], now[at]) for at in was)

    def _moved(self, was: tuple[int, Row], now: tuple[int, Row]) -> bool:
        one, other = ([place, *self._values(row).values()] for place, row in (was, now))
        return [ascending(value) for value in one] != [ascending(value) for value in other]

    def _values(self, row: Row) -> Row:
        return {name: row[name] for name in self.top.carried}

    def _key(self, row: Row) -> str:
        return key_text(row, self.top.partition)

    def _forget(self) -> None:
        there = {(self._key(row), _at(row)) for row in self.taken}
        there |= {(key, at) for key, shown in self.shown.items() for at in shown}
        self.revisions = {at: n for at, n in self.revisions.items() if at in there}

    def _emit(self, keys: Iterable[str], emit: str = "early") -> pl.DataFrame:
        records = [{**each, EMIT: emit} for key in list(keys) for each in self._moves(key)]
        self._forget()
        return pl.DataFrame(records, schema=self.nothing().schema, orient="row")

    def _moves(self, key: str) -> Iterable[dict[str, Any]]:
        was, now = self.shown[key], self._inside(key)
        self.shown[key] = now
        del self.waiting[key]
        for at, (place, row) in was.items():
            if at not in now:
                yield self._record(key, row, place, "-D")
        for at, (place, row) in now.items():
            if at not in was:
                yield self._record(key, row, place, "+I")
            elif self._moved(was[at], (place, row)):
                if self.top.update_before:
                    old, before = was[at]
                    yield self._record(key, before, old, "-U")
                yield self._record(key, row, place, "+U")

    def _record(self, key: str, row: Row, place: int, op: str) -> dict[str, Any]:
        at = (key, _at(row))
        revision = self.revisions.get(at, -1) + (op != "-U")
        self.revisions[at] = revision
        values = {**self._values(row), self.top.name: place}
        row_key = json_array([self.top.stream, row[PART], row[SEQ]])
        return {**values, OP: op, REVISION: revision, ROW_KEY: row_key}


def _at(row: Row) -> At:
    return row[PART], row[SEQ]
