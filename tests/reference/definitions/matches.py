"""MATCH_RECOGNIZE by definition: all ways to read rows as a pattern, in the order of preference.

The first way is the match. Rows below the watermark are known; an attempt that wanted a row behind
them is open until WITHIN is over, and so is all that begins behind it. What is decided goes out
`full` when the place where its partition is open has passed it; what late rows change of it, by
LATE. Under LATE NEVER what was passed is not looked at again.

Worked example, a b*? c: of rows a, b, c (which is a b, too), c the ways are a b c, a b b c; the
first is it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from sqlwin.instants import END, START
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.patterns import (
    AllRows,
    Choice,
    Excluded,
    Pattern,
    Repeat,
    Sequence,
    Skip,
    Start,
    Variable,
)
from sqlwin.plan.ir.matches import Condition, MatchAggregate, MatchRecognize, Term, type_of
from sqlwin.polars_frames import empty, polars_schema, polars_type
from sqlwin.policies import Late, end_of_period
from sqlwin.runtime.rows.scalars import evaluate
from sqlwin.schema import EMIT, OP, PART, POSITION, REVISION, ROW_KEY, SEQ, TS, WEIGHT
from tests.reference.definitions.retracted import acting, changed, horizon
from tests.reference.definitions.values import Value, json_array
from tests.reference.definitions.window import by_position, comparable, key_text, position
from tests.reference.kernels.rows import Row

Place = tuple[Any, ...]
Way = tuple[tuple[int, str, bool], ...]
"""Rows by their numbers, each with its variable, and whether an exclusion leaves it out."""
Fits = Callable[[str, int, Way], bool]
FIRST: Place = (START, -(2**31), -(2**63))


def ways(pattern: Pattern, at: int, way: Way, fits: Fits) -> Iterator[Way]:
    """All ways to go on with a pattern at row `at`, the preferred first."""
    if isinstance(pattern, Variable):
        if fits(pattern.name, at, way):
            yield (*way, (at, pattern.name, False))
    elif isinstance(pattern, Start):
        yield from (way,) * (at == 0)
    elif isinstance(pattern, Excluded):
        yield from (_left_out(begun, way) for begun in ways(pattern.part, at, way, fits))
    elif isinstance(pattern, Choice):
        for part in pattern.parts:
            yield from ways(part, at, way, fits)
    elif isinstance(pattern, Sequence):
        yield from _in_order(pattern.parts, at, way, fits)
    elif isinstance(pattern, Repeat):
        yield from _repeated(pattern, 0, at, way, fits)


def _left_out(begun: Way, way: Way) -> Way:
    """Rows behind `way` are left out of what is given."""
    return way + tuple((row, name, True) for row, name, _ in begun[len(way) :])


def _in_order(parts: tuple[Pattern, ...], at: int, way: Way, fits: Fits) -> Iterator[Way]:
    if not parts:
        yield way
        return
    for begun in ways(parts[0], at, way, fits):
        yield from _in_order(parts[1:], at + len(begun) - len(way), begun, fits)


def _repeated(repeat: Repeat, count: int, at: int, way: Way, fits: Fits) -> Iterator[Way]:
    enough = count >= repeat.least
    if enough and repeat.reluctant:
        yield way
    if repeat.most is None or count < repeat.most:
        for begun in ways(repeat.part, at, way, fits):
            if begun == way and enough:  # a round of no row is none
                continue
            yield from _repeated(repeat, count + 1, at + len(begun) - len(way), begun, fits)
    if enough and not repeat.reluctant:
        yield way


def _means(term: Term, name: str) -> bool:
    return term.variable is None or name == term.variable or name in term.members


@dataclass(frozen=True)
class Reader:
    """Rows of one partition, as far as they are known, in order."""

    node: MatchRecognize
    rows: list[Row]

    def value(self, term: Term, way: Way) -> Any:
        if isinstance(term, MatchAggregate):
            call = term.aggregate
            own = [self.rows[at] for at, name, _ in way if _means(term, name)]
            how = (call.where, call.params, call.distinct, call.order, call.limit)
            return Value(call.name, call.function, call.args, call.type, *how).of(own, "a match")
        own_rows = [at for at, name, _ in way if _means(term, name)]
        if term.column is None:
            return {at: name for at, name, _ in way}[own_rows[-1]] if own_rows else None
        ordered = own_rows if term.first else own_rows[::-1]
        at = ordered[term.offset] - term.back if term.offset < len(ordered) else -1
        return self.rows[at][term.column] if at >= 0 else None

    def lines(self, way: Way, at: int, empty: bool) -> Iterator[tuple[int, Row]]:
        """Rows of a match, by their numbers, with what is read of each. at: the row of a match
        without rows, or of none."""
        node = self.node
        for place, (row, _, hidden) in enumerate(way):
            if not hidden:
                so_far = way[: place + 1]
                read = {t.name: self.value(t, way if t.final else so_far) for t in node.measures}
                yield row, {name: self.rows[row][name] for name in node.kept} | read
        if not way:
            read = {t.name: self.value(t, way) if empty else None for t in node.measures}
            yield at, {name: self.rows[at][name] for name in node.kept} | read

    def fulfils(self, condition: Condition, way: Way) -> bool:
        types = {column.name: column.type for column in self.node.input.schema}
        schema = {t.name: polars_type(type_of(t, types)) for t in condition.terms}
        values = {t.name: [self.value(t, way)] for t in condition.terms} or {"__": [None]}
        frame = pl.DataFrame(values, schema=schema or {"__": pl.Boolean()})
        made = evaluate(frame, (("fits", condition.predicate),)).frame
        return len(made) == 1 and made["fits"][0] is True


@dataclass
class ReferenceMatches:
    """shown: by position of the first row, with ALL ROWS PER MATCH of the row, too, its revision,
    and the values that stand, None where none do. due: of what differs from it. open: of
    partitions, by their text. weighted: rows may be retracted."""

    node: MatchRecognize
    stream: str
    update_before: bool
    weighted: bool = False
    taken: list[Row] = field(default_factory=list)
    shown: dict[Place, tuple[int, Row | None]] = field(default_factory=dict)
    due: dict[Place, int] = field(default_factory=dict)
    open: dict[str, Place] = field(default_factory=dict)
    keys: dict[Place, str] = field(default_factory=dict)

    @property
    def output(self) -> dict[str, pl.DataType]:
        return polars_schema(self.node.schema)

    def stores(self) -> list[StoreSpec]:
        return []

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        own = (column.name for column in self.node.input.schema)
        return rows.select(*own, *POSITION, *([WEIGHT] if self.weighted else []))

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return pl.DataFrame()

    def nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})

    def next_deadline(self, stores: Stores) -> int | None:
        return min(self.due.values(), default=None)

    def forget(self, living: Collection[Hashable]) -> list[Row]:
        """Of partitions that are not among these, all that is known; their rows."""
        gone = [row for row in self.taken if self._key(row) not in living]
        self.taken = [row for row in self.taken if self._key(row) in living]
        self.shown = {at: was for at, was in self.shown.items() if self.keys[at] in living}
        self.due = {at: due for at, due in self.due.items() if self.keys[at] in living}
        self.open = {key: at for key, at in self.open.items() if key in living}
        return gone

    # The calls.

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        new = self._new(batch, horizon(self.node.policy, stores))
        if self._never:  # what was passed is as if it had not come
            closed = stores.watermark
            new = [row for row in new if position(row) >= self._open(self._key(row), closed)]
        self._take(new)
        touched = {
            self._key(row)
            for row in new
            if row[TS] < stores.watermark
            or position(row) < self._open(self._key(row), stores.watermark)
        }
        out: list[Row] = []
        for key in touched:
            if self.node.policy.late is not Late.NEVER:
                self._correct(key, stores, now)
            out += self._close(key, stores.watermark, stores.watermark)
        return self._emitted(out, "full")

    def _new(self, batch: pl.DataFrame, past: int) -> list[Row]:
        """The rows that change something: that retract one, or did not come before."""
        if self.weighted:
            return acting(batch.to_dicts(), self.taken, past)
        known = {(row[PART], row[SEQ]) for row in self.taken}
        came = {(row[PART], row[SEQ]): row for row in batch.to_dicts()}
        return [row for at, row in came.items() if at not in known]

    def _take(self, new: list[Row]) -> None:
        gone, came = changed(new, self.taken) if self.weighted else (set(), new)
        self.taken = [row for row in self.taken if position(row) not in gone] + came

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        if watermark <= stores.watermark:
            return self.nothing()
        closed, stores.watermark = stores.watermark, watermark
        out = [row for key in self._partitions() for row in self._close(key, closed, watermark)]
        return self._emitted(out, "full")

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        return self._late([at for at, due in self.due.items() if due <= now], stores)

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        late = self._late(list(self.due), stores)
        closed = stores.watermark
        out = [row for key in self._partitions() for row in self._close(key, closed, None)]
        return pl.concat([late, self._emitted(out, "full")])

    # What is decided.

    def _key(self, row: Row) -> str:
        return key_text(row, self.node.partition)

    def _partitions(self) -> list[str]:
        return list(dict.fromkeys(map(self._key, self.taken)))

    def _decided(self, key: str, since: Place, limit: int | None) -> tuple[dict[Place, Row], Place]:
        """Matches from a place on, by their first rows, and where the partition is open."""
        own = by_position(row for row in self.taken if self._key(row) == key)
        rows = [row for row in own if limit is None or row[TS] < limit]
        reader, found = Reader(self.node, rows), dict[Place, Row]()
        at = next((n for n, row in enumerate(rows) if position(row) >= since), len(rows))
        while at < len(rows):
            way, wanted = self._attempt(reader, at)
            within = self.node.within
            over = within is not None and limit is not None and rows[at][TS] + within < limit
            if wanted and limit is not None and not over:
                return found, position(rows[at])
            if not self._shows(way):
                at += 1
                continue
            first = position(rows[at])
            keyed: Row = {name: rows[at][name] for name in self.node.partition}
            for place, values in self._given(reader, way, at):
                found[(*first, *place)] = {**keyed, **values}
                self.keys[(*first, *place)] = key
            at = self._next(way) if way else at + 1
        return found, (END if limit is None else limit, *FIRST[1:])

    def _shows(self, way: Way | None) -> bool:
        if way:
            return True
        rows = self.node.all_rows
        return rows is AllRows.UNMATCHED or (way == () and rows is AllRows.SHOW_EMPTY)

    def _given(self, reader: Reader, way: Way | None, at: int) -> Iterator[tuple[Place, Row]]:
        """What is given of a match, with the position of the row where there is one for each."""
        if self.node.all_rows is None:
            assert way
            yield (), {term.name: reader.value(term, way) for term in self.node.measures}
        else:
            for row, values in reader.lines(way or (), at, way is not None):
                yield position(reader.rows[row]), values

    def _attempt(self, reader: Reader, start: int) -> tuple[Way | None, bool]:
        """The match that begins at a row, and whether a row was wanted that is not known."""
        wanted = [False]
        conditions = {each.variable: each for each in self.node.conditions}

        def fits(name: str, at: int, way: Way) -> bool:
            within, first = self.node.within, reader.rows[start][TS]
            if at >= len(reader.rows) or (
                within is not None and reader.rows[at][TS] - first > within
            ):
                wanted[0] = True
                return False
            condition = conditions.get(name)
            return condition is None or reader.fulfils(condition, (*way, (at, name, False)))

        way = next(ways(self.node.pattern, start, (), fits), None)
        return way, wanted[0]

    def _next(self, way: Way) -> int:
        after, (first, last) = self.node.after, (way[0][0], way[-1][0])
        if after.skip is Skip.PAST_LAST_ROW:
            return last + 1
        own = [at for at, name, _ in way if name == after.variable or name in after.members]
        if after.skip is Skip.NEXT_ROW or not own:
            return first + 1
        return max(own[0] if after.skip is Skip.FIRST else own[-1], first + 1)

    # What goes out.

    def _open(self, key: str, closed: int) -> Place:
        """One that had no row yet is open at the watermark."""
        return self.open.get(key, (closed, *FIRST[1:]))

    def _close(self, key: str, closed: int, limit: int | None) -> list[Row]:
        """Changes of what begins where the partition was open and is not any more."""
        was = self._open(key, closed)
        found, now_open = self._decided(key, was if self._never else FIRST, limit)
        self.open[key] = now_open
        return self._changes(key, found, was, now_open)

    @property
    def _never(self) -> bool:
        return self.node.policy.late is Late.NEVER

    def _changes(self, key: str, found: dict[Place, Row], lo: Place, hi: Place) -> list[Row]:
        standing = [at for at, (_, row) in self.shown.items() if row is not None]
        both = (*found, *standing)
        places = {at for at in both if lo <= at[:3] < hi and self.keys[at] == key}
        out: list[Row] = []
        for at in sorted(places):
            if self._differs(at, found.get(at)):
                out += self._change(at, found.get(at))
        return out

    def _differs(self, at: Place, row: Row | None) -> bool:
        shown = self.shown.get(at, (-1, None))[1]
        if row is None or shown is None:
            return row is not shown
        return comparable(dict(row)) != comparable(dict(shown))

    def _change(self, at: Place, row: Row | None) -> list[Row]:
        revision, shown = self.shown.get(at, (-1, None))
        self.shown[at] = (revision + 1, row)
        row_place = at[4:]
        key = {ROW_KEY: json_array([self.stream, at[1], at[2], *row_place]), "__at": at}
        if row is None:
            return [{**(shown or {}), OP: "-D", REVISION: revision + 1, **key}]
        new = {**row, OP: "+I" if shown is None else "+U", REVISION: revision + 1, **key}
        if shown is None or not self.update_before:
            return [new]
        return [{**shown, OP: "-U", REVISION: revision, **key}, new]

    def _correct(self, key: str, stores: Stores, now: int) -> None:
        """What was and is decided, and differs, is due; nothing else of the partition is."""
        found, now_open = self._decided(key, FIRST, stores.watermark)
        until = min(self._open(key, stores.watermark), now_open)
        policy = self.node.policy
        at_once = end_of_period(now, policy.late_period if policy.late is Late.EVERY else 0)
        before = {at: due for at, due in self.due.items() if self.keys[at] == key}
        self.due = {at: due for at, due in self.due.items() if self.keys[at] != key}
        for at in {*found, *(at for at in self.shown if self.keys[at] == key)}:
            if at[:3] < until and self._differs(at, found.get(at)):
                self.due[at] = min(before.get(at, at_once), at_once)

    def _late(self, places: list[Place], stores: Stores) -> pl.DataFrame:
        out: list[Row] = []
        for key in {self.keys[at] for at in places}:
            found, _ = self._decided(key, FIRST, stores.watermark)
            for at in [at for at in places if self.keys[at] == key]:
                del self.due[at]
                out += self._change(at, found.get(at))
        return self._emitted(out, "late")

    def _emitted(self, rows: list[Row], word: str) -> pl.DataFrame:
        ordered = sorted(rows, key=lambda row: row["__at"])
        records = [{**row, EMIT: word} for row in ordered]
        schema = self.nothing().schema
        return pl.DataFrame(
            [{n: r[n] for n in schema} for r in records], schema=schema, orient="row"
        )
