"""Messages counted: what a tuple window measures its size in.

Messages of a partition key are numbered from 1 in the order of their positions.
As in SAMZA-552, offsets are taken to be in the order of arrival, so a number,
once given, never changes. The number stands in for event time, which these windows have
none of: so by `POSITION` messages are in the order of their numbers.

Invariant: the count kept for a partition is the greatest number given in it.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.load import Load
from sqlwin.operators.store_spec import ONE_SLICE, StoreSpec, layout_of
from sqlwin.schema import PART, SEQ, TS
from sqlwin.state.combine import last_written

STORE = "counts"
AT = "__at"
NUMBER = "__number"
COUNT, BEFORE, ADDED = "__count", "__before", "__added"


@dataclass(frozen=True)
class Numbering:
    partition: dict[str, pl.DataType]

    @property
    def columns(self) -> dict[str, pl.DataType]:
        return {**self.partition, AT: pl.Int64(), COUNT: pl.Int64()}

    def spec(self, ttl: Literal["key"] | None = "key") -> StoreSpec:
        layout = layout_of(STORE, self.columns, tuple(self.partition), (AT,), ONE_SLICE)
        of = "each key" if self.partition else "all keys"
        return StoreSpec(layout, last_written(layout), f"messages of {of}", self._expected, ttl)

    def _expected(self, load: Load) -> float:
        return load.keys_if(bool(self.partition))

    def number(self, rows: pl.DataFrame, stores: Stores) -> tuple[pl.DataFrame, pl.DataFrame]:
        """`rows` with `__number`, as `__ts` too; the touched partitions, `__before` and
        `__count` of each."""
        ranked = rows.sort(PART, SEQ).with_columns(self._rank())
        added = ranked.group_by(self._by(), maintain_order=True).agg(
            pl.len().cast(pl.Int64).alias(ADDED)
        )
        known = everything(stores, STORE).rename({COUNT: BEFORE})
        counts = self._join(added, known).with_columns(
            pl.col(BEFORE).fill_null(0), pl.lit(0, pl.Int64).alias(AT)
        )
        counts = counts.with_columns((pl.col(BEFORE) + pl.col(ADDED)).alias(COUNT))
        stores[STORE].put(counts.select(*self.columns))
        numbered = self._join(ranked, counts.select(*self.partition, BEFORE))
        number = pl.col(NUMBER) + pl.col(BEFORE)
        since = numbered.with_columns(number, number.alias(TS)).drop(BEFORE)
        return since, counts.drop(ADDED)

    def with_counts(self, frame: pl.DataFrame, counts: pl.DataFrame) -> pl.DataFrame:
        """`frame` with its partition's counts; rows of other partitions are left out."""
        return self._join(frame, counts, how="inner")

    def _by(self) -> list[str | pl.Expr]:
        return list(self.partition) or [pl.lit(0, pl.Int64).alias(AT)]

    def _rank(self) -> pl.Expr:
        rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
        return (rank.over(*self.partition) if self.partition else rank).alias(NUMBER)

    def _join(
        self, left: pl.DataFrame, right: pl.DataFrame, how: Literal["left", "inner"] = "left"
    ) -> pl.DataFrame:
        """On the partition, NULLs equal; with no partition there is one record at most."""
        right = right.drop(AT, strict=False)
        if self.partition:
            return left.join(
                right, on=list(self.partition), how=how, nulls_equal=True, maintain_order="left"
            )
        if right.is_empty():
            extra = [pl.lit(None, dtype).alias(name) for name, dtype in right.schema.items()]
            return left.with_columns(extra) if how == "left" else left.with_columns(extra).head(0)
        return left.with_columns(
            pl.lit(right[name][0], right.schema[name]).alias(name) for name in right.columns
        )
