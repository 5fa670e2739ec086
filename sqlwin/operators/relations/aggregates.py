"""Aggregates of the rows of an instant, where these come together: RSTREAM over `[ROWS n]`.

A message is an instant, and with it come all rows that are there, in one batch. So each group of it
is complete as it comes, is emitted once, `+I`, and nothing is kept.

The first key says the instant: `[17,"tea"]` is the group of tea at the message 17.
"""

from __future__ import annotations

import polars as pl

from sqlwin.errors import OverflowInAggregate
from sqlwin.kernels.exact import Overflow
from sqlwin.kernels.folds import Fold
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import row_key
from sqlwin.operators.relations.changes import Entering
from sqlwin.operators.store_spec import Columns, StoreSpec
from sqlwin.schema import EMIT, OP, POSITION, REVISION


@dataclass(frozen=True)
class InstantAggregates(Entering):
    """carried: the input columns. values: the types of the results of `folds`."""

    carried: Columns
    keys: Columns
    folds: tuple[Fold, ...]
    values: tuple[pl.DataType, ...]

    @property
    def output(self) -> Columns:
        named = (fold.call.name for fold in self.folds)
        return {**self.keys, **dict(zip(named, self.values, strict=True))}

    def stores(self) -> list[StoreSpec]:
        return []

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        lifted = [expr for fold in self.folds for expr in fold.lift()]
        ordered = batch.sort(POSITION)
        groups = ordered.group_by(list(self.keys), maintain_order=True).agg(lifted)
        done = groups.with_columns(self._finished(fold, groups) for fold in self.folds)
        return done.select(
            *(pl.col(name).cast(dtype) for name, dtype in self.output.items()),
            pl.lit("+I").alias(OP),
            pl.lit("full").alias(EMIT),
            pl.lit(0, pl.Int32).alias(REVISION),
            row_key(self.keys),
        )

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        stores.watermark = max(stores.watermark, watermark)
        return self.nothing()

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        return self.nothing()

    def _finished(self, fold: Fold, groups: pl.DataFrame) -> pl.Series:
        try:
            return fold.finish(groups)
        except Overflow as error:
            named = ", ".join(f"{key} = {groups[key][error.row]!r}" for key in self.keys)
            raise OverflowInAggregate(fold.call.name, f"the instant of {named}") from None
