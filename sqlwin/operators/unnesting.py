"""UNNEST: the rows of the elements of an array, or of the entries of a map, of each row.

Nothing is kept. A row is known by the one it comes from and the number of its element, from 1 on:
where a row is replaced, its elements replace each other by number, and what either has
more of is retracted, or inserted. The number 0 is of a row without elements, where it stays.

>>> rows = pl.DataFrame({"k": "a", "tags": [["x", "y"], ["z"]], OP: ["-U", "+U"]})
>>> rows = rows.with_columns(pl.lit("[7]").alias(ROW_KEY), pl.Series(REVISION, [0, 1], pl.Int32))
>>> made = Unnesting("tags", ("tag",)).unnest(rows)
>>> made["k", "tag", OP, ROW_KEY].rows()
[('a', 'x', '-U', '[[7],1]'), ('a', 'z', '+U', '[[7],1]'), ('a', 'y', '-D', '[[7],2]')]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import OP, REVISION, ROW_KEY

Numbers = npt.NDArray[np.int64]
PAIR, NUMBER = "__pair", "__number"


@dataclass(frozen=True)
class Unnesting:
    """As the fields of `plan.ir.unnest.Unnest`."""

    column: str
    names: tuple[str, ...]
    expands: bool = False
    ordinal: str | None = None
    first: int = 1
    outer: bool = False

    def unnest(self, changes: pl.DataFrame) -> pl.DataFrame:
        """changes: with `__op`, `__revision`, `__row_key`, a `-U` before its `+U`."""
        lists = _lists(changes[self.column])
        lengths = lists.list.len().fill_null(0).cast(pl.Int64).to_numpy()
        copies = np.maximum(lengths, 1) if self.outer else lengths
        owners = np.repeat(np.arange(len(changes)), copies)
        within = _within(copies)
        elements = _elements(lists, lengths, owners, within)
        numbers = np.where(lengths[owners] > 0, within + 1, 0)
        rows = changes.drop(self.column)[owners].with_columns(
            *self._named(elements), *self._ordinals(numbers), pl.Series(NUMBER, numbers)
        )
        keyed = rows.with_columns(pl.format("[{},{}]", ROW_KEY, NUMBER).alias(ROW_KEY))
        return _paired(keyed, _pairs(changes)[owners]).drop(NUMBER)

    def _named(self, elements: pl.Series) -> list[pl.Series]:
        if not self.expands:
            return [elements.alias(self.names[0])]
        return [
            field.alias(name)
            for field, name in zip(elements.struct.unnest().get_columns(), self.names, strict=True)
        ]

    def _ordinals(self, numbers: Numbers) -> list[pl.Series]:
        if self.ordinal is None:
            return []
        known = pl.Series(self.ordinal, numbers + (self.first - 1), dtype=pl.Int32)
        return [known.set(pl.Series(numbers == 0), None)]


def _lists(values: pl.Series) -> pl.Series:
    """A map as the list of its entries."""
    if isinstance(values.dtype, pl.Map):
        entry = pl.Struct({"key": values.dtype.key, "value": values.dtype.value})
        return values.cast(pl.List(entry))
    return values


def _within(copies: Numbers) -> Numbers:
    """Of each copy which of its row's it is, from 0 on.

    >>> _within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    begins = np.cumsum(copies) - copies
    return np.arange(int(copies.sum())) - np.repeat(begins, copies)


def _elements(lists: pl.Series, lengths: Numbers, owners: Numbers, within: Numbers) -> pl.Series:
    """Of each copy its element, NULL where its row has none."""
    found = lists.filter(pl.Series(lengths > 0)).explode()
    begins = np.cumsum(lengths) - lengths
    there = lengths[owners] > 0
    if there.all():
        return found
    at: Any = pl.Series(begins[owners] + within).set(pl.Series(~there), None)
    return found.extend_constant(None, 1).gather(at)


def _pairs(changes: pl.DataFrame) -> Numbers:
    """Of each change the number of its pair: that of the `-U` before a `+U`, else its own."""
    second = (changes[OP] == "+U") & (changes[OP].shift(1) == "-U").fill_null(False)
    pairs: Numbers = np.arange(len(changes)) - second.to_numpy()
    return pairs


def _paired(rows: pl.DataFrame, pairs: Numbers) -> pl.DataFrame:
    """What was replaced before what replaces it; without the other half one is a change alone."""
    if not rows[OP].is_in(["-U", "+U"]).any():
        return rows
    ordered = rows.with_columns(pl.Series(PAIR, pairs)).sort(PAIR, NUMBER, maintain_order=True)
    both = pl.len().over(PAIR, NUMBER) == 2
    alone = pl.when(both).then(OP).when(pl.col(OP) == "-U").then(pl.lit("-D"))
    inserted = pl.when(pl.col(OP) == "+U").then(pl.lit("+I")).otherwise(OP)
    revision = pl.col(REVISION)
    replaced = pl.when(~both & (pl.col(OP) == "-U")).then(revision + 1).otherwise(revision)
    return ordered.with_columns(
        alone.otherwise(inserted).alias(OP), replaced.cast(pl.Int32).alias(REVISION)
    ).drop(PAIR)
