"""Changes of a join that are pending, in the store `pending`.

Records lie by the time they are due, so those that went out are evicted together, and the rest
stays where it is. A record that is replaced before is void: by one that is due sooner, by none if
the change was undone, or as an end of input emits what is due later.

Of EARLY EVERY n ROWS no time evicts the records, see `due_changes`: void ones are erased once they
are the greater part.

Invariant: what is pending of one result has the same `__due`, and of each sign one row at most.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import END
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.schema import DUE, SIGN
from sqlwin.operators.joins.changes.due_changes import NEVER
from sqlwin.operators.joins.sides import Columns
from sqlwin.operators.load import nothing
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.schema import ROW_KEY
from sqlwin.state.combine import last_written

CHANGES = "pending"
VOID = "__void"
ONE_INSTANT = 1
"""Few times are due at once, the ends of periods, and each goes as a whole."""


@dataclass(frozen=True)
class PendingChanges:
    """columns: of a change, the last revision besides. by_rows: some wait for rows."""

    columns: Columns
    by_rows: bool

    @property
    def spec(self) -> StoreSpec:
        layout = layout_of(
            CHANGES, {**self.columns, VOID: pl.Boolean()}, (), (DUE, ROW_KEY, SIGN), ONE_INSTANT
        )
        until = "for rows" if self.by_rows else "for the end of a period"
        words = f"changes that wait {until}"
        return StoreSpec(layout, last_written(layout), words, nothing, "pair")

    def read(self, stores: Stores) -> pl.DataFrame:
        found = everything(stores, CHANGES).filter(~pl.col(VOID))
        return found.select(*self.columns)

    def replace(
        self, taken: pl.DataFrame, later: pl.DataFrame, now: int, stores: Stores
    ) -> pl.DataFrame:
        """Keep what goes out later, as it is kept. taken: records that go out or are replaced."""
        store = stores[CHANGES]
        if stores.pending is not None and stores.pending <= now:
            store.expire(now + 1)
        # a clock that went back must not bring records below the horizon
        due = pl.max_horizontal(DUE, pl.lit(store.horizon, pl.Int64)).alias(DUE)
        kept = later.with_columns(due)
        still = taken.filter(pl.col(DUE) >= store.horizon)
        void = still.join(kept, on=[DUE, ROW_KEY, SIGN], how="anti", maintain_order="left")
        for records, undone in ((void, True), (kept, False)):
            marked = records.with_columns(pl.lit(undone).alias(VOID))
            store.put(marked.select(store.layout.schema.names()))
        if self.by_rows:
            self._erase(stores)
        return kept

    def _erase(self, stores: Stores) -> None:
        """Void records that no time evicts."""
        found = stores[CHANGES].scan(NEVER, END)
        void = found.filter(VOID)
        if 2 * len(void) > len(found):
            stores[CHANGES].erase(void.select(stores[CHANGES].layout.identity))
