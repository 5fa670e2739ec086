"""KIP-94's session store: sessions of a key, found by when they end.

A session is known by its key, its first instant and its end; sessions of one key do not
overlap. Segments go by the end, so that what no stream time can reach any more goes
whole: a session is readable until its segment has left retention, and one that would
have to lie in such a segment is not stored. Source: KIP-94.

A record lies in the slice of its segment. One that grows within its segment is written
over; one that is removed, or moves on to another, leaves a mark that says so until the
segment goes.

Worked example, an interval of 1000: ends 0, 500, 1000 and 2000 lie in the segments 0, 0,
1 and 2.

>>> from sqlwin.state.stores.memory import MemoryStore
>>> from sqlwin.state.combine import last_written
>>> layout = session_layout("sessions", {"user": pl.String()}, {"n": pl.Int64()}, 1000)
>>> store = SessionStore(MemoryStore(layout, last_written(layout)))
>>> spans = pl.DataFrame({FROM: [0, 101, 201, 301], UNTIL: [99, 200, 300, 400]})
>>> store.put(spans.with_columns(user=pl.lit("ann"), n=pl.lit(1, pl.Int64)))
>>> store.find_sessions(earliest_end=150, latest_start=300)[FROM].to_list()
[101, 201]
"""

from __future__ import annotations

import polars as pl

from sqlwin.errors import StateError
from sqlwin.instants import END, SECOND, START
from sqlwin.state.contract import Layout, Store
from sqlwin.state.records import accept_keys

FROM, UNTIL = "__from", "__until"
SEGMENT, LIVE = "__segment", "__live"
SEGMENTS = 3
"""KIP-94's number of segments that share a retention."""
MIN_INTERVAL = 60 * SECOND
"""Short retentions share a segment."""


def segment_interval(retention: int, segments: int = SEGMENTS, minimum: int = MIN_INTERVAL) -> int:
    """How long a segment is; at least one of `segments` lies beyond retention.

    >>> segment_interval(2_000, segments=3, minimum=60), segment_interval(100, 3, 60)
    (1000, 60)
    """
    if segments < 2 or retention < 0 or minimum < 1:
        raise ValueError(
            f"need retention >= 0, segments >= 2 and minimum >= 1,"
            f" got {retention}, {segments} and {minimum}"
        )
    return max(retention // (segments - 1), minimum)


def session_layout(
    name: str, keys: dict[str, pl.DataType], values: dict[str, pl.DataType], interval: int
) -> Layout:
    """Of the store below; it combines by `last_written`."""
    ends = {SEGMENT: pl.Int64(), FROM: pl.Int64(), UNTIL: pl.Int64()}
    columns = {**keys, **ends, **values, LIVE: pl.Boolean()}
    return Layout(name, tuple(columns.items()), tuple(keys), (SEGMENT, FROM), interval)


class SessionStore:
    """A view of a `Store`, which keeps the records; frames are of key, start, end and values."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def put(self, sessions: pl.DataFrame) -> None:
        """Store sessions, or store them anew. Remove first what they were made of.

        One whose segment has left retention is not kept.
        """
        self._write(sessions, live=True)

    def remove(self, sessions: pl.DataFrame) -> None:
        """Of each its key, start and end; other columns are of no account."""
        if sessions.is_empty():
            return
        names = [name for name in sessions.columns if name in self._identity]
        values = [pl.lit(None, type_).alias(name) for name, type_ in self._values.items()]
        self._write(sessions.select(names).with_columns(values), live=False)

    def find_sessions(
        self, earliest_end: int, latest_start: int, keys: pl.DataFrame | None = None
    ) -> pl.DataFrame:
        """Sessions with end >= earliest_end and start <= latest_start, ordered by key and start.

        keys: of these only; None: of every key.
        """
        segment = self.store.layout.slice_of(max(earliest_end, START))
        found = self.store.scan(segment, END, keys)
        if found.is_empty():
            return found.drop(SEGMENT, LIVE)
        inside = (pl.col(UNTIL) >= earliest_end) & (pl.col(FROM) <= latest_start)
        alive = found.filter(pl.col(LIVE) & inside).drop(SEGMENT, LIVE)
        return alive.sort(*self.store.layout.keys, FROM)

    def fetch(self, keys: pl.DataFrame) -> pl.DataFrame:
        """All sessions of these keys."""
        accept_keys(self.store.layout, keys)
        return self.find_sessions(START, END, keys)

    def expire(self, before: int) -> None:
        """Drop the segments whose every end is below `before`."""
        self.store.expire(self.store.layout.slice_of(max(before, START)))

    @property
    def _identity(self) -> tuple[str, ...]:
        return (*self.store.layout.keys, FROM, UNTIL)

    @property
    def _values(self) -> dict[str, pl.DataType]:
        known = (*self._identity, SEGMENT, LIVE)
        return {n: type_ for n, type_ in self.store.layout.columns if n not in known}

    def _write(self, sessions: pl.DataFrame, live: bool) -> None:
        backwards = sessions.filter(pl.col(FROM) > pl.col(UNTIL))
        if len(backwards):
            row = backwards.row(0, named=True)
            raise StateError(
                f"store {self.store.layout.name}: a session ends at {row[UNTIL]},"
                f" before it starts at {row[FROM]}"
            )
        width = self.store.layout.slice_width
        self.store.put(
            sessions.with_columns(
                (pl.col(UNTIL) // width * width).alias(SEGMENT), pl.lit(live).alias(LIVE)
            )
        )
