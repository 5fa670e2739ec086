"""The table of TTL entries: the key of each, when it was renewed, whether it is cleaned.

It is a store like others, ordered by `__life`, and read once between two changes. What
it is joined by are the keys and, since there may be none, a constant.

>>> from sqlwin.state.combine import last_written
>>> from sqlwin.state.stores.memory import MemoryStore
>>> layout = ttl_layout({"user": pl.String()})
>>> entries = TtlEntries(MemoryStore(layout, last_written(layout)))
>>> entries.put(pl.DataFrame({"user": ["ann"], LIFE: [0], TOUCHED: [5], CLEANED: [False]}))
>>> known = entries.keyed(pl.DataFrame({"user": ["bob", "ann"]}))
>>> entries.join(known, entries.all(), "left").rows()
[('bob', 0, None, None, None), ('ann', 0, 0, 5, False)]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import polars as pl

from sqlwin.instants import END, START
from sqlwin.state.contract import Layout, Store

STORE = "ttl_entries"
LIFE, TOUCHED, CLEANED = "__life", "__touched", "__cleaned"
ALL = "__all"


def ttl_store_name(side: str) -> str:
    """The store of the TTL entries of a join's side."""
    return f"{side}_{STORE}"


def ttl_layout(keys: Mapping[str, pl.DataType], name: str = STORE) -> Layout:
    rest = ((LIFE, pl.Int64()), (TOUCHED, pl.Int64()), (CLEANED, pl.Boolean()))
    return Layout(name, (*keys.items(), *rest), (), (LIFE,), END)


class TtlEntries:
    """store: of `ttl_layout`."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.keys = tuple(n for n in store.layout.schema if n not in (LIFE, TOUCHED, CLEANED))
        self.on = [*self.keys, ALL]
        self._scanned: pl.DataFrame | None = None

    def all(self) -> pl.DataFrame:
        if self._scanned is None:
            self._scanned = self.keyed(self.store.scan(START, END))
        return self._scanned

    def uncleaned(self) -> pl.DataFrame:
        return self.all().filter(~pl.col(CLEANED))

    def keyed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A frame with the keys as one that can be joined."""
        return frame.with_columns(pl.lit(0, pl.Int8).alias(ALL))

    def keys_of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Each once, in their order."""
        keys = self.keyed(frame)[self.on]
        return keys.unique().sort(self.on) if len(keys) > 1 else keys

    def join(
        self,
        left: pl.DataFrame,
        right: pl.DataFrame,
        how: Literal["inner", "left", "semi", "anti"],
    ) -> pl.DataFrame:
        return left.join(right, on=self.on, how=how, nulls_equal=True, maintain_order="left")

    def put(self, entries: pl.DataFrame) -> None:
        if len(entries):
            self.store.put(entries.select(self.store.layout.schema.names()))
            self._scanned = None

    def clean(self, entries: pl.DataFrame) -> None:
        if len(entries):
            self.put(entries.with_columns(pl.lit(True).alias(CLEANED)))

    def erase(self, gone: pl.DataFrame) -> None:
        self.store.erase(gone)
        self._scanned = None
