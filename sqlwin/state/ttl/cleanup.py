"""What of the expired entries of a state TTL is cleaned, and when all of it is erased.

| cleanup       | what of the expired is `__cleaned`, and when                          |
|---------------|-----------------------------------------------------------------------|
| timers        | all, as soon as time advances; `deadline` is when that should be       |
| incremental   | of the next n entries, in rotation, for each key that rows access       |
| full_snapshot | all, when state is restored, or written where no expired entry is read |
| compaction    | all, when compaction is due                                           |

*Compaction* erases what was cleaned, from memory and, by the next flush, from disk. It
is due once a quarter of all entries has expired and may be erased, or one of them for a
quarter of the TTL. What timers and a restore clean is erased at once.
"""

from __future__ import annotations

from typing import Protocol

import polars as pl

from sqlwin.policies import Ttl
from sqlwin.state.ttl.entries import CLEANED, LIFE, TOUCHED, TtlEntries

WORTH = 4
"""Compaction is due when a quarter has expired, or has been expired for a quarter of the TTL."""


class Erasable(Protocol):
    """What has records of TTL entries, by `__life`."""

    def erase(self, gone: pl.DataFrame) -> None: ...


class Cleanup:
    """Of the entries of one operator's keys. of: what has records of theirs. looked: the entry at
    which rotation is. erasures: how often something was erased by a batch, since this was made."""

    def __init__(self, ttl: Ttl, entries: TtlEntries) -> None:
        self.ttl, self.entries = ttl, entries
        self.of: list[Erasable] = []
        self.looked, self.erasures = -1, 0

    def look(self, count: int, expired: pl.Expr) -> None:
        """Clean what has expired of the next `count` entries."""
        if count == 0:
            return
        entries = self.entries.uncleaned()
        if entries.is_empty():
            return
        further = pl.col(LIFE) > self.looked
        some = pl.concat([entries.filter(further), entries.filter(~further)]).head(count)
        self.looked = int(some[LIFE][-1])
        self.entries.clean(some.filter(expired))

    def compact(self, expired: pl.Expr, time: int) -> None:
        may = pl.col(CLEANED) | expired if self.ttl.cleanup.compaction else pl.col(CLEANED)
        entries = self.entries.all()
        gone = entries.filter(may)
        if gone.is_empty():
            return
        since = int(gone[TOUCHED].min()) + self.ttl.length  # type: ignore[arg-type]
        if len(gone) * WORTH >= len(entries) or since + self.ttl.length // WORTH <= time:
            self._erase(gone)

    def erase_expired(self, expired: pl.Expr) -> None:
        self._erase(self._may_go(expired))

    def drop_expired(self, expired: pl.Expr) -> None:
        """The same, by no batch."""
        self._drop(self._may_go(expired))

    def _may_go(self, expired: pl.Expr) -> pl.DataFrame:
        return self.entries.all().filter(pl.col(CLEANED) | expired)

    def _erase(self, gone: pl.DataFrame) -> None:
        if len(gone):
            self._drop(gone)
            self.erasures += 1

    def _drop(self, gone: pl.DataFrame) -> None:
        if gone.is_empty():
            return
        for store in self.of:
            store.erase(gone.select(LIFE))
        self.entries.erase(gone.select(LIFE))
