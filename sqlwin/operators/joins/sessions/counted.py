"""Joins of sessions in ROWS: those of time, over the numbers of messages.

A session goes on over at most n messages of other keys, so one of its key joins it that is n + 1
numbers behind. That is a session of time whose gap is n + 1, where a message's number is its time
and the watermark is past the numbers that both streams have come to. Numbers come in order, so
nothing is late, and a session that is over meets no session that begins later: it is kept as long
as one that it overlaps goes on.

| store    | record                                              |
|----------|-----------------------------------------------------|
| `counts` | messages of each side                               |
|          | the others are those of `operator`, by numbers      |

Invariant: beyond a call here, `watermark` of the stores is the watermark, and never a number.

Worked example, gaps of 1: left messages 1 and 3 of a key are one session, [1, 5), left message 2 of
another is [2, 4). Right message 4 of the first key is [4, 6): it pairs with both left ones. With
message 6 of both streams the left session is over, for message 5 was none of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import polars as pl

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.joins.counts import COUNTS, counts_of, read_counts, write_counts
from sqlwin.operators.joins.schema import POS
from sqlwin.operators.joins.sessions.operator import SessionJoin
from sqlwin.operators.joins.sides import Side
from sqlwin.operators.state_queries import StateQuery
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.schema import TS


@dataclass(frozen=True)
class CountedSessionJoin(SessionJoin):
    """Its sides are not timed, their gaps one number longer, and the policy retains nothing."""

    def stores(self) -> list[StoreSpec]:
        return [*super().stores(), counts_of(COUNTS, "messages of each side")]

    def prepare(self, rows: pl.DataFrame, side: int) -> pl.DataFrame:
        return super().prepare(rows.with_columns(pl.col(POS).alias(TS)), side)

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        with self._by_number(stores) as numbered:
            emitted = super().on_batch(left, right, numbered, now)
            self._come(left, right, stores)
            risen = super().on_watermark(self._number(stores), numbered, now)
        return pl.concat([emitted, risen])

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        stores.watermark = max(stores.watermark, watermark)
        return self.nothing()

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        why = "sessions of messages that are joined are numbers of two streams, and no times"
        raise QueryError(why, legal="messages(…), with join_keys")

    def _known_by_time(self, side: Side) -> bool:
        return False

    # Numbers for time.

    def _number(self, stores: Stores) -> int:
        """Below which no message of either stream will come."""
        return min(read_counts(COUNTS, stores)) + 1

    def _come(self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores) -> None:
        """Messages that WHERE drops are counted, too."""
        counted, known = stores.counted or (0, 0), read_counts(COUNTS, stores)
        seen = [
            max([was, more, *rows[TS].to_list()])
            for was, more, rows in zip(known, counted, (left, right), strict=True)
        ]
        write_counts(COUNTS, seen[0], seen[1], stores)

    @contextmanager
    def _by_number(self, stores: Stores) -> Iterator[Stores]:
        numbered = replace(stores, watermark=self._number(stores))
        yield numbered
        stores.pending, stores.last_input = numbered.pending, numbered.last_input
