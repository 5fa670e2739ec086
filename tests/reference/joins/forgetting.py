"""A TTL of joins by definition: before each step, the rows that have no life are forgotten.

Each row of a side that has a TTL has its own life, by the rules of `lifetimes`:

- it is *written* when it comes, is replaced or retracted, or comes again as it was;
- it is *read* when a match of it is found or taken back, and when a result is emitted that it
  is in.

A row that is forgotten is out of its side, and of the changelog all is that it is in: what
is true of it, what was emitted, what waits. The rows that it matched have had their match:
for them a row stands in its place that is nowhere.

Worked example, LEFT, TTL 1 hour: left and right of 9:00 are emitted as a pair. At 10:00 both
are forgotten; a right row finds nothing. The left one comes again: it is emitted anew, `+I`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from sqlwin.instants import START
from sqlwin.operators.contract import Stores
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.policies import Ttl
from sqlwin.schema import ROW_KEY, TS, WEIGHT
from tests.reference.definitions.lifetimes import Lifetimes
from tests.reference.definitions.window import key_text
from tests.reference.joins.asof import ReferenceAsOf
from tests.reference.joins.join_sides import Ident, Side, ident
from tests.reference.joins.joins import LEFT, RIGHT, Pairs, ReferenceJoin, same
from tests.reference.joins.session_joins import ReferenceSessionJoin
from tests.reference.kernels.rows import Row

SIDES = ("left", "right")
Gone = Callable[[int, Ident], bool]


@dataclass
class ForgettingJoin:
    """inner: its policy says which of its sides have a TTL, and which. nowhere: how many rows
    stand for forgotten ones.
    """

    inner: ReferenceJoin
    nowhere: int = 0
    begun: bool = False
    before: Pairs = field(default_factory=dict)
    known: dict[int, Lifetimes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ttls: Mapping[str, Ttl] = self.inner.policy.ttls
        self.known = {n: Lifetimes(ttls[side]) for n, side in enumerate(SIDES) if side in ttls}
        for n in self.known:
            self._side(n).forgets = True

    def stores(self) -> list[StoreSpec]:
        return []

    def prepare(self, rows: pl.DataFrame, side: int) -> pl.DataFrame:
        return self.inner.prepare(rows, side)

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        self._begin(now, stores)
        rows = left.to_dicts(), right.to_dicts()
        for n, lifetimes in self.known.items():
            lifetimes.look(self._entries(n, rows[n], rows[1 - n]))
        self._forget()
        were = {n: set(self._side(n).kept) for n in self.known}
        out = self.inner.on_batch(left, right, stores, now)
        for n in self.known:
            self._renew(n, rows[n], were[n])
        return self._emitted(out)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        self._begin(now, stores)
        return self._emitted(self.inner.on_watermark(watermark, stores, now))

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        out = self._emitted(self.inner.on_tick(now, stores))
        self._at(now, stores)
        self.begun = False
        return out

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        return self._emitted(self.inner.on_end(stores, now))

    def horizons(self, stores: Stores, side: int = 0) -> pl.DataFrame:
        return self.inner.horizons(stores, side)

    def next_deadline(self, stores: Stores) -> int | None:
        times = [self.inner.next_deadline(stores), *(each.deadline for each in self.known.values())]
        return min((time for time in times if time is not None), default=None)

    # Lifetimes.

    def _begin(self, now: int, stores: Stores) -> None:
        if not self.begun:
            self.begun = True
            self._at(now, stores)
            for lifetimes in self.known.values():
                lifetimes.compact()
            self._forget()

    def _at(self, now: int, stores: Stores) -> None:
        for lifetimes in self.known.values():
            lifetimes.at(now, stores.watermark)
            lifetimes.clean_by_timers()
        self._forget()

    def _life(self, n: int, at: Ident) -> Hashable:
        """Whose life a row of a side goes with."""
        return at

    def _own(self, n: int, row: Row) -> Hashable:
        """Whose life a row that comes goes with."""
        return ident(row)

    def _entries(self, n: int, own: Sequence[Row], other: Sequence[Row]) -> int:
        """How many entries incremental cleanup looks at: a row accesses the rows of both sides."""
        cleanup = self.known[n].ttl.cleanup
        keys = len({self._own(n, row) for row in own})
        each = len(own) + len(other) if cleanup.each_record else 0
        return cleanup.incremental * (keys + len(other) + each)

    def _renew(self, n: int, rows: Sequence[Row], were: set[Ident]) -> None:
        """Rows of a batch, in their order; were: those there before it."""
        lifetimes, at = self.known[n], self._side(n).at
        last = {ident(row): row for row in rows}
        for key, row in sorted(last.items(), key=lambda item: (item[1][at], item[0])):
            there = key in were or row.get(WEIGHT, 1) > 0
            (lifetimes.write if there else lifetimes.read)(key, lifetimes.stamp(row[TS]))

    def _find(self, pairs: Iterable[tuple[Ident | None, Ident | None]]) -> None:
        for pair in pairs:
            for n, lifetimes in self.known.items():
                at = pair[n]
                lifetimes.read(self._life(n, at) if at else None, lifetimes.time)

    def _emitted(self, out: pl.DataFrame) -> pl.DataFrame:
        self._find(self._matched())
        orders = [self.inner.log.orders[key] for key in out[ROW_KEY].to_list()]
        self._find((order[1], order[2]) for order in orders)
        self._forget()
        return out

    # Rows.

    def _side(self, n: int) -> Side:
        return (self.inner.left, self.inner.right)[n]

    def _forget(self) -> None:
        visible = {n: lifetimes.visible() for n, lifetimes in self.known.items()}

        def gone(n: int, at: Ident) -> bool:
            return bool(at) and n in visible and self._life(n, at) not in visible[n]

        for n in self.known:
            side = self._side(n)
            side.kept = {at: row for at, row in side.kept.items() if not gone(n, at)}
        self._lose(gone)
        log = self.inner.log
        for key, (_, left, right) in list(log.orders.items()):
            if gone(LEFT, left) or gone(RIGHT, right):
                log.forget(key)

    # Matches.

    def _matched(self) -> Sequence[tuple[Ident, Ident | None]]:
        """Those found or taken back since the last call."""
        before, self.before = self.before, self.inner.pairs
        return _changed(before, self.inner.pairs)

    def _lose(self, gone: Gone) -> None:
        pairs: Pairs = {}
        for (left, right), rows in self.inner.pairs.items():
            lost = gone(LEFT, left), gone(RIGHT, right)
            if all(lost):
                continue
            here = (self._nowhere() if lost[0] else left, self._nowhere() if lost[1] else right)
            pairs[here] = rows
        self.inner.pairs = self.before = pairs

    def _nowhere(self) -> Ident:
        self.nowhere += 1
        return (START, -1, self.nowhere)


@dataclass
class ForgettingAsOf(ForgettingJoin):
    """A left row that met a right one has it for good."""

    inner: ReferenceAsOf  # type: ignore[assignment]

    def _matched(self) -> Sequence[tuple[Ident, Ident | None]]:
        found, self.inner.matched = self.inner.matched, []
        return found

    def _lose(self, gone: Gone) -> None:
        met = self.inner.met.items()
        self.inner.met = {at: row for at, row in met if not gone(LEFT, at)}


@dataclass
class ForgettingSessions(ForgettingJoin):
    """All rows of a session key have one life. of: of each row of a side, its key's text."""

    inner: ReferenceSessionJoin
    of: tuple[dict[Ident, str], dict[Ident, str]] = field(default_factory=lambda: ({}, {}))

    def _keys(self, n: int) -> tuple[str, ...]:
        return self._side(n).keys[: self.inner.session_keys]

    def _life(self, n: int, at: Ident) -> Hashable:
        return self.of[n].get(at)

    def _own(self, n: int, row: Row) -> Hashable:
        return key_text(row, self._keys(n))

    def _renew(self, n: int, rows: Sequence[Row], were: set[Ident]) -> None:
        """By their keys, in the order of these; first those that are written."""
        lifetimes, keys = self.known[n], self._keys(n)
        self.of[n].update({ident(row): key_text(row, keys) for row in rows})
        types = {key: self._side(n).columns[key] for key in keys}
        values = [{key: row[key] for key in keys} for row in rows]
        last = {ident(row): row for row in rows}.items()
        there = [row for at, row in last if at in were or row.get(WEIGHT, 1) > 0]
        written = {key_text(row, keys) for row in there}
        ordered = pl.DataFrame(values, schema=types).unique().sort(keys).to_dicts()
        texts = [key_text(row, keys) for row in ordered]
        for key in sorted(texts, key=lambda text: text not in written):
            latest = max(row[TS] for row in rows if key_text(row, keys) == key)
            (lifetimes.write if key in written else lifetimes.read)(key, lifetimes.stamp(latest))


def _changed(before: Pairs, after: Pairs) -> list[tuple[Ident, Ident]]:
    """Pairs that came or went, or of which a row was replaced."""
    return [pair for pair in {**before, **after} if not same(before.get(pair), after.get(pair))]
