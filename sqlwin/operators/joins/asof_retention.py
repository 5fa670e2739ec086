"""Which rows of an ASOF join are out of retention: left ones, and right ones that are outdone.

The *horizon* is the watermark less RETAIN. Looking back a left row below it leaves, and of the
right rows of a key below it all but the newest. Looking ahead both sides leave together, below
the first left row whose nearest is not below the horizon: a row that is nearer may come.

Invariant: of a left row that is kept the nearest right row is kept, unless a TTL forgets it.

Worked example, `>=`, RETAIN 10, right rows at 3 and 7: at watermark 15 the horizon is 5, and
both stay. At 18 it is 8: that at 3 leaves, for no row that may still come is nearer to it.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import START
from sqlwin.operators.contract import Stores
from sqlwin.operators.joins.nearest import KNOWN, Nearest
from sqlwin.operators.joins.sides import Side
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
