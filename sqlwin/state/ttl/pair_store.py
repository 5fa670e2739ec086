"""A store of records about pairs of rows of a join: a record expires with either row.

The inner store has the number of the TTL entry of each row whose side has a TTL,
`__left_life` and `__right_life`; a record without a row of a side has `NOBODY` there,
which never expires. A record of an expired row is not stored.

>>> from sqlwin.instants import DAY, END, START
>>> from sqlwin.policies import Ttl
>>> from sqlwin.state.combine import last_written
>>> from sqlwin.state.ttl.entries import ttl_layout
>>> from sqlwin.state.stores.memory import MemoryStore
>>> known = ttl_layout({"__ts": pl.Int64()})
>>> ttl = Lifetimes(Ttl(7 * DAY), MemoryStore(known, last_written(known)))
>>> layout = Layout("revisions", (("t", pl.Int64()), ("__left.__ts", pl.Int64())), (), ("t",), DAY)
>>> inner = paired(layout, ["left"])
>>> place = {"left": "__left.__ts"}
>>> sides = JoinTtlEntries({"left": ttl}, {"left": {"__ts": place["left"]}}, place)
>>> store = PairStore(MemoryStore(inner, last_written(inner)), sides)
>>> row = pl.DataFrame({"__ts": [5]})
>>> rows = pl.DataFrame({"t": [1, 2, 3], "__left.__ts": [5, 6, None]})
>>> ttl.begin(now=0, watermark=0); ttl.accessed(row); _ = ttl.assigned(row); ttl.taken()
>>> store.put(rows); store.scan(START, END).rows()
[(1, 5), (3, None)]
>>> sides.at(now=7 * DAY, watermark=0); store.scan(START, END).rows(), len(store.inner)
([(3, None)], 2)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.state.contract import Layout, Store
from sqlwin.state.records import accept, without
from sqlwin.state.ttl.base import TtlStoreBase
from sqlwin.state.ttl.entries import LIFE
from sqlwin.state.ttl.join_entries import JoinTtlEntries, life_of, sides_of
from sqlwin.state.ttl.lifetimes import Lifetimes

NOBODY = -1


def paired(layout: Layout, sides: Iterable[str]) -> Layout:
    """The layout of the inner store. sides: those that have a TTL."""
    lifetimes = [life_of(side) for side in sides]
    columns = (*layout.columns, *((name, pl.Int64()) for name in lifetimes))
    return replace(layout, columns=columns, keys=(*layout.keys, *lifetimes))


class PairStore(TtlStoreBase):
    """A `Store` as the operator knows it. inner: a store of `paired` of its layout.

    Records have the columns that `lifetimes.marks` names.
    """

    def __init__(self, inner: Store, lifetimes: JoinTtlEntries) -> None:
        sides = sides_of(inner.layout.keys)
        super().__init__(inner, [life_of(side) for side in sides])
        self.lifetimes, self.sides = lifetimes, {side: lifetimes.sides[side] for side in sides}
        for side, each in self.sides.items():
            each.cleanup.of.append(_OfSide(self.inner, life_of(side)))

    def put(self, records: pl.DataFrame) -> None:
        if records.is_empty():
            return
        known = accept(self.layout, records)
        for side, lifetimes in self.sides.items():
            known = self._assigned(known, side, lifetimes)
        self.inner.put(known)

    def _assigned(self, records: pl.DataFrame, side: str, lifetimes: Lifetimes) -> pl.DataFrame:
        marks, life = self.lifetimes.marks[side], life_of(side)
        there = pl.col(self.lifetimes.there[side]).is_not_null()
        of_rows = records.filter(there).with_columns(
            pl.col(mark).alias(key) for key, mark in marks.items() if key in lifetimes.keys
        )
        live = lifetimes.with_life(of_rows).rename({LIFE: life}).select(*records.columns, life)
        nobody = records.filter(~there).with_columns(pl.lit(NOBODY, pl.Int64).alias(life))
        return pl.concat([live, nobody])

    def scan(self, lo: int, hi: int, keys: pl.DataFrame | None = None) -> pl.DataFrame:
        found = self.inner.scan(lo, hi, keys)
        hidden = [each.hidden().rename({LIFE: life_of(side)}) for side, each in self.sides.items()]
        return without(found, hidden)[self.layout.schema.names()]

    def _check(self) -> None:
        self.inner._check()
        held = self.inner.scan(START, END)
        for side, each in self.sides.items():
            lifetimes = {*each.entries.all()[LIFE], NOBODY}
            assert set(held[life_of(side)]) <= lifetimes, (self.layout.name, side, lifetimes)


@dataclass(frozen=True)
class _OfSide:
    """The inner store, as the TTL entries of one side erase from it."""

    inner: Store
    life: str

    def erase(self, gone: pl.DataFrame) -> None:
        self.inner.erase(gone.rename({LIFE: self.life}))
