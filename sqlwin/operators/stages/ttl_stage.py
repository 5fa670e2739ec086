"""What the stages around operators whose state has a TTL share: the order in which TTL entries hear
of a call.

| step       | of the entries                                                   |
|------------|------------------------------------------------------------------|
| `begin`    | time moves on: what expired is hidden, and erased where it may be |
| `accessed` | the keys or rows of a batch are there                            |
|            | the operator works                                               |
| `taken`    | those that it wrote are renewed                                  |
| `read`     | those that are in what it emitted, or that it looked up, were read |
| `end`      | of a tick: what expires by time alone is erased                  |

A stage, and no steps of the task: what a row's key is, which columns of a batch a TTL goes by, and
what an emission has read differ between operators of one input and joins, and the task takes all
operators alike. And the two have to be around the operator's own calls, for a chain has a TTL on
one of its operators and none on the next.

Invariant: the next deadline is the lesser of the operator's and of the next expiry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import polars as pl

from sqlwin.operators.contract import Stores, Timed, next_full
from sqlwin.state.ttl.join_entries import JoinTtlEntries
from sqlwin.state.ttl.lifetimes import Lifetimes


class TtlStage(ABC):
    """A stage around an operator; its subclasses open the entries and take batches."""

    @property
    @abstractmethod
    def within(self) -> Timed:
        """The operator."""

    @abstractmethod
    def read(self, emitted: pl.DataFrame, stores: Stores) -> None:
        """Note what a call has read."""

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        self.begun(stores, now)
        return self.having_read(self.within.on_watermark(watermark, stores, now), stores)

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        entries = self.begun(stores, now)
        out = self.having_read(self.within.on_tick(now, stores), stores)
        entries.end(now, stores.watermark)
        return out

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        return self.having_read(self.within.on_end(stores, now), stores)

    def next_deadline(self, stores: Stores) -> int | None:
        times = (self.within.next_deadline(stores), self._entries_of(stores).deadline)
        return min((time for time in times if time is not None), default=None)

    def next_full(self, stores: Stores) -> int | None:
        return next_full(self.within, stores)

    def begun(self, stores: Stores, now: int) -> Lifetimes | JoinTtlEntries:
        entries = self._entries_of(stores)
        entries.begin(now, stores.watermark)
        return entries

    def having_read(self, emitted: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        self.read(emitted, stores)
        return emitted

    @staticmethod
    def _entries_of(stores: Stores) -> Lifetimes | JoinTtlEntries:
        assert stores.ttl is not None
        return stores.ttl
