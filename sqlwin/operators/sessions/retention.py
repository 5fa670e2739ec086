"""Which sessions are out of retention, and what of the stores goes with them.

A session that ends below the *horizon* is out of retention. By time the horizon is the
watermark less RETAIN, and what a late row may join is kept a little longer, see `judging`; with
RETAIN n ROWS each bucket has its own, the instant of its n-th newest row, or the watermark if
that is less; under both the later one holds. A bucket is the session key, or what all grouping
sets have of it. Where rows may be retracted its instant never goes back, see `horizon`.

The record of a session goes with its segment; panes and messages go by key, so that one
that has gone on for long holds nothing of other keys back.

Invariant: what a session needs that ends at the horizon or later is there, and so is
every superseded session that is still to be retracted with such a one.

Worked example, a gap of 5, RETAIN 2 ROWS, rows at 0, 20 and 21, watermark 30: the second
newest is at 20. The session [0, 5) is retired, and a row at 19 would be expired, although
it reaches [20, 26).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.schema import EXISTS, STORE
from sqlwin.operators.emitter.superseding import SupersedingLedger, overlapping
from sqlwin.operators.horizon import Horizons, KeyHorizons, by_time, floored, nth_newest
from sqlwin.operators.sessions.judging import stored_since
from sqlwin.operators.sessions.merging import SESSIONS, Spans
from sqlwin.operators.sessions.spans import AT
from sqlwin.operators.windows.messages import MESSAGES, PANES
from sqlwin.polars_frames import empty
from sqlwin.policies import Policy
from sqlwin.state.contract import HORIZON, Store
from sqlwin.state.stores.session_store import FROM, SEGMENT, UNTIL, SessionStore

ENDED = "__ended"


@dataclass(frozen=True)
class SessionRetention(KeyHorizons):
    """weighted: rows may be retracted. judged: the gap, where sessions judge their rows."""

    policy: Policy
    spans: Spans
    ledger: SupersedingLedger
    weighted: bool = False
    judged: int | None = None

    @property
    def by_rows(self) -> bool:
        return self.policy.retain_rows is not None

    @property
    def keys(self) -> tuple[str, ...]:
        """Of a bucket."""
        return self.spans.bucket

    @cached_property
    def reached(self) -> Horizons | None:
        """Where horizons are noted, for rows may be retracted."""
        return Horizons(self._types) if self.weighted and self.by_rows else None

    @property
    def _types(self) -> dict[str, pl.DataType]:
        return {key: self.spans.by.types[key] for key in self.keys}

    def newest(self, stores: Stores) -> pl.DataFrame:
        if self.policy.retain_rows is None:
            return empty({**self._types, HORIZON: pl.Int64()})
        panes = self.spans.by.one(everything(stores, PANES))
        return nth_newest(panes, self.keys, AT, self.policy.retain_rows)

    def reach(self, stores: Stores) -> int:
        """Sessions that end here or later are not out of retention, whatever their keys."""
        return stores.watermark if self.by_rows else self.horizon(stores)

    def leaving(self, stores: Stores) -> pl.DataFrame:
        """Records that are pending, of sessions that with this watermark are out of retention.

        One that exists no more stays: it goes when what takes its place does, or when it is due.
        """
        pending = self.ledger.pending(stores, self.reach(stores)).filter(EXISTS)
        return self.retired(pending, stores)

    def retired(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of `windows` that are out of retention."""
        removed = pl.col(UNTIL) < self.horizon(stores)
        known_horizons = self._ends(stores)
        if known_horizons.is_empty():
            return windows.filter(removed)
        known = floored(windows, known_horizons, self.keys)
        return known.filter(removed | (pl.col(UNTIL) < pl.col(HORIZON))).drop(HORIZON)

    def retire(self, stores: Stores) -> None:
        """Drop what only retired sessions need; what waited there was emitted."""
        if self.policy.retain is not None:
            horizon, gap = self.horizon(stores), self.judged
            self.drop(horizon if gap is None else stored_since(horizon, gap), stores)
            self.expire(self.horizon(stores), stores)
        self._cut(self._ends(stores), stores)

    def drop(self, horizon: int, stores: Stores) -> None:
        """What only sessions need that end below `horizon`."""
        sessions = self.spans.sessions(stores)
        stores[STORE].expire(self._least_overlapping(sessions, horizon, stores))
        # a message is of a session of each set
        by = {PANES: self.spans.partition, MESSAGES: self.keys}
        kept = [(stores[name], keys) for name, keys in by.items() if name in stores.named]
        if kept:
            evict(kept, sessions.find_sessions(START, END), pl.col(UNTIL) >= horizon, horizon)
        sessions.expire(horizon)

    def horizon(self, stores: Stores) -> int:
        """What ends below it is out of retention by time."""
        if stores.horizon is not None:
            return stores.horizon
        return by_time(stores.watermark, self.policy.retain)

    # By time.

    def _least_overlapping(self, sessions: SessionStore, horizon: int, stores: Stores) -> int:
        """`horizon`, or the end of the first superseded session that is to be retracted with one
        that has gone on for longer."""
        left = self.ledger.departed(stores, horizon)
        if left.is_empty():
            return horizon
        keys = left.select(self.spans.partition).unique() if self.spans.partition else None
        kept = self._overlapping(left, sessions.find_sessions(horizon, END, keys))
        ends: list[int] = kept[ENDED].to_list()
        return min([horizon, *ends])

    def _overlapping(self, left: pl.DataFrame, alive: pl.DataFrame) -> pl.DataFrame:
        """Those of `left` that one of `alive` may displace, with `__ended`."""
        of = self.spans.partition
        pairs = overlapping(left, alive.select(*of, FROM, UNTIL), of)
        return pairs.unique(self.spans.identity).rename({UNTIL: ENDED})

    # By rows.

    def _ends(self, stores: Stores) -> pl.DataFrame:
        """Keys of a bucket and `__floor`: its horizon by rows."""
        horizons = self.horizons(stores)
        if horizons.is_empty():
            return horizons
        reached = pl.min_horizontal(HORIZON, pl.lit(stores.watermark, pl.Int64))
        return horizons.with_columns(reached.alias(HORIZON))

    def _cut(self, known_horizons: pl.DataFrame, stores: Stores) -> None:
        if known_horizons.is_empty():
            return
        known = floored(
            self.spans.sessions(stores).find_sessions(START, END), known_horizons, self.keys
        )
        stay = known.filter(pl.col(UNTIL) >= pl.col(HORIZON)).drop(HORIZON)
        kept = _lowered(known_horizons, stay, self.keys, FROM)
        for name in (PANES, MESSAGES):
            if name in stores.named:
                stores[name].cut(kept)
        left = floored(self.ledger.departed(stores, stores.watermark), known_horizons, self.keys)
        overlapping = self._overlapping(left.filter(pl.col(UNTIL) < pl.col(HORIZON)), stay)
        self.ledger.retire(_lowered(known_horizons, overlapping, self.keys, ENDED), stores)
        width = stores[SESSIONS].layout.slice_width
        stores[SESSIONS].cut(known_horizons.with_columns(pl.col(HORIZON) // width * width))


def evict(
    stores: Iterable[tuple[Store, tuple[str, ...]]],
    sessions: pl.DataFrame,
    stays: pl.Expr,
    horizon: int,
) -> None:
    """Drop what only sessions hold that do not stay, of stores and what they are cut by.

    Of each key what lies before the first of its sessions that stay; one that has gone on
    for long holds nothing of other keys back. A store of sessions goes by segments of ends.
    """
    stay, removed = sessions.filter(stays), sessions.filter(~stays)
    for store, keys in stores:
        by_end = store.layout.order[0] == SEGMENT
        at, width = (UNTIL, store.layout.slice_width) if by_end else (FROM, 1)
        least = stay.select(pl.col(at).min().fill_null(horizon)).to_series()
        store.expire(min(horizon, *least) // width * width)
        if not keys or store.horizon >= horizon // width * width:
            continue
        known_horizons = (
            removed.select(keys).unique().with_columns(pl.lit(horizon, pl.Int64).alias(HORIZON))
        )
        horizons = _lowered(known_horizons, stay, keys, at)
        store.cut(horizons.with_columns(pl.col(HORIZON) // width * width))


def _lowered(
    known_horizons: pl.DataFrame, records: pl.DataFrame, keys: Iterable[str], at: str
) -> pl.DataFrame:
    """Each of `ends`, or the least `at` of the records of its keys if that is lower."""
    by, least = list(keys), pl.col(at).min()
    if by:
        known = known_horizons.join(
            records.group_by(by).agg(least), on=by, how="left", nulls_equal=True
        )
    else:
        known = pl.concat([known_horizons, records.select(least)], how="horizontal")
    return known.select(*by, pl.min_horizontal(HORIZON, at).alias(HORIZON))
