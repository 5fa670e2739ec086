"""A window by itself, by definition: after each step, which rows have entered and which have left.

With `instants` all rows that are there are emitted at each instant at which one enters or leaves.

In RANGE a row is there from the first instant of the relation that holds it to the last: instants
are all, or the multiples of a slide. In ROWS rows enter one by one, and the last n of a partition
are there. Every row ever taken is kept.

Worked example, [RANGE 2], rows of 5 and 6: at the watermark 7 both are there, at 8 the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

import polars as pl

from sqlwin.instants import END, format_instant
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.polars_frames import empty
from sqlwin.schema import EMIT, OP, PART, POSITION, REVISION, ROW_KEY, SEQ, TS
from tests.reference.definitions.values import json_array
from tests.reference.definitions.window import key_text
from tests.reference.kernels.rows import Row

Change = tuple[tuple[int, ...], str, Row]
"""When it happens, for the order of emissions; `+I` or `-D`."""


@dataclass(frozen=True)
class Moving:
    """`S [RANGE length]`, `S [RANGE length SLIDE slide]`. until: the column of the first instant at
    which a row is not there, in microseconds, of rows that know it themselves."""

    length: int
    slide: int | None
    until: str | None = None

    def enters(self, row: Row) -> int:
        return self._next(row[TS])

    def leaves(self, row: Row) -> int:
        """The first instant at which it is not there."""
        if self.until is not None:
            return int(row[self.until])
        return self._next(row[TS] + self.length + (self.slide is None))

    def _next(self, instant: int) -> int:
        """`instant` itself or, where the relation slides, the first slide after it."""
        if self.slide is None:
            return instant
        return next(
            at for at in range(instant // self.slide * self.slide, END, self.slide) if instant < at
        )


@dataclass(frozen=True)
class Last:
    """`S [PARTITION BY partition ROWS size]`. timed: by event time, else as rows come."""

    size: int
    partition: tuple[str, ...]
    timed: bool


@dataclass
class ReferenceRelation:
    """in_: positions of rows that are there; entered, left: of those that ever did."""

    stream: str
    carried: dict[str, pl.DataType]
    window: Moving | Last
    instants: bool = False
    instant: str | None = None
    taken: list[Row] = field(default_factory=list)
    entered: set[tuple[int, int]] = field(default_factory=set)
    left: set[tuple[int, int]] = field(default_factory=set)
    known: set[tuple[object, ...]] = field(default_factory=set)

    def stores(self) -> list[StoreSpec]:
        return []

    @property
    def output(self) -> dict[str, pl.DataType]:
        timed = isinstance(self.window, Moving)
        type_ = pl.Datetime("us", "UTC") if timed else pl.Int64()
        named = {} if self.instant is None else {self.instant: type_}
        return {**self.carried, **named}

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.select(*self.carried, *POSITION)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        known = {_at(row) for row in self.taken}
        self.taken += [row for row in batch.to_dicts() if _at(row) not in known]
        return self._emitted(stores.watermark, stores.watermark)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        stores.watermark = max(watermark, stores.watermark)
        return self._emitted(stores.watermark, None)

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        return self.nothing()

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        out = self._emitted(END, None)
        if self.instants and isinstance(self.window, Moving):
            self.taken = []
        return out

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return pl.DataFrame()

    def next_deadline(self, stores: Stores) -> int | None:
        return None

    def nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})

    def _emitted(self, now: int, late: int | None) -> pl.DataFrame:
        """What has changed at the instant `now`. late: older rows came late; None: none came."""
        window = self.window
        if self.instants:
            return self._at_instants(now, late)
        found = self._moved(window, now) if isinstance(window, Moving) else self._last(window, now)
        records = []
        for _, op, row in sorted(found, key=lambda change: change[:2]):
            came_late = late is not None and self._late(row, late)
            records.append(self._record(op, row, "late" if came_late else "full"))
        return pl.DataFrame(records, schema=self.nothing().schema, orient="row")

    def _at_instants(self, now: int, late: int | None) -> pl.DataFrame:
        window = self.window
        if isinstance(window, Last):
            came_late = late is not None and window.timed
            held = self._held_last(window, now, "late" if came_late else "full")
        else:
            held = self._held(window, now, late)
        return pl.DataFrame(list(held), schema=self.nothing().schema, orient="row")

    def _held(self, window: Moving, now: int, late: int | None) -> Iterator[Row]:
        """At each instant of change up to now the rows that are there and were not emitted."""
        instants = {at(row) for row in self.taken for at in (window.enters, window.leaves)}
        for instant in sorted(at for at in instants if at <= now):
            word = "late" if late is not None and instant < late else "full"
            for row in sorted(self.taken, key=_order):
                known = (*_at(row), instant)
                there = window.enters(row) <= instant < window.leaves(row)
                if there and known not in self.known:
                    self.known.add(known)
                    yield self._there(self._at(row, instant), word, [format_instant(instant)])

    def _at(self, row: Row, instant: int) -> Row:
        """With the instant at which it is there."""
        at = datetime.fromtimestamp(0, timezone.utc) + timedelta(microseconds=instant)
        return row if self.instant is None else {**row, self.instant: at}

    def _held_last(self, window: Last, now: int, word: str) -> Iterator[Row]:
        """After each row that enters, and stays."""
        new = [row for row in self.taken if _at(row) not in self.entered]
        for row in sorted(new, key=_order):
            if window.timed and row[TS] > now:
                continue
            self.entered.add(_at(row))
            self.left |= {_at(gone) for gone in self._out(window, key_text(row, window.partition))}
            if _at(row) in self.left:
                continue
            for other in sorted(self.taken, key=_order):
                if _at(other) in self.entered - self.left:
                    at = {} if self.instant is None else {self.instant: row[SEQ]}
                    yield self._there({**other, **at}, word, list(_at(row)))

    def _there(self, row: Row, word: str, instant: list[object]) -> Row:
        values = {name: row[name] for name in self.output}
        row_key = json_array([self.stream, row[PART], row[SEQ], *instant])
        return {**values, OP: "+I", EMIT: word, REVISION: 0, ROW_KEY: row_key}

    def _late(self, row: Row, watermark: int) -> bool:
        """Of a row that enters as it comes, or that leaves for one."""
        return row[TS] < watermark if isinstance(self.window, Moving) else self.window.timed

    def _moved(self, window: Moving, now: int) -> Iterator[Change]:
        for row in self.taken:
            at = _at(row)
            if window.enters(row) <= now and at not in self.entered:
                self.entered.add(at)
                yield (window.enters(row), *_order(row)), "+I", row
            if window.leaves(row) <= now and at not in self.left:
                self.left.add(at)
                yield (window.leaves(row), *_order(row)), "-D", row

    def _last(self, window: Last, now: int) -> Iterator[Change]:
        """Rows enter in their order; after each the last n of its partition are there."""
        new = [row for row in self.taken if _at(row) not in self.entered]
        for row in sorted(new, key=_order):
            if window.timed and row[TS] > now:
                continue
            self.entered.add(_at(row))
            yield _order(row), "+I", row
            for gone in self._out(window, key_text(row, window.partition)):
                self.left.add(_at(gone))
                yield _order(row), "-D", gone

    def _out(self, window: Last, key: str) -> Iterable[Row]:
        there = [row for row in self.taken if _at(row) in self.entered - self.left]
        own = [row for row in there if key_text(row, window.partition) == key]
        return sorted(own, key=_order)[: -window.size]

    def _record(self, op: str, row: Row, word: str) -> Row:
        values = {name: row[name] for name in self.carried}
        row_key = json_array([self.stream, row[PART], row[SEQ]])
        revision = 0 if op == "+I" else 1
        return {**values, OP: op, EMIT: word, REVISION: revision, ROW_KEY: row_key}


def _at(row: Row) -> tuple[int, int]:
    return row[PART], row[SEQ]


def _order(row: Row) -> tuple[int, int, int]:
    return row[TS], row[PART], row[SEQ]
