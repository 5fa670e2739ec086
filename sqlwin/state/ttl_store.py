"""A store whose records expire with the TTL entry of their key; see `lifetimes`.

The inner store has one more key, `__life`, the number of the TTL entry, so records of an expired
entry and of the key's present one are distinct. A scan returns records of entries that may be
read; a put writes under the present entry of its key.

>>> from sqlwin.instants import DAY, END
>>> from sqlwin.policies import Ttl
>>> from sqlwin.state.combine import last_written
>>> from sqlwin.state.ttl_entries import ttl_layout
>>> from sqlwin.state.memory import MemoryStore
>>> layout = Layout("logins", (("t", pl.Int64()), ("user", pl.String())), ("user",), ("t",), DAY)
>>> known = ttl_layout({"user": pl.String()})
>>> lives = Lifetimes(Ttl(7 * DAY), MemoryStore(known, last_written(known)))
>>> store = TtlStore(MemoryStore(lived(layout), last_written(lived(layout))), lives)
>>> login = pl.DataFrame({"t": [5], "user": ["ann"]})
>>> lives.begin(now=0, watermark=0), lives.accessed(login), store.put(login), lives.taken()
(None, None, None, None)
>>> store.scan(0, 10).rows()
[(5, 'ann')]
>>> lives.at(now=7 * DAY, watermark=0); store.scan(0, 10).rows(), len(store.inner)
([], 1)
>>> lives.end(now=7 * DAY, watermark=0); lives.begin(now=7 * DAY, watermark=0); len(store.inner)
0
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from sqlwin.state.contract import Layout, Store
from sqlwin.state.lifetimes import Lifetimes
from sqlwin.state.records import accept, without
from sqlwin.state.ttl_entries import LIFE
from sqlwin.state.ttl_store_base import TtlStoreBase


def lived(layout: Layout) -> Layout:
    """The layout of the inner store."""
    columns = (*layout.columns, (LIFE, pl.Int64()))
    return replace(layout, columns=columns, keys=(*layout.keys, LIFE))


class TtlStore(TtlStoreBase):
    """A `Store` as the operator knows it. inner: a store of `lived` of its layout.

    Records have the columns of `lives.keys`. renews: whether to put one is to write its
    key; else it is something that is known of a key that lives, or it is not kept.
    """

    def __init__(self, inner: Store, lives: Lifetimes, renews: bool = True) -> None:
        super().__init__(inner, [LIFE])
        self.lives, self.renews = lives, renews
        assert set(lives.keys) <= set(self.layout.schema), (lives.keys, self.layout)
        lives.of.append(inner)

    def put(self, records: pl.DataFrame) -> None:
        if len(records):
            assign = self.lives.assigned if self.renews else self.lives.with_life
            self.inner.put(assign(accept(self.layout, records)))

    def scan(self, lo: int, hi: int, keys: pl.DataFrame | None = None) -> pl.DataFrame:
        wanted = keys if keys is None or keys.width or self.layout.keys else None
        found = self.inner.scan(lo, hi, wanted)
        return without(found, [self.lives.hidden()])[self.layout.schema.names()]

    def cut(self, horizons: pl.DataFrame) -> None:
        named = set(self.lives.keys) <= set(horizons.columns)
        super().cut(self.lives.floored(horizons) if named else horizons)

    def _check(self) -> None:
        self.inner._check()
        self.lives._check(self.inner)
