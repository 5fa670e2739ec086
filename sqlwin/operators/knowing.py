"""Which rows are known, where they may be withdrawn and a TTL forgets them.

A row that was forgotten cannot be withdrawn: accumulators would count it less than once. So
of a batch an operator is given what is still known: withdrawals of rows that are there, and all
rows that come. The row that would replace a forgotten one is then a new one.

What is known goes with the lives, so it is what the operator itself knows of them. An OVER
operator keeps its rows; of others a store `positions` keeps where each was, with its key,
and with its weight, for what was written last counts.

>>> from sqlwin.instants import END, START
>>> from sqlwin.operators.contract import Stores
>>> from sqlwin.state.combine import last_written
>>> from sqlwin.state.contract import Layout
>>> from sqlwin.state.memory import MemoryStore
>>> knowing = Knowing({"k": pl.String()}, POSITIONS)
>>> layout = Layout(POSITIONS, tuple(knowing.columns.items()), ("k",), POSITION, END)
>>> stores = Stores({POSITIONS: MemoryStore(layout, last_written(layout))})
>>> rows = {"k": "a", "__ts": 0, "__part": 0, "__seq": [7, 8], "__weight": [1, -1], "n": [5, 6]}
>>> batch = pl.DataFrame(rows, schema_overrides=knowing.columns)
>>> taken = knowing.of(batch, stores); taken["n"].to_list()
[5]
>>> knowing.note(taken, stores); gone = batch.with_columns(-pl.col("__weight"))
>>> knowing.of(gone, stores)["n"].to_list()
[5, 6]
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.weights import SIGN, there
from sqlwin.schema import PLACE, POSITION, TS, WEIGHT

POSITIONS = "positions"


@dataclass(frozen=True)
class Knowing:
    """keys: of the lives. store: that has the rows, by position and with weights."""

    keys: dict[str, pl.DataType]
    store: str

    @property
    def notes(self) -> bool:
        """Whether the store is one of its own."""
        return self.store == POSITIONS

    @property
    def columns(self) -> dict[str, pl.DataType]:
        """Of a record of its own store."""
        return {**self.keys, **PLACE, **SIGN}

    def of(self, batch: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The rows of a batch that change what is known. batch: effective, see `weights`."""
        gone = batch.filter(pl.col(WEIGHT) < 0)
        if gone.is_empty():
            return batch
        known = there(stores[self.store].scan(*bounds(gone[TS]))).select(POSITION)
        there_is = gone.join(known, on=list(POSITION), how="semi", maintain_order="left")
        return pl.concat([there_is, batch.filter(pl.col(WEIGHT) > 0)])

    def note(self, rows: pl.DataFrame, stores: Stores) -> None:
        """These are there from now on, or not."""
        if self.notes:
            # what is withdrawn is written first, for another may take its place
            stores[self.store].put(rows.select(*self.columns).sort(WEIGHT))

    def expire(self, before: int, stores: Stores) -> None:
        """No row of before comes any more, to be withdrawn or to withdraw."""
        if self.notes:
            stores[self.store].expire(before)
