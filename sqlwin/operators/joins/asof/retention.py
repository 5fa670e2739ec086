"""Which rows of an ASOF join are out of retention: left ones, and right ones that are outdone.

By time:

The *horizon* is the watermark less RETAIN. Looking back a left row below it leaves, and of the
right rows of a key below it all but the newest. Looking ahead both sides leave together, below
the first left row whose nearest is not below the horizon: a row that is nearer may come.

Invariant: of a left row that is kept the nearest right row is kept, unless a TTL forgets it.

Worked example, `>=`, RETAIN 10, right rows at 3 and 7: at watermark 15 the horizon is 5, and
both stay. At 18 it is 8: that at 3 leaves, for no row that may still come is nearer to it.

RETAIN n ROWS does so by key (`Outnumbered`). The horizon of a right row is the instant of the n-th
newest right row of its keys; that of a left row the same of either side, whichever is later, for a
right row below its horizon has expired, and so is nearest to no row below it any more. A row below
its horizon leaves once the watermark is past it, but looking back the newest right one; looking
ahead a left one whose nearest is not below the watermark stays till it is. One that still has none
is final when it leaves.

Worked example, `>=`, RETAIN 2 ROWS, right rows at 3, 7, 12 and 20, watermark 15: their horizon is
12. That at 3 leaves, and that at 7 stays, the nearest of a row at 11. A left row at 11 that comes
now has expired, one at 12 has not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import cast

import polars as pl

from sqlwin.instants import START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.horizon import floored
from sqlwin.operators.joins.asof.nearest import FOUND, KNOWN, Nearest
from sqlwin.operators.joins.pairing import marked
from sqlwin.operators.joins.retention import Newest
from sqlwin.operators.joins.sides import Side
from sqlwin.operators.load import Load, Records
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.policies import Policy
from sqlwin.schema import TS
from sqlwin.state.contract import HORIZON


def retire(nearest: Nearest, was: int, horizon: int, stores: Stores) -> int:
    """Let rows go; was: the horizon before. The horizon of left rows from now on."""
    back = nearest.match.backward
    before = horizon if back else nearest.horizon(horizon, stores)
    for name in ("left", KNOWN):
        stores[name].expire(before)
    if back:
        stores["right"].cut(_outdone(nearest.right, was, horizon, stores))
    else:
        stores["right"].expire(before)
    return before


def _outdone(right: Side, was: int, horizon: int, stores: Stores) -> pl.DataFrame:
    """Floors by key; with a TTL by row, for they go with its life and name no key."""
    leaving, newest = right.scan(stores, was, horizon), pl.col(TS).max()
    keys = list(right.keys)
    if right.forgets:
        of_keys = leaving.select(keys).unique() if keys else None
        there = right.scan(stores, START, horizon, of_keys)
        older = there.filter(pl.col(TS) < (newest.over(keys) if keys else newest))
        return older.select(*right.identity, (pl.col(TS) + 1).alias(HORIZON))
    newest = newest.alias(HORIZON)
    horizons = leaving.group_by(keys).agg(newest) if keys else leaving.select(newest)
    return horizons.filter(pl.col(HORIZON).is_not_null())


_WAITS = "__waits"


def versions(right: Side, policy: Policy) -> StoreSpec:
    """The store of the right rows, of which the newest of each key stays besides."""
    rows = right.spec(policy)

    def expected(load: Load) -> Records:
        retained = rows.expected(load)
        newest = load.keys_if(bool(right.keys))
        return retained if isinstance(retained, str) else retained + newest

    return replace(rows, expected=expected)


@dataclass(frozen=True)
class Outnumbered:
    """RETAIN n ROWS of rows that are never retracted. rows: how many that is."""

    nearest: Nearest
    rows: int

    @cached_property
    def left(self) -> Newest:
        return Newest(self.nearest.left, self.rows)

    @cached_property
    def right(self) -> Newest:
        return Newest(self.nearest.right, self.rows)

    def horizons(self, stores: Stores, side: int) -> pl.DataFrame:
        """Keys of a side, 0 is the left one, and `__floor`: what is late and below has expired."""
        of_right = self.right.horizons(stores)
        if side == 1:
            return of_right
        keys = self.left.side.keys
        named = dict(zip(self.right.side.keys, keys, strict=True))
        both = pl.concat([self.left.horizons(stores), of_right.rename(named).drop_nulls()])
        latest = pl.col(HORIZON).max()
        return both.group_by(keys).agg(latest) if keys else both.select(latest).drop_nulls()

    def below(self, known: pl.DataFrame, floors: pl.DataFrame) -> pl.DataFrame:
        """Left rows that leave; floors: `left_floors`."""
        found = floored(known, floors, self.left.side.keys)
        return found.filter(pl.col(TS) < pl.col(HORIZON)).select(known.columns)

    def left_floors(self, known: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """known: looking ahead the left rows below the watermark, with the nearest of each."""
        floors = self.left.passed(self.horizons(stores, 0), stores.watermark)
        if self.nearest.match.backward:
            return floors
        keys, at = list(self.left.side.keys), marked(self.right.side)[TS]
        waiting = known.filter(pl.col(FOUND), pl.col(at) >= stores.watermark)
        first = pl.col(TS).min().alias(_WAITS)
        if keys:
            of_keys = waiting.group_by(keys).agg(first)
            floors = floors.join(of_keys, on=keys, how="left", nulls_equal=True)
        else:
            floors = pl.concat([floors, waiting.select(first)[: len(floors)]], how="horizontal")
        return floors.select(*keys, pl.min_horizontal(HORIZON, _WAITS).alias(HORIZON))

    def evict(self, floors: pl.DataFrame, stores: Stores) -> None:
        """floors: `left_floors`."""
        right = self._right_floors(stores)
        for name in ("left", KNOWN):
            stores[name].cut(floors)
        stores["right"].cut(right)

    def _right_floors(self, stores: Stores) -> pl.DataFrame:
        floors = self.right.passed(self.right.horizons(stores), stores.watermark)
        if not self.nearest.match.backward:
            return floors
        keys = self.right.side.keys
        until = floors[HORIZON].max()
        rows = self.right.side.scan(stores, START, START if until is None else cast(int, until))
        older = floored(rows, floors, keys).filter(pl.col(TS) < pl.col(HORIZON))
        newest = pl.col(TS).max().alias(HORIZON)
        return older.group_by(keys).agg(newest) if keys else older.select(newest).drop_nulls()
