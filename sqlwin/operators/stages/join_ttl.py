"""A join whose rows have a TTL: each row of a side that has one is forgotten by itself, of a
join of sessions all rows and sessions of a session key.

What was emitted of a row stays: nothing is retracted, no match it had is taken back, and
a row of the other side that it matched is not padded for its sake. What waits to be emitted
of it, and the revisions of what was, go with it. Should it come again, by its position, it
is a new row, and what it makes is `+I`, revision 0. The result of an ASOF join is that of its
left row, whatever becomes of the right one; see `nearest`.

| store                       | goes with                               |
|-----------------------------|-----------------------------------------|
| `left`, `left_known`, `left_sessions` | the left row, or its session key; they are of `TtlStore` |
| `right`, `right_known`, `right_sessions` | the right one                |
| `pending`, `revisions`      | either, of those that have a TTL; of `PairStore` |
| `left_ttl_entries`, `right_ttl_entries` | TTL entries of the rows of a side |

Invariant: a row of a side with a TTL, or its key, has a life as long as anything is known of it.

Worked example, LEFT, TTL of the left 1 hour, of the right 2: a left row of 9:00 was emitted with a
right one of 9:30. At 10:00 the left one is forgotten; another right row of its keys
finds nothing. At 10:40 a left row comes, and is emitted with the right one of 9:30.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import polars as pl

from sqlwin.instants import SECOND
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.joins.asof.operator import AsOfJoin
from sqlwin.operators.joins.operator import WindowJoin
from sqlwin.operators.joins.pairing import marked
from sqlwin.operators.joins.sessions.sides import SessionSide
from sqlwin.operators.joins.sides import Columns, Side
from sqlwin.operators.load import NOT_ESTIMATED, Expected, Load, Records, least
from sqlwin.operators.stages.ttl_stage import TtlStage
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.policies import Ttl, TtlTime, Update
from sqlwin.schema import TS, WEIGHT
from sqlwin.state.combine import last_written
from sqlwin.state.ttl.entries import ttl_layout, ttl_store_name
from sqlwin.state.ttl.join_entries import JoinTtlEntries, sides_of
from sqlwin.state.ttl.keyed_store import TtlStore, lived
from sqlwin.state.ttl.lifetimes import Lifetimes
from sqlwin.state.ttl.pair_store import PairStore, paired


@dataclass(frozen=True)
class JoinTtl(TtlStage):
    """inner: its policy says which of its sides have a TTL."""

    inner: WindowJoin | AsOfJoin

    @property
    def within(self) -> WindowJoin | AsOfJoin:
        return self.inner

    @property
    def ttls(self) -> dict[str, Ttl]:
        """By side, of those that have one."""
        return self.inner.policy.ttls

    @property
    def sides(self) -> dict[str, Side]:
        return {side.name: side for side in (self.inner.left, self.inner.right)}

    def keys(self, side: str) -> Columns:
        """By which the TTL entries of a side know its rows."""
        own = self.sides[side]
        names = own.partition if isinstance(own, SessionSide) else own.identity
        return {name: own.row[name] for name in names}

    @property
    def marks(self) -> dict[str, dict[str, str]]:
        """Of each side, what pairs call the keys of its TTL entries."""
        return {side: {key: marked(self.sides[side]).get(key, key) for key in self.keys(side)}
                for side in self.ttls}  # fmt: skip

    @property
    def there(self) -> dict[str, str]:
        """Of each side, what is NULL in a pair without a row of it."""
        return {side: marked(self.sides[side])[TS] for side in self.ttls}

    def stores(self) -> list[StoreSpec]:
        """With the TTL entries of each side that has a TTL."""
        own = [self._lived(spec) for spec in self.inner.stores()]
        return [*own, *(self._entries(side) for side in self.ttls)]

    def _lived(self, spec: StoreSpec) -> StoreSpec:
        if spec.ttl == "pair":
            known = set(spec.layout.schema)  # rows of a SEMI join have none of the right
            sides = [side for side, names in self.marks.items() if set(names.values()) <= known]
            expected = self._expected(spec, sides)
            return spec.on(paired(spec.layout, sides), expected=expected) if sides else spec
        if spec.ttl not in self.ttls:
            return spec.on(spec.layout, ttl=None)
        return spec.on(lived(spec.layout), expected=self._expected(spec, [spec.ttl]))

    def _entries(self, side: str) -> StoreSpec:
        layout = ttl_layout(self.keys(side), ttl_store_name(side))
        words = f"TTL entries of {side} rows"
        expected = partial(outlived, self.ttls[side])
        return StoreSpec(layout, last_written(layout), words, expected, ttl=None)

    def _expected(self, spec: StoreSpec, sides: Sequence[str]) -> Expected:
        """Those that are retained, and no more than those whose TTL has not expired."""
        return lambda load: least(
            spec.expected(load), *(outlived(self.ttls[side], load) for side in sides)
        )

    def open_ttl(self, stores: Stores, saved: Any, run: str | None) -> None:
        """As of `Expiring`."""
        known = saved or {}
        sides = {
            side: Lifetimes(ttl, stores[ttl_store_name(side)], known.get(side), run)
            for side, ttl in self.ttls.items()
        }
        stores.sides = JoinTtlEntries(sides, self.marks, self.there)
        for spec in self.stores():
            inner = stores[spec.name]
            if spec.ttl == "pair" and sides_of(inner.layout.keys):
                stores.named[spec.name] = PairStore(inner, stores.sides)
            elif spec.ttl in sides:
                entries = sides[spec.ttl]
                stores.named[spec.name] = TtlStore(inner, entries, renews=spec.renews)

    def prepare(self, rows: pl.DataFrame, side: int) -> pl.DataFrame:
        return self.inner.prepare(rows, side)

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        self.begun(stores, now)
        assert stores.sides is not None
        batch = {"left": left, "right": right}
        stores.sides.accessed(batch)
        out = self.inner.on_batch(left, right, stores, now)
        stores.sides.taken({side: self._there(side, rows) for side, rows in batch.items()})
        return self.having_read(out, stores)

    def read(self, emitted: pl.DataFrame, stores: Stores) -> None:
        """What matched was noted in the call, with what was emitted."""
        assert stores.sides is not None
        stores.sides.read()

    def reached(self, stores: Stores) -> int:
        """As of `WindowJoin`, which it is of then."""
        assert isinstance(self.inner, WindowJoin)
        return self.inner.reached(stores)

    def horizons(self, stores: Stores, side: int = 0) -> pl.DataFrame:
        return self.inner.horizons(stores, side)

    def _there(self, side: str, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of a batch that are there after it."""
        if WEIGHT not in rows.columns:
            return rows
        last = rows.unique(list(self.sides[side].identity), keep="last", maintain_order=True)
        return last.filter(pl.col(WEIGHT) > 0)


def outlived(ttl: Ttl, load: Load) -> Records:
    """Rows of a TTL and, until compaction is due, of a quarter of it."""
    cleaned = ttl.cleanup.compaction or ttl.cleanup.timers
    if ttl.update is Update.READ or ttl.time is TtlTime.EVENT or not cleaned:
        return NOT_ESTIMATED
    return load.rate * ttl.length * 1.25 / SECOND
