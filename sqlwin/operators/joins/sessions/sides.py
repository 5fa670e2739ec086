"""One side of a session join: its rows, and the sessions that hold them.

| store                           | record                                              |
|---------------------------------|-----------------------------------------------------|
| `left`, `right`                 | the row; by session key, time and position          |
| `left_sessions`, `right_sessions` | a session, with its first and last position         |

A session is found among all rows of the side's session key. Since nothing but a pause ends
it, it only grows, unless rows are retracted: then it may be shorter, split or gone. It is
over for rows that come in time once the watermark is past its end, and for late ones once
RETAIN is past it too: no row that may still come touches it then, nor brings a session of
the other side into reach of it that did not overlap it before. For what is brought so far
down begins with a session that ended later than this one does; so it overlapped this one
already, or it lies wholly after it, and then grows only upwards. But one that overlapped it
may go on, and its new rows pair with those of this one: so a session stays until those of
the other side that overlap it are over too. Of these one at most is not over when this one
is: the one that reaches over the horizon.

Where rows of a side are in no session, each of its instants t stands for one, `[t, t + 1)`, which
never grows: sessions of the other side overlap it that hold t.

Rows that may be retracted are so only while they are in retention themselves, so none of a
session that is over.

Invariant: each row in the store that is not evicted is in one session of the store.

Worked example, a gap of 10: rows at 0 and 8 are the session [0, 18). At watermark 19 its
rows are complete. With RETAIN 5 a late row at 18 joins it up to watermark 23; at 24 it is
evicted, whole. While the other side has the session [15, 40) it stays, up to watermark 45.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import cached_property

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.joins.arrivals import Arrivals
from sqlwin.operators.joins.sides import Side
from sqlwin.operators.sessions.merging import Instants, Merged
from sqlwin.operators.sessions.retention import evict
from sqlwin.operators.sessions.spans import RUN, extent_of, met, within
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.windows.grouping import Grouping
from sqlwin.schema import TS
from sqlwin.state.combine import last_written
from sqlwin.state.stores.session_store import FROM, UNTIL, session_layout
from sqlwin.windows import Unit
from sqlwin.windows.session import Session

REACHES = "__reaches"
OWN_FROM, OWN_UNTIL = "__own_from", "__own_until"


@dataclass(frozen=True)
class Regrouped:
    """Sessions that a batch touched, as they were, `old`, and as they are, `new`.

    completed: rows that stay, whose session was open before and ends below the watermark now.
    """

    old: pl.DataFrame
    new: pl.DataFrame
    completed: pl.DataFrame


@dataclass(frozen=True)
class SessionSide(Side):
    """session: ended by its gap alone. partition: its key, the first of `keys`.

    interval: of the segments of its session store.
    """

    session: Session = field(kw_only=True)
    partition: tuple[str, ...] = field(kw_only=True)
    interval: int = field(kw_only=True)

    def __post_init__(self) -> None:
        """ValueError for what a session join does not take."""
        if self.session.cut or self.session.unit is Unit.ROWS:
            raise ValueError(f"a late row may part such a session, or none is late: {self.session}")
        if not self.partition or self.keys[: len(self.partition)] != self.partition:
            raise ValueError(f"{self.keys} do not begin with the session key {self.partition}")

    @cached_property
    def spans(self) -> Merged:
        by = Grouping({key: self.columns[key] for key in self.partition})
        of = Instants if self.session.instant else Merged
        return of(self.session, self.partition, by, (), f"{self.name}_sessions")

    @property
    def rest(self) -> tuple[str, ...]:
        """Keys besides that of the session."""
        return self.keys[len(self.partition) :]

    @property
    def ends(self) -> str:
        return UNTIL

    @property
    def first(self) -> tuple[str, ...]:
        return self.partition

    @property
    def order(self) -> tuple[str, ...]:
        return (TS, *self.place)

    @property
    def session_spec(self) -> StoreSpec:
        keys = {key: self.columns[key] for key in self.partition}
        values = self.spans.values(self.columns)
        layout = session_layout(self.spans.store, keys, values, self.interval)
        return StoreSpec(layout, last_written(layout), "sessions", ttl=self._ttl)

    # Sessions.

    def regroup(self, arrivals: Arrivals, stores: Stores) -> Regrouped:
        """Take a batch into the sessions, before its rows are put."""
        columns, none = [*self.partition, FROM, UNTIL], arrivals.new.clear()
        if not arrivals:
            nothing = self.spans.sessions(stores).find_sessions(START, START).clear()
            return Regrouped(nothing.select(columns), nothing.select(columns), none)
        if self.weighted:
            old, new, completed = self._anew(arrivals, stores)
        else:
            (old, new), completed = self.spans.change(self.spans.lift(arrivals.new), stores), none
        return Regrouped(old.select(columns), new.select(columns), completed.select(*self.row))

    def _anew(
        self, arrivals: Arrivals, stores: Stores
    ) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """Cut the rows of all sessions that a batch touches: these, what becomes of them, and
        the rows that are completed."""
        store = self.spans.sessions(stores)
        moved = self.spans.lift(pl.concat([arrivals.removed, arrivals.new]))
        first, last = extent_of(moved)
        near = store.find_sessions(first, last, moved.select(self.partition))
        old = met(near, moved, self.partition, self.spans.reached)[0].drop(RUN)
        stay = self.less(self.held(old, stores), arrivals.removed)
        new = self.spans.lift(pl.concat([stay.select(*self.row), arrivals.new])).select(old.columns)
        on = [*self.partition, FROM, UNTIL]
        store.remove(old.join(new, on=on, how="anti", nulls_equal=True))
        store.put(new)
        cut = within(stay.rename({FROM: OWN_FROM, UNTIL: OWN_UNTIL}), TS, new, self.partition)
        closed = stores.watermark
        return old, new, cut.filter(pl.col(OWN_UNTIL) >= closed, pl.col(UNTIL) < closed)

    def between(self, first: int, last: int, keys: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Sessions of these session keys that touch `[first, last]`."""
        found = self.spans.sessions(stores).find_sessions(first, last, keys)
        return found.select(*self.partition, FROM, UNTIL)

    # Rows of sessions.

    def bounded(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """With NULL for those that are in no session any more."""
        if rows.is_empty():
            return within(rows, TS, rows, self.partition)
        first, last = bounds(rows[TS])
        keys = rows.select(self.partition).unique()
        held = within(rows, TS, self.between(first, last, keys, stores), self.partition)
        return pl.concat([held, self.less(rows, held)], how="diagonal")

    def ending(self, stores: Stores, lo: int, hi: int) -> pl.DataFrame:
        ended = self.spans.ending(lo, hi, stores)
        return self.held(ended, stores).select(*self.row)

    def held(self, spans: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The stored rows within spans of session keys, with their bounds."""
        keys = spans.select(self.partition).unique()
        return within(self.scan(stores, *extent_of(spans), keys), TS, spans, self.partition)

    # Rows that leave.

    def complete_below(self, closed: int, counted: int, retain: int | None) -> int:
        """A row at the end of a session would still join it; one at the end of an instant not."""
        return closed + 1 if self.session.instant else closed

    def horizon(self, closed: int, counted: int, retain: int | None) -> int:
        """Sessions that end earlier are evicted."""
        return START if retain is None else closed - retain

    def reaching(self, horizon: int, stores: Stores) -> pl.DataFrame:
        """Session keys and beginnings of what reaches over `horizon`: one session of a key."""
        found = self.spans.sessions(stores).find_sessions(horizon, horizon - 1)
        return found.select(*self.partition, pl.col(FROM).alias(REACHES))

    def evict(
        self, horizon: int, others: pl.DataFrame, names: Iterable[str], stores: Stores
    ) -> None:
        """Drop sessions that are over, and of these stores what is theirs.

        others: what is `reaching` of the other side.
        """
        known = others.rename(dict(zip(others.columns, self.partition, strict=False)))
        found = self.spans.sessions(stores).find_sessions(START, END)
        sessions = found.join(known, on=list(self.partition), how="left")
        overlapped = (pl.col(REACHES) < pl.col(UNTIL)).fill_null(False)
        kept = [stores[name] for name in (*names, self.spans.store)]
        stays = (pl.col(self.spans.reached) >= horizon) | overlapped
        evict([(store, self.partition) for store in kept], sessions, stays, horizon)
