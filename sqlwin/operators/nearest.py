"""Left rows of an ASOF join with the nearest right row of each, and what was told of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from sqlwin.instants import START
from sqlwin.kernels.joins import coded
from sqlwin.kernels.joins import nearest as nearest_rows
from sqlwin.operators.changes import OLD
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.join_sides import Columns, Side
from sqlwin.operators.pairing import marked
from sqlwin.schema import TS
from sqlwin.windows import AsOf, JoinWindow, Unit

KNOWN, OUT, FOUND = "left_known", "__out", "__found"


def window_of(match: AsOf) -> JoinWindow:
    """Where the right row may be, seen from the left one.

    >>> window_of(AsOf(">"))
    JoinWindow(unit=<Unit.RANGE: 'RANGE'>, low=None, high=-1)
    """
    apart = int(match.strict)
    return JoinWindow(Unit.RANGE, *((None, -apart) if match.backward else (apart, None)))


@dataclass(frozen=True)
class Nearest:
    """retain: of the policy, microseconds."""

    left: Side
    right: Side
    match: AsOf
    retain: int | None

    @cached_property
    def known(self) -> Columns:
        left = self.left
        names = dict.fromkeys((*left.layout.keys, *left.layout.order))
        old = {OLD + name: dtype for name, dtype in self.right.columns.items()}
        return {**{name: left.row[name] for name in names}, OUT: pl.Boolean(), **old}

    def valued(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Left rows with the nearest right row of each and what is known of them."""
        left, right = self.left, self.right
        others = right.near(rows, left, stores)
        ends = coded(rows, others, left.keys, right.keys, TS)
        at = pl.Series(
            nearest_rows(*ends, self.match.backward, self.match.strict), dtype=pl.Int64()
        )
        at = at.set(at < 0, None)
        found = others.select(pl.col(*right.columns), pl.col(TS).alias(marked(right)[TS])).select(
            pl.all().gather(pl.lit(at))
        )
        valued = pl.concat(
            [rows, found.with_columns(at.is_not_null().alias(FOUND))], how="horizontal"
        )
        return self._with_known(valued, stores)

    def _with_known(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        left = self.left
        keys = rows.select(left.keys).unique() if left.keyed else None
        known = stores[KNOWN].scan(*bounds(rows[TS]), keys)
        on, told = list(left.identity), [OUT, *(OLD + name for name in self.right.columns)]
        joined = rows.join(known.select(*on, *told), on=on, how="left", maintain_order="left")
        return joined.with_columns(pl.col(OUT).fill_null(False))

    def certain(self, closed: int) -> pl.Expr:
        if self.match.backward:
            return pl.col(TS) < closed
        retain = self.retain
        leaves = pl.lit(False) if retain is None else pl.col(TS) < closed - retain
        return pl.when(FOUND).then(pl.col(marked(self.right)[TS]) < closed).otherwise(leaves)

    def floor(self, horizon: int, stores: Stores) -> int:
        """The first left row whose nearest, looking ahead, is within retention."""
        rows = self.valued(self.left.scan(stores, START, horizon), stores)
        wanted = rows.filter(pl.col(marked(self.right)[TS]) >= horizon)
        times: list[int] = wanted[TS].to_list()
        return min([horizon, *times])
