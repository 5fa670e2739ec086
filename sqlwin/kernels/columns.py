"""Columns beside others, without a query of Polars.

`with_columns` of a few rows costs ten times what its work does: it is planned, and run by a pool.

>>> frame = pl.DataFrame({"n": [1, 2]})
>>> beside(frame, constant("word", "full", pl.String(), frame.height)).rows()
[(1, 'full'), (2, 'full')]
>>> beside(frame, pl.Series("n", [3, 4])).rows()
[(3,), (4,)]
"""

from __future__ import annotations

from functools import cache

import polars as pl

Value = bool | int | str | None
DType = pl.DataType | type[pl.DataType]


def beside(frame: pl.DataFrame, *columns: pl.Series) -> pl.DataFrame:
    """As `frame.with_columns(columns)`; they have the height of the frame."""
    if any(column.name in frame.columns for column in columns):
        return frame.with_columns(columns)
    return frame.hstack(list(columns))


def constant(name: str, value: Value, dtype: DType, rows: int) -> pl.Series:
    """The value in each of so many rows."""
    return _one(name, value, dtype).new_from_index(0, rows)


@cache
def _one(name: str, value: Value, dtype: DType) -> pl.Series:
    return pl.Series(name, [value], dtype)
