"""What both joins by definition share: the rows of a side, their pairs' words, what is emitted.

A row is known by its time and position; of a pair the row_key is `[left, right]`, each
`[partition, position]`, or null where a row is alone.

>>> row = {"__ts": 7, "__part": 0, "__seq": 3}
>>> ident(row), pair_key(row, None)
((7, 0, 3), '[[0,3],null]')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from sqlwin.instants import END, START
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.polars_frames import empty
from sqlwin.policies import Policy
from sqlwin.schema import PART, SEQ, TS, WEIGHT
from sqlwin.state.contract import HORIZON
from sqlwin.windows import Unit
from sqlwin.windows.joins import JoinWindow, SpannedWindow
from tests.reference.definitions.horizons import Horizons, by_bucket, floor_of
from tests.reference.definitions.values import json_array
from tests.reference.definitions.window import key_text
from tests.reference.joins.changing import Changelog, Order, Values
from tests.reference.kernels.exact import ascending
from tests.reference.kernels.rows import Row

POS, HELD = "__pos", "__held"
Ident = tuple[int, int, int]


def ident(row: Row) -> Ident:
    return (row[TS], row[PART], row[SEQ])


def place_key(row: Row) -> str:
    return json_array([row[PART], row[SEQ]])


def pair_key(left: Row | None, right: Row | None) -> str:
    sides = ("null" if row is None else place_key(row) for row in (left, right))
    return f"[{','.join(sides)}]"


def order(left: Row | None, right: Row | None) -> Order:
    """By the later time, then left, then right; what is alone on the right comes first."""
    there = [row for row in (left, right) if row is not None]
    sides = [() if row is None else ident(row) for row in (left, right)]
    return (max(row[TS] for row in there), *sides)


@dataclass
class Side:
    """columns: of its rows. keys: equal to those of the other side, one by one.

    window: how far partners are from its rows. kept: rows that may still be in a new match.
    counted: the greatest number of a message, where they are numbered. forgets: by a TTL.
    timed: rows have an event time, and go by it. reached: of keys, by their text, the greatest
    horizon that they had, with a row of them. by_time: they are numbered by it; numbers: of
    all that are there, kept or not, and of blanks, which only count. number: a column that shows
    the number of a message. Where `window` is of spans, the position of a left row is the first
    number of its span.
    """

    columns: dict[str, pl.DataType]
    keys: tuple[str, ...]
    window: JoinWindow
    kept: dict[Ident, Row] = field(default_factory=dict)
    counted: int = 0
    forgets: bool = False
    timed: bool = True
    reached: Horizons = field(default_factory=dict)
    by_time: bool = False
    numbers: dict[Ident, int] = field(default_factory=dict)
    number: str | None = None

    @property
    def at(self) -> str:
        return POS if self.window.unit is Unit.ROWS else TS

    def take(self, batch: pl.DataFrame) -> dict[Ident, Row]:
        """The rows that a batch retracts; one replaced by its equal is not.

        A position whose first row retracts one that is not there is left alone; where
        rows are forgotten, the retraction is.
        """
        before, rows = dict(self.kept), batch.to_dicts()
        if self.by_time:
            return self._order(before, rows)
        first = {ident(row): row.get(WEIGHT, 1) for row in reversed(rows)}
        for row in rows:
            if not self.forgets and ident(row) not in before and first[ident(row)] < 0:
                continue
            if row.get(WEIGHT, 1) > 0:
                self.kept[ident(row)] = row
            else:
                self.kept.pop(ident(row), None)
        self.kept |= {at: row for at, row in before.items() if self._equal(row, self.kept.get(at))}
        self.counted = max([self.counted, *(row.get(POS, 0) for row in rows)])
        return {at: row for at, row in before.items() if self.kept.get(at) is not row}

    def _order(self, before: dict[Ident, Row], rows: Sequence[Row]) -> dict[Ident, Row]:
        """The number of a row is its place in the order of all that are there."""
        for row in rows:
            at = ident(row)
            self.numbers.pop(at, None)
            self.kept.pop(at, None)
            if row.get(WEIGHT, 1) > 0:
                self.numbers[at] = 0
                self.kept |= {at: row} if row[HELD] else {}
        self.numbers = {at: number for number, at in enumerate(sorted(self.numbers), 1)}
        self.kept |= {at: r for at, r in before.items() if self._equal(r, self.kept.get(at))}
        return {at: row for at, row in before.items() if self.kept.get(at) is not row}

    def position(self, row: Row) -> int:
        """Of a row that is there."""
        if isinstance(self.window, SpannedWindow):
            return int(row[self.window.first])
        return self.numbers[ident(row)] if self.by_time else int(row[self.at])

    def numbered(self, until: int) -> int:
        """How many have a number that cannot change, if only rows from `until` on may come."""
        return sum(ts < until for ts, *_ in self.numbers) if self.by_time else self.counted

    def settled_below(self, own: int, others: int) -> int:
        """Rows at earlier numbers have one of the first `own` of their side, and their partners
        of the first `others` of the other side."""
        reach = self.window.high
        if reach is None:
            return START
        return min(own + 1 if self.by_time else END, others - reach + 1)

    def _equal(self, one: Row, other: Row | None) -> bool:
        return other is not None and all(
            ascending(one[name]) == ascending(other[name])
            for name in self.columns
            if name != self.number
        )

    def equals(self, left: Row, right: Row, other: Side, count: int | None = None) -> bool:
        """Whether a row of this side has the keys of one of the other, or their first `count`;
        NULL equals nothing."""
        keys = [(left[a], right[b]) for a, b in zip(self.keys, other.keys, strict=True)][:count]
        return all(a is not None and ascending(a) == ascending(b) for a, b in keys)

    def values(self, row: Row | None) -> Values:
        if row is not None and self.number is not None:
            row = {**row, self.number: row[POS]}
        return {name: None if row is None else row[name] for name in self.columns}

    def certain_below(self, closed: int, counted: int, policy: Policy) -> int:
        """Rows at earlier positions are certain. counted: messages of the other side."""
        reach = self.window.high
        if self.at == POS:
            return START if reach is None else counted - reach + 1
        if reach is None:
            return START if policy.retain is None or not self.timed else closed - policy.retain
        return closed - reach

    def retire(self, certain: int, policy: Policy, closed: int) -> None:
        """Forget what is certain, under RANGE for so long as RETAIN says."""
        floor, reach = certain, self.window.high
        if self.at == TS and reach is not None:
            later = certain + min(reach, 0)  # no row goes before it would be expired
            floor = START if policy.retain is None else later - policy.retain
        gone = self.outnumbered(closed)
        self.kept = {
            at: row
            for at, row in self.kept.items()
            if self.position(row) >= floor and at not in gone
        }

    def note(self, policy: Policy) -> None:
        """RETAIN n ROWS: of each key, by its text, the instant of its n-th greatest row, if it
        never was later; where rows are forgotten, of those that are there."""
        n = policy.retain_rows
        if self.forgets:
            self.reached.clear()
        for key, rows in by_bucket(self.kept.values(), self.keys).items() if n else ():
            floor = floor_of(rows, n or 1, lambda ts: ts)
            if floor > self.reached.get(key, (START, rows[0]))[0]:
                self.reached[key] = (floor, rows[0])

    def outnumbered(self, closed: int) -> set[Ident]:
        """Rows with n greater ones of their keys, once the watermark is past their windows."""
        passed = closed - max(self.window.high or 0, 0)
        least = {key: min(passed, floor) for key, (floor, _) in self.reached.items()}
        return {
            at
            for at, row in self.kept.items()
            if row[TS] < least.get(key_text(row, self.keys), START)
        }


@dataclass
class Logged:
    """An operator that tells what its changelog has; it says what TIMEOUT and the end show."""

    left: Side
    right: Side
    kind: str
    policy: Policy
    update_before: bool = False
    closed: int = START

    def __post_init__(self) -> None:
        sides = (self.left, self.right)
        self.log = Changelog(
            self.policy,
            self.update_before,
            tuple(zip(self.left.keys, self.right.keys, strict=True)),
            any(side.timed and (side.at == TS or side.by_time) for side in sides),
        )

    def stores(self) -> list[StoreSpec]:
        return []

    @property
    def output(self) -> Mapping[str, pl.DataType]:
        single = self.kind in ("semi", "anti")
        return {**self.left.columns, **({} if single else self.right.columns)}

    def prepare(self, rows: pl.DataFrame, side: int) -> pl.DataFrame:
        return rows

    def horizons(self, stores: Stores, side: int = 0) -> pl.DataFrame:
        """Of a side: its keys and `__floor`."""
        of = (self.left, self.right)[side]
        if of.forgets:
            of.note(self.policy)
        records = [
            {**{key: row[key] for key in of.keys}, HORIZON: floor}
            for floor, row in of.reached.values()
        ]
        schema = {**{key: of.columns[key] for key in of.keys}, HORIZON: pl.Int64()}
        return pl.DataFrame(records, schema=schema, orient="row")

    def show_all(self, now: int) -> None:
        raise NotImplementedError

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        timeout, heard = self.policy.timeout, stores.last_input
        if timeout is not None and heard is not None and now >= heard + timeout:
            stores.last_input = None
            self.show_all(now)
            return self.records(self.log.go(now, self.closed, silent=True))
        return self.records(self.log.go(now, self.closed))

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        self.show_all(now)
        return self.records(self.log.go())

    def next_deadline(self, stores: Stores) -> int | None:
        times = [self.log.deadline]
        if self.policy.timeout is not None and stores.last_input is not None:
            times.append(stores.last_input + self.policy.timeout)
        return min((time for time in times if time is not None), default=None)

    def joined(self, left: Row | None, right: Row | None) -> Values:
        values = self.left.values(left) | self.right.values(right)
        return {name: values[name] for name in self.output}

    def records(self, records: Iterable[Values]) -> pl.DataFrame:
        schema = empty({**self.output, **CHANGE_SCHEMA}).schema
        return pl.DataFrame(list(records), schema=schema, orient="row")
