"""State queries as methods of what runs a query: fetch, windows and messages.

Invariant: they have no side effects, and see the stores of all buckets as they are between two
batches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager

import polars as pl

from sqlwin.instants import END, START
from sqlwin.operators.contract import Stores
from sqlwin.operators.state_queries import (
    MessageRange,
    StateQuery,
)
from sqlwin.runtime.rows.instants import Instant
from sqlwin.runtime.rows.keys import Key
from sqlwin.runtime.rows.results import Results
from sqlwin.runtime.state_queries import StateQueries


class QueryableState(ABC):
    """The state queries of a query. They change no result."""

    @property
    @abstractmethod
    def _state_queries(self) -> StateQueries:
        """Of the query."""

    @abstractmethod
    def _open_stores(self, keys: pl.DataFrame | None) -> AbstractContextManager[Sequence[Stores]]:
        """The stores of all buckets, or of those that may hold keys, as they are now."""

    @property
    def by_join_keys(self) -> bool:
        """Whether messages are queried by join keys: of joins, but not of session joins."""
        return self._state_queries.by_join_keys

    def fetch(self, key: Key) -> Results:
        """The windows of one key, in order.

        key: a dict, a tuple in the order of the keys, or the value of a single key; None
        is NULL. InputError for a key of other columns or types.
        """
        return self._windows(StateQuery(self._state_queries.keyed(key)))

    def windows(
        self, start: Instant | None = None, end: Instant | None = None, key: Key = None
    ) -> Results:
        """The windows that together cover `start` to `end`: each that holds an instant of it.

        Both ends are included; None is the beginning, or the end, of time. A window holds its
        start and not its end, a sliding one in RANGE both. Windows measured in messages take
        message numbers. key: as in `fetch`; None is all keys.
        """
        lo, hi = self._state_queries.point(start, START), self._state_queries.point(end, END)
        return self._windows(
            StateQuery(None if key is None else self._state_queries.keyed(key), lo, hi)
        )

    def messages(
        self,
        start_time: Instant | None = None,
        start_offset: int | None = None,
        end_time: Instant | None = None,
        end_offset: int | None = None,
        key: Key = None,
        join_keys: Key = None,
    ) -> Results:
        """Messages of the message store from (start_time, start_offset) to (end_time,
        end_offset), both included, ordered by them.

        None: from the first, to the last. Windows measured in messages know no time, so
        there both are None. key: of the windows; of a session join the session key. join_keys:
        of a join: the equal columns, by the left's names; of a session join beside the session
        key as well, where it may be left out of them. QueryError, with the reason, where the
        query keeps no messages.
        """
        queries = self._state_queries
        keys = queries.message_keys(key, join_keys)
        first = queries.place(start_time, start_offset, (START, -(2**63)))
        last = queries.place(end_time, end_offset, (END, 2**63 - 1))
        range_ = MessageRange(first, last, keys)
        with self._open_stores(range_.keys) as buckets:
            return Results(queries.messages(range_, buckets).to_arrow())

    def _windows(self, state_query: StateQuery) -> Results:
        with self._open_stores(state_query.keys) as buckets:
            return Results(self._state_queries.windows(state_query, buckets).to_arrow())
