"""How many matches each row of a side has, and whether its result is *out*: emitted, or about to
be; see `padding`.

A record is written with the first match or result of its row. It lies where its row lies, so of a
row that is replaced it is found by the keys that the row had.
"""

from __future__ import annotations

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.joins.schema import OUT
from sqlwin.operators.joins.sides import Columns, Side
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.policies import Policy

MATCHES = "__matches"


@dataclass(frozen=True)
class MatchRecords:
    """Of the rows of one side."""

    side: Side

    @property
    def store(self) -> str:
        return f"{self.side.name}_known"

    @property
    def columns(self) -> Columns:
        side = self.side
        columns = {**{name: side.columns[name] for name in side.keys}, **side.marks}
        named = (*side.first, *side.order)
        return {
            **{name: columns[name] for name in dict.fromkeys(named)},
            MATCHES: pl.Int64(),
            OUT: pl.Boolean(),
        }

    def spec(self, policy: Policy) -> StoreSpec:
        words = f"matches of each {self.side.name} row"
        return self.side.record(self.store, self.columns, words, policy)

    def put(self, rows: pl.DataFrame, stores: Stores) -> None:
        """rows: with `__matches` and `__out`."""
        stores[self.store].put(rows.select(*self.columns))

    def clear(self, removed: pl.DataFrame, stores: Stores) -> None:
        """Rows retracted or replaced, whose keys may be others now."""
        if self._keys and len(removed):
            none = (pl.lit(0, pl.Int64).alias(MATCHES), pl.lit(False).alias(OUT))
            self.put(removed.with_columns(none), stores)

    def of(
        self, rows: pl.DataFrame, stores: Stores, removed: pl.DataFrame | None = None
    ) -> pl.DataFrame:
        """Rows with their records beside them; of those in `removed` by the keys that they had."""
        side, on = self.side, list(self.side.identity)
        had = rows.select(*on, *self._keys) if removed is None else self._before(rows, removed)
        keys = had.select(side.first).unique() if side.first else None
        found = stores[self.store].scan(*bounds(rows[on[0]]), keys)
        known = found.join(had, on=[*on, *self._keys], how="semi", nulls_equal=True)
        joined = rows.join(
            known.select(*on, MATCHES, OUT),
            on=on,
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        return joined.with_columns(pl.col(MATCHES).fill_null(0), pl.col(OUT).fill_null(False))

    @property
    def _keys(self) -> list[str]:
        """Those that a record is found by."""
        return [name for name in (*self.side.first, *self.side.order) if name in self.side.keys]

    def _before(self, rows: pl.DataFrame, removed: pl.DataFrame) -> pl.DataFrame:
        """What distinguishes rows, and the keys that they had."""
        on = list(self.side.identity)
        both = pl.concat([each.select(*on, *self._keys) for each in (removed, rows)])
        return both.unique(on, keep="first", maintain_order=True)
