"""The rows that ROWS frames still reach after their time slice has gone.

`ROWS n PRECEDING` looks back n rows of the partition, however old. When the row
store drops what is before some instant, the last n rows of each partition that
are before it move here, into n numbered slots of that partition (0 the newest).

Invariant: the slots of an owner hold the greatest n of its rows, by (ts, part,
seq), that the row store has dropped or is about to drop.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.operators.changes import row_key
from sqlwin.operators.contract import Stores
from sqlwin.operators.revisions import everything
from sqlwin.schema import POSITION, ROW_KEY
from sqlwin.windows import Frame

STORE = "history"
OWNER, SLOT = "__owner", "__slot"


@dataclass(frozen=True)
class History:
    """frames: (partition, ROWS frame) of each call that has one."""

    frames: tuple[tuple[tuple[str, ...], Frame], ...]

    def keep(self, stores: Stores, before: int) -> None:
        """Move here what the row store is about to drop and a frame may still reach."""
        if not self.frames:
            return
        leaving = stores["rows"].scan(-(2**63), before)
        if leaving.is_empty():
            return
        held = everything(stores, STORE)
        for number, (partition, depth) in enumerate(self._depths().items()):
            owned = leaving.with_columns(self._owner(number, partition, leaving))
            kept = held.join(owned.select(OWNER).unique(), on=OWNER, how="semi").drop(SLOT)
            every = pl.concat([kept.select(owned.columns), owned]).sort(POSITION, descending=True)
            slot = pl.int_range(pl.len(), dtype=pl.Int64).over(OWNER).alias(SLOT)
            newest = every.with_columns(slot).filter(pl.col(SLOT) < depth)
            stores[STORE].put(newest.select(held.columns))

    def rows(self, stores: Stores) -> pl.DataFrame:
        """In order; all of them are before what the row store still holds."""
        return everything(stores, STORE).drop(OWNER, SLOT).unique(POSITION).sort(POSITION)

    def _depths(self) -> dict[tuple[str, ...], int]:
        depths: dict[tuple[str, ...], int] = {}
        for partition, frame in self.frames:
            depths[partition] = max(depths.get(partition, 0), frame.preceding)
        return depths

    def _owner(self, number: int, partition: tuple[str, ...], rows: pl.DataFrame) -> pl.Expr:
        key = row_key({name: rows.schema[name] for name in partition}).alias(ROW_KEY)
        return pl.concat_str([pl.lit(f"{number}"), key]).alias(OWNER)
