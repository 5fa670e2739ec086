"""A store whose records expire with the TTL entry of their key; see `lifetimes`.

The inner store has one more key, `__life`, the number of the TTL entry, so records of an expired
entry and of the key's present one are distinct. A scan returns records of entries that may be
read; a put writes under the present entry of its key.

>>> from sqlwin.instants import DAY, END
>>> from sqlwin.policies import Ttl
>>> from sqlwin.state.combine import last_written
>>> from sqlwin.state.ttl.entries import ttl_layout
>>> from sqlwin.state.stores.memory import MemoryStore
>>> layout = Layout("logins", (("t", pl.Int64()), ("user", pl.String())), ("user",), ("t",), DAY)
>>> known = ttl_layout({"user": pl.String()})
>>> ttl = Lifetimes(Ttl(7 * DAY), MemoryStore(known, last_written(known)))
>>> store = TtlStore(MemoryStore(lived(layout), last_written(lived(layout))), ttl)
>>> login = pl.DataFrame({"t": [5], "user": ["ann"]})
>>> ttl.begin(now=0, watermark=0), ttl.accessed(login), store.put(login), ttl.taken()
(None, None, None, None)
>>> store.scan(0, 10).rows()
[(5, 'ann')]
>>> ttl.at(now=7 * DAY, watermark=0); store.scan(0, 10).rows(), len(store.inner)
([], 1)
>>> ttl.end(now=7 * DAY, watermark=0); ttl.begin(now=7 * DAY, watermark=0); len(store.inner)
0
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from sqlwin.state.contract import Layout, Store
from sqlwin.state.records import accept, without
from sqlwin.state.ttl.base import TtlStoreBase
from sqlwin.state.ttl.entries import LIFE
from sqlwin.state.ttl.lifetimes import Lifetimes


def lived(layout: Layout) -> Layout:
    """The layout of the inner store."""
    columns = (*layout.columns, (LIFE, pl.Int64()))
    return replace(layout, columns=columns, keys=(*layout.keys, LIFE))


class TtlStore(TtlStoreBase):
    """A `Store` as the operator knows it. inner: a store of `lived` of its layout.

    Records have the columns of `lifetimes.keys`. renews: whether to put one is to write its
    key; else it is something that is known of a live key, or it is not kept.
    """

    def __init__(self, inner: Store, lifetimes: Lifetimes, renews: bool = True) -> None:
        super().__init__(inner, [LIFE])
        self.lifetimes, self.renews = lifetimes, renews
        assert set(lifetimes.keys) <= set(self.layout.schema), (lifetimes.keys, self.layout)
        lifetimes.cleanup.of.append(inner)

    def put(self, records: pl.DataFrame) -> None:
        if len(records):
            assign = self.lifetimes.assigned if self.renews else self.lifetimes.with_life
            self.inner.put(assign(accept(self.layout, records)))

    def scan(self, lo: int, hi: int, keys: pl.DataFrame | None = None) -> pl.DataFrame:
        wanted = keys if keys is None or keys.width or self.layout.keys else None
        found = self.inner.scan(lo, hi, wanted)
        return without(found, [self.lifetimes.hidden()])[self.layout.schema.names()]

    def cut(self, horizons: pl.DataFrame) -> None:
        named = set(self.lifetimes.keys) <= set(horizons.columns)
        super().cut(self.lifetimes.floored(horizons) if named else horizons)

    def _check(self) -> None:
        self.inner._check()
        self.lifetimes._check(self.inner)
