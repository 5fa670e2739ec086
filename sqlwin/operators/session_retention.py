"""What goes of sessions whose retention is over.

A session that ends below the horizon takes no row any more. Its record goes with its
segment; panes and messages go by key, so that one that has gone on for long holds
nothing of other keys back.

Invariant: what a session needs that ends at the horizon or later is there, and so is
every vanished session that is still to be withdrawn with such a one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from sqlwin.instants import END, START
from sqlwin.operators.contents import MESSAGES, PANES
from sqlwin.operators.contract import Stores
from sqlwin.operators.departures import Departures
from sqlwin.operators.revisions import STORE
from sqlwin.operators.session_spans import Spans
from sqlwin.operators.spanning import AT, within
from sqlwin.state.contract import FLOOR, Store
from sqlwin.state.session_store import FROM, UNTIL, SessionStore

ENDED = "__ended"


@dataclass(frozen=True)
class SessionRetention:
    spans: Spans
    revisions: Departures

    @property
    def partition(self) -> tuple[str, ...]:
        return self.spans.partition

    def retire(self, horizon: int, stores: Stores) -> None:
        """Drop what only sessions need that end below `horizon`."""
        sessions = self.spans.sessions(stores)
        stores[STORE].expire(self._least_displaced(sessions, horizon, stores))
        kept = [stores[name] for name in (PANES, MESSAGES) if name in stores.named]
        let_go(kept, sessions, self.partition, horizon)
        sessions.expire(horizon)

    def _least_displaced(self, sessions: SessionStore, horizon: int, stores: Stores) -> int:
        """`horizon`, or the end of the first vanished session that is to be withdrawn with one
        that has gone on for longer."""
        left = self.revisions.departed(stores, horizon)
        if left.is_empty():
            return horizon
        keys = left.select(self.partition).unique() if self.partition else None
        alive = sessions.find_sessions(horizon, END, keys)
        ended = left.select(*self.partition, pl.col(FROM).alias(AT), pl.col(UNTIL).alias(ENDED))
        ends: list[int] = within(ended, AT, alive, self.partition)[ENDED].to_list()
        return min([horizon, *ends])


def let_go(
    stores: Iterable[Store], kept: SessionStore, partition: tuple[str, ...], horizon: int
) -> None:
    """Drop what only sessions hold that end below `horizon`.

    Of each key what lies before the first of its sessions that stay; one that has gone on
    for long holds nothing of other keys back.
    """
    among = list(stores)
    if not among:
        return
    sessions = kept.find_sessions(START, END)
    stay, gone = sessions.filter(pl.col(UNTIL) >= horizon), pl.col(UNTIL) < horizon
    first = pl.col(FROM).min().alias(FLOOR)
    for store in among:
        store.expire(min(horizon, *stay.select(first.fill_null(horizon)).to_series()))
        if not partition or store.floor >= horizon:
            continue
        left = sessions.filter(gone).select(partition).unique()
        held = stay.group_by(partition).agg(first)
        floors = left.join(held, on=list(partition), how="left", nulls_equal=True)
        store.cut(floors.with_columns(pl.min_horizontal(FLOOR, pl.lit(horizon, pl.Int64))))
