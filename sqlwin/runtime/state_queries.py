"""State queries: fetch, windows and messages (SAMZA-552's getWindows and getMessages).

Keys and results have the names of the select list: keys, the edges of the window, the rest of
the select list over what is stored now, and metadata of the state. The operator answers, see
`operators.state_queries`; a query in many buckets is queried in each, and the answers are
sorted together. State queries change no result; reading may renew a TTL.

Windows that HAVING filters out are stored like others, so they are in the answer; the column
`passes` says which of them pass.

>>> from sqlwin.runtime.lowering.lower import lower
>>> from sqlwin.sql import script
>>> (query,) = script('''
...     CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
...     SELECT product AS p, SUM(value) AS total
...     FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
...     GROUP BY product, window_start, window_end''').queries
>>> queries = StateQueries(lower(query))
>>> queries.keyed("tea").rows(), queries.keyed({"p": None}).rows()
([('tea',)], [(None,)])
>>> queries.keyed(7)
Traceback (most recent call last):
sqlwin.errors.InputError: 7 is no key: its p is a STRING, not 7
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import polars as pl

from sqlwin.errors import InputError, QueryError, RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.state_queries import EDGES as JOINED
from sqlwin.operators.state_queries import (
    SIDE,
    STATE,
    MessageRange,
    Queryable,
    StateQuery,
    queryable,
)
from sqlwin.operators.windows.grouping import EXTENT
from sqlwin.plan.ir.nodes import Join, Scalar, column_of
from sqlwin.plan.properties.facts import Window, arriving, counts, join_of, window_of
from sqlwin.polars_frames import INSTANT, PLACE
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.rows.instants import Instant, micros
from sqlwin.runtime.rows.keys import Key, key_of
from sqlwin.runtime.rows.scalars import Columns, evaluate
from sqlwin.schema import REVISION, ROW_KEY, TS, Column
from sqlwin.windows.joins import JoinSessions

EDGES: tuple[str, ...] = ("window_start", "window_end")
PASSES = "__passes"
CALLED = {
    SIDE: "side",
    **dict(zip(JOINED, EDGES, strict=True)),
    STATE: "state",
    PASSES: "passes",
    REVISION: "revision",
    **dict(zip(EXTENT, ("first_offset", "last_offset", "rows"), strict=True)),
    **dict(zip(PLACE, ("event_time", "partition", "offset"), strict=True)),
    ROW_KEY: "row_key",
}
"""What the state's columns are called; with `_` behind where the query has such a column."""


@dataclass(frozen=True)
class StateQueries:
    """Translates state queries from the query's names to the operator's, and answers back."""

    query: Lowered

    @cached_property
    def operator(self) -> Queryable:
        return queryable(self.query.operator)

    # Arguments.

    def keyed(self, key: Key) -> pl.DataFrame:
        """One line of the operator's key columns; InputError where `key` is no key."""
        return self._line(key, list(self.operator.key))

    def _line(self, key: Key, names: list[str]) -> pl.DataFrame:
        """One line of some of its columns."""
        found = key_of(key, self._columns_of(names))
        return found.rename(dict(zip(found.columns, names, strict=True)))

    def message_keys(self, key: Key, join_keys: Key) -> pl.DataFrame | None:
        """QueryError for those of the other kind of query."""
        if join_keys is None:
            if key is not None and self.by_join_keys:
                raise QueryError("the messages of a join have join_keys, and no key of a window")
            return None if key is None else self.keyed(key)
        if self._join is None:
            raise QueryError("join_keys are of joins, and the query joins nothing")
        from sqlwin.operators.joins.base import JoinBase  # by need

        operator = self.operator
        assert isinstance(operator, JoinBase)
        equal = list(operator.equal)
        if key is None:
            return self._line(join_keys, equal)
        if self.by_join_keys:
            raise QueryError("the messages of a join have join_keys, and no key of a window")
        return self._of_both(self.keyed(key), join_keys, equal)

    def _of_both(self, key: pl.DataFrame, join_keys: Key, equal: list[str]) -> pl.DataFrame:
        """A line of all equal columns: `join_keys` are all of them, or those that `key` has not."""
        rest = [name for name in equal if name not in key.columns]
        given = len(join_keys) if isinstance(join_keys, Mapping | tuple | list) else 1
        if rest and given == len(rest):
            return pl.concat([key, self._line(join_keys, rest)], how="horizontal").select(equal)
        whole = self._line(join_keys, equal)
        if not whole.select(key.columns).equals(key):
            raise InputError(
                f"key and join_keys differ in {', '.join(map(self._called, key.columns))}"
            )
        return whole

    def point(self, at: Instant | None, otherwise: int) -> int:
        """An instant in microseconds, or a message number."""
        if at is None:
            return otherwise
        if self._counted and (isinstance(at, bool) or not isinstance(at, int)):
            raise InputError(f"the windows are measured in messages: {at!r} is no message number")
        return micros(at)

    def place(
        self, time: Instant | None, offset: int | None, otherwise: tuple[int, int]
    ) -> tuple[int, int]:
        """Of a message: (time, offset)."""
        if self._untimed and time is not None:
            raise InputError("the windows are measured in messages: ask by offsets alone")
        if offset is not None and (isinstance(offset, bool) or not isinstance(offset, int)):
            raise InputError(f"an offset is an integer, not {offset!r}")
        at = 0 if self._untimed else otherwise[0] if time is None else micros(time)
        return at, otherwise[1] if offset is None else offset

    # Answers.

    def windows(self, state_query: StateQuery, buckets: Sequence[Stores]) -> pl.DataFrame:
        stored = pl.concat(self.operator.windows(state_query, stores) for stores in buckets)
        found = stored if state_query.lo <= state_query.hi else stored.clear()  # it has no instant
        found = found.sort(self.operator.order, maintain_order=True)
        return self._projected(found) if self._join is None else self._placed(found)

    def messages(self, range_: MessageRange, buckets: Sequence[Stores]) -> pl.DataFrame:
        stored = [self.operator.messages(range_, stores) for stores in buckets]
        found = pl.concat(stored).sort(list(PLACE), maintain_order=True)
        return self._placed(found.rename(self._called_keys if self._join is None else {}))

    def _placed(self, found: pl.DataFrame) -> pl.DataFrame:
        """Rows with their positions behind."""
        place = [name for name in PLACE if name in found.columns]
        return self._named(found.select(pl.exclude(place), *place))

    def _projected(self, stored: pl.DataFrame) -> pl.DataFrame:
        having = self.query.having
        if having is not None:
            passed = self._computed(stored, ((PASSES, having),))[PASSES].fill_null(False)
            stored = stored.with_columns(passed)
        return self._named(self._computed(stored, self._columns(stored.columns)))

    def _columns(self, stored: Sequence[str]) -> Columns:
        """Keys, edges, and what of the select list these columns give."""
        types = {c.name: c for c in self._window.schema}
        keys = {self._called(name): column_of(types[name]) for name in self.operator.key}
        edges = {name: column_of(types[name]) for name in EDGES if name in types}
        listed = {n: s for n, s in self.query.output if set(s.inputs) <= set(stored)}
        selected: dict[str, Scalar] = {**keys, **edges, **listed}
        return tuple(selected.items())

    def _computed(self, stored: pl.DataFrame, columns: Columns) -> pl.DataFrame:
        keep = tuple(name for name in CALLED if name in stored.columns)
        done = evaluate(stored, columns, keep=keep)
        for at, reason in done.rejected:
            raise RunError(f"the select list fails on {stored[ROW_KEY][at]}: {reason}")
        return done.frame

    def _named(self, found: pl.DataFrame) -> pl.DataFrame:
        if self._untimed:
            found = found.drop(TS, strict=False)
        elif TS in found.columns:
            found = found.with_columns(pl.col(TS).cast(INSTANT))
        names: dict[str, str] = {}
        for name in (name for name in CALLED if name in found.columns):
            names[name] = CALLED[name]
            while names[name] in found.columns:
                names[name] += "_"
        return found.rename(names)

    # Names.

    @property
    def _window(self) -> Window:
        window = window_of(self.query.query.plan)
        if window is None:
            raise QueryError("the query has no window, so it keeps nothing that could be queried")
        return window

    @property
    def by_join_keys(self) -> bool:
        """As of `QueryableState`."""
        return self._join is not None and not isinstance(self._join.match, JoinSessions)

    @property
    def _join(self) -> Join | None:
        return join_of(self.query.query.plan)

    @property
    def _counted(self) -> bool:
        return counts(self._join or self._window)

    @property
    def _untimed(self) -> bool:
        return arriving(self._join or self._window)

    def _columns_of(self, names: list[str]) -> tuple[Column, ...]:
        """As the select list calls them."""
        stored = self._window if self._join is None else self._join.left
        types = {column.name: column.type for column in stored.schema}
        return tuple(Column(self._called(name), types[name]) for name in names)

    @property
    def _called_keys(self) -> dict[str, str]:
        return {name: self._called(name) for name in self.operator.key}

    def _called(self, key: str) -> str:
        """A key's name in the select list; its own where that does not pass it on."""
        passed = (n for n, s in self.query.output if s.is_column and s.inputs == (key,))
        return next(passed, key)
