"""Columns beside others, without a query of Polars.

`with_columns` of a few rows costs ten times what its work does: it is planned, and run by a pool.

>>> frame = pl.DataFrame({"n": [1, 2]})
>>> beside(frame, constant("word", "full", pl.String(), frame.height)).rows()
[(1, 'full'), (2, 'full')]
>>> beside(frame, pl.Series("n", [3, 4])).rows()
[(3,), (4,)]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import polars as pl

Value = bool | int | str | None
BLOCK = 4_096
"""Numbers that are made at once, of which few rows take a part."""
DType = pl.DataType | type[pl.DataType]


def beside(frame: pl.DataFrame, *columns: pl.Series) -> pl.DataFrame:
    """As `frame.with_columns(columns)`; they have the height of the frame."""
    if any(column.name in frame.columns for column in columns):
        return frame.with_columns(columns)
    return frame.hstack(list(columns))


def table(columns: Iterable[pl.Series]) -> pl.DataFrame:
    """A frame of one column or more, all of one height and no two of one name. `pl.DataFrame` of
    them, which looks through each, costs three times as much.

    >>> table([pl.Series("n", [1, 2]), pl.Series("m", [3, 4])]).rows()
    [(1, 3), (2, 4)]
    """
    first, *others = columns
    return first.to_frame().hstack(others)


def columns_of(frame: pl.DataFrame, names: Sequence[str]) -> list[pl.Series]:
    """The columns of these names. To ask for each costs twice what each of all of them costs."""
    if 2 * len(names) < frame.width:
        return [frame.get_column(name) for name in names]
    every = dict(zip(frame.columns, frame.get_columns(), strict=True))
    return [every[name] for name in names]


def picked(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """As `frame.select(names)`, of one column or more."""
    return table(columns_of(frame, names))


def constant(name: str, value: Value, dtype: DType, rows: int) -> pl.Series:
    """The value in each of so many rows."""
    return _one(name, value, dtype).new_from_index(0, rows)


def ascending(name: str, first: int, rows: int) -> pl.Series:
    """`first` and the integers after it.

    >>> ascending("n", 7, 3).to_list()
    [7, 8, 9]
    """
    at = first % BLOCK
    if at + rows > BLOCK:
        return pl.int_range(first, first + rows, eager=True).alias(name)
    return _block(first - at).slice(at, rows).alias(name)


@lru_cache(maxsize=16)
def _block(first: int) -> pl.Series:
    return pl.int_range(first, first + BLOCK, eager=True)


@lru_cache(maxsize=1_000)  # an instant may be a value
def _one(name: str, value: Value, dtype: DType) -> pl.Series:
    return pl.Series(name, [value], dtype)
