"""Joins of two streams by session key: rows pair whose sessions overlap. Source: SAMZA-552.

Each row is in one session of its side, `[first, last + gap)` over all rows of its session key,
or, where one side has none, at its instant. A pair matches if these have an instant in common,
further keys are equal and the residual is true. A late row may make a session grow, or bridge
two, so that more rows match; one that is retracted may split it, so that fewer do. What is
emitted of a row by itself is as in other joins (`padding`); it is complete when the watermark is
past the end of its session.

| store                       | record                                      |
|-----------------------------|---------------------------------------------|
| those of `sides`            |                                             |
| `left_known`, `right_known` | see `padding`; where rows make results alone |
| `pending`, `revisions`      | see `change_ledger`                         |

Invariant: between two calls the matches emitted, or waiting, are those of all rows kept.

Worked example, LEFT, gaps of 10: a left row at 0, a right one at 12: [0, 10) and [12, 22) do
not overlap. Watermark 11: the left row goes out, padded. A late left row at 8 makes its session
[0, 18): the padded row is retracted, and both left rows pair with the right one. The first pair
is not late, for the watermark has not passed 12.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import polars as pl

from sqlwin.instants import START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.joins.operator import WindowJoin
from sqlwin.operators.joins.sessions.pairing import SessionPairing
from sqlwin.operators.joins.sessions.sides import SessionSide
from sqlwin.operators.joins.sides import Columns
from sqlwin.operators.load import not_estimated
from sqlwin.operators.state_queries import EDGES, SIDE, StateQuery, said
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.windows.grouping import EXTENT
from sqlwin.polars_frames import INSTANT
from sqlwin.state.stores.session_store import FROM, UNTIL


@dataclass(frozen=True)
class SessionJoin(WindowJoin):
    left: SessionSide
    right: SessionSide

    @cached_property
    def pairing(self) -> SessionPairing:
        return SessionPairing(self.left, self.right, self.residual)

    @property
    def retains_rows(self) -> bool:
        """Rows go with their sessions."""
        return False

    def stores(self) -> list[StoreSpec]:
        """Sessions are as long as the gap of a row lets them be: none is estimated."""
        rows = [replace(spec, expected=not_estimated) for spec in super().stores()]
        return [self.left.session_spec, self.right.session_spec, *rows]

    @property
    def key(self) -> Columns:
        return {name: self.left.columns[name] for name in self.left.partition}

    @property
    def order(self) -> tuple[str, ...]:
        return (*reversed(EDGES), SIDE)

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """The sessions of both sides that overlap it, `__side` first."""
        found = [self._sessions(side, query, stores) for side in (self.left, self.right)]
        return pl.concat(found)

    def _sessions(self, side: SessionSide, query: StateQuery, stores: Stores) -> pl.DataFrame:
        keys = self._keys_of(side, query.keys)
        wanted = None if keys is None else keys.select(side.partition).unique()
        held = side.spans.sessions(stores).find_sessions(START, query.hi, wanted)
        if stores.sides is not None and wanted is not None:
            stores.sides.note_rows(side.name, held.filter(pl.col(UNTIL) > query.lo))
        named = zip(side.partition, self.left.partition, strict=True)
        edges = zip((FROM, UNTIL), EDGES, strict=True)
        return held.filter(pl.col(UNTIL) > query.lo).select(
            pl.lit(side.name).alias(SIDE),
            *(pl.col(own).alias(name) for own, name in named),
            *(pl.col(at).cast(INSTANT).alias(name) for at, name in edges),
            said(pl.col(UNTIL) <= stores.watermark),
            *EXTENT,
        )

    def _retire(self, stores: Stores) -> None:
        if self.policy.retain is None:
            return
        known = {each.side.name: each.store for each in self.alone}
        sides = self.left, self.right
        horizon = self.left.horizon(stores.watermark, 0, self.policy.retain)
        reaching = [side.reaching(horizon, stores) for side in sides]
        for side, others in zip(sides, reversed(reaching), strict=True):
            names = [side.name, *([known[side.name]] if side.name in known else [])]
            side.evict(horizon, others, names, stores)
        self.ledger.retire(stores, min(stores[side.name].horizon for side in sides))
