"""Rows that may be retracted: what a batch takes away and what it brings.

A row of weight -1 retracts the row of the same position, with the values that one came
with; one of weight +1 is there from now on. In a batch a position is retracted at most
once and comes at most once, in this order: both together replace it. One that is
replaced by its equal is as if nothing had come.

A store of rows keeps what was retracted as well, with its weight, for what was
written last counts; it goes in its time, like any row.

>>> rows = {"v": [1, 2, 1, 5], "__ts": 0, "__part": 0, "__seq": [7, 7, 8, 9]}
>>> batch = pl.DataFrame({**rows, "__weight": [-1, 1, -1, 1]})
>>> removed, added = split(batch)
>>> removed["__seq"].to_list(), added["v"].to_list()
([7, 8], [2, 5])
>>> same = pl.DataFrame({"v": [3, 3], "__ts": 0, "__part": 0, "__seq": 7, "__weight": [-1, 1]})
>>> len(effective(same)), len(effective(batch)), len(there(batch))
(0, 4, 2)
"""

from __future__ import annotations

import polars as pl

from sqlwin.schema import PART, SEQ, WEIGHT

SIGN: dict[str, pl.DataType] = {WEIGHT: pl.Int8()}


def effective(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows by position, without those that are replaced by their equals; `__weight` is Int8.

    Where it is missing, each row is there.
    """
    if WEIGHT not in rows.columns:
        rows = rows.with_columns(pl.lit(1).alias(WEIGHT))
    ordered = rows.with_columns(pl.col(WEIGHT).cast(pl.Int8)).sort(PART, SEQ, WEIGHT)
    values = [pl.col(name) for name in rows.columns if name != WEIGHT]
    same = pl.all_horizontal(
        pl.col(WEIGHT) > 0,
        pl.col(WEIGHT).shift() < 0,
        *(value.eq_missing(value.shift()) for value in values),
    ).fill_null(False)
    return ordered.filter(~same & ~same.shift(-1, fill_value=False))


def split(batch: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What is retracted, and what is there from now on, without weights."""
    removed = pl.col(WEIGHT) < 0
    return batch.filter(removed).drop(WEIGHT), batch.filter(~removed).drop(WEIGHT)


def there(records: pl.DataFrame) -> pl.DataFrame:
    """Those that were not retracted, without weights; all, where none can be."""
    if WEIGHT not in records.columns:
        return records
    return records.filter(pl.col(WEIGHT) > 0).drop(WEIGHT)


def weighed(rows: pl.DataFrame, weight: int) -> pl.DataFrame:
    """Rows, each of one weight."""
    return rows.with_columns(pl.lit(weight, pl.Int8).alias(WEIGHT))
