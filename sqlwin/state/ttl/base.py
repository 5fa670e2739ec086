"""The common part of `TtlStore` and `PairStore`, which differ in the TTL entry of a record."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import replace

import polars as pl

from sqlwin.instants import END, START
from sqlwin.state.contract import Store


class TtlStoreBase(ABC):
    """A `Store` as the operator knows it. inner: its records have besides, as keys, the columns
    `lifetimes`.
    """

    def __init__(self, inner: Store, lifetimes: Collection[str]) -> None:
        own = inner.layout
        self.inner = inner
        self.layout = replace(
            own,
            columns=tuple(column for column in own.columns if column[0] not in lifetimes),
            keys=tuple(key for key in own.keys if key not in lifetimes),
        )

    @abstractmethod
    def put(self, records: pl.DataFrame) -> None: ...

    @abstractmethod
    def scan(self, lo: int, hi: int, keys: pl.DataFrame | None = None) -> pl.DataFrame: ...

    @property
    def horizon(self) -> int:
        return self.inner.horizon

    def expire(self, before: int) -> None:
        self.inner.expire(before)

    def cut(self, horizons: pl.DataFrame) -> None:
        self.inner.cut(horizons)

    def erase(self, gone: pl.DataFrame) -> None:
        self.inner.erase(gone)

    def __len__(self) -> int:
        return self.scan(START, END).height
