"""Which rows of a side RETAIN n ROWS evicts: those with n greater ones of their keys.

It counts the rows of one side with equal keys, NULLs among them; all rows of the side where
the join has no equality. Their *horizon* is the instant of the n-th greatest. A row below it
is evicted once the watermark has passed its window, so no match that is on time is lost; one
that comes late and below it has expired. Where partners may be later without end there is
no window to wait for: the row is evicted when the watermark is past it.

Where rows may be retracted the horizon is the greatest that it ever was, see `horizon`.

With a TTL the rows are counted that have not expired: a horizon of those that have must not keep
out what comes. So it is that of the rows there, and those below it are erased, where a cut would
stay.

Invariant: the stores hold the n greatest rows of every key of the side.

Worked example, partners up to 5 later, RETAIN 2 ROWS, watermark 20: a side with rows of tea
at 10, 12, 14, 18 has the horizon 14. Those at 10 and 12 go, for the watermark is past 17; at
watermark 17 only the first would.

>>> from sqlwin.windows import Unit
>>> from sqlwin.windows.joins import JoinWindow
>>> side = Side("left", {"k": pl.String()}, ("k",), JoinWindow(Unit.RANGE, -5, 5), 60)
>>> horizons = pl.DataFrame({"k": ["tea"], HORIZON: [14]})
>>> Newest(side, 2).passed(horizons, 20).rows(), Newest(side, 2).passed(horizons, 17).rows()
([('tea', 14)], [('tea', 12)])
"""

from __future__ import annotations

from functools import cached_property
from typing import cast

import polars as pl

from sqlwin.instants import START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.horizon import STORE, Horizons, KeyHorizons, floored, nth_newest
from sqlwin.operators.joins.padding import Alone
from sqlwin.operators.joins.sides import Side
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.windows.grouping import ROWS
from sqlwin.schema import TS
from sqlwin.state.contract import HORIZON


@dataclass(frozen=True)
class Newest(KeyHorizons):
    """rows: how many of each key of the side are kept in any case."""

    side: Side
    rows: int

    @cached_property
    def reached(self) -> Horizons | None:
        """Where horizons are noted, for rows may be retracted."""
        types = {key: self.side.columns[key] for key in self.side.keys}
        name = f"{self.side.name}_{STORE}"
        return Horizons(types, name, ttl=None) if self.side.weighted else None

    def stores(self) -> list[StoreSpec]:
        return [] if self.reached is None else [self.reached.spec(self.side.slice_width)]

    def newest(self, stores: Stores) -> pl.DataFrame:
        kept = self.side.scan(stores).select(*self.side.keys, TS, pl.lit(1).alias(ROWS))
        return nth_newest(kept, self.side.keys, TS, self.rows)

    def passed(self, horizons: pl.DataFrame, closed: int) -> pl.DataFrame:
        """Horizons below which rows are evicted at this watermark."""
        until = max(closed - max(self.side.window.high or 0, 0), START)
        return horizons.with_columns(pl.min_horizontal(HORIZON, pl.lit(until, pl.Int64)))

    def evict(self, alone: Alone | None, stores: Stores, now: int) -> list[pl.DataFrame]:
        """Forget rows; changes that emit those of them that had no window to be complete by.

        alone: the side's rows, where they make results by themselves.
        """
        horizons, emitted = self.passed(self.horizons(stores), stores.watermark), []
        if alone is not None and self.side.window.high is None:
            emitted = [alone.unmatched_of(self.below(horizons, stores), stores, now)]
        gone = self.below(horizons, stores) if self.side.forgets else None
        for store in (self.side.name, *([] if alone is None else [alone.store])):
            if gone is None:
                stores[store].cut(horizons)
            elif len(gone):
                stores[store].erase(gone.select(self.side.identity))
        return emitted

    def below(self, horizons: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Stored rows below the horizons of their keys."""
        until = horizons[HORIZON].max()
        rows = self.side.scan(stores, START, START if until is None else cast(int, until))
        known = floored(rows, horizons, self.side.keys)
        return known.filter(pl.col(TS) < pl.col(HORIZON)).select(*self.side.row)
