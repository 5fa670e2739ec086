"""What rows are grouped by, keys or several sets of them at once, and panes of rows grouped so.

Under GROUPING SETS every row is counted once for each set, its left-out keys NULL.
That NULL is no NULL of the data, so a set has a number: a bit for each key, the
first key's the highest, set where the key is left out. The number, `__grouping`,
is one more key of all that is kept and emitted.

>>> by = Grouping({"a": pl.String(), "b": pl.Int64()}, (("a", "b"), ("a",), ()))
>>> by.spread(pl.DataFrame({"a": ["x"], "b": [7], "v": [1]})).rows()
[('x', 7, 1, 0), ('x', None, 1, 1), (None, None, 1, 3)]
>>> by.names, by.common
(('a', 'b', '__grouping'), ())

A pane of rows has accumulators of the aggregates, and its extent: `__first` and `__last`, positions
of its rows, and `__rows`, how many there are. Rows at 0:10 and 0:40 with positions 3 and 4 are the
minute 0:00 with 3, 4 and 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import polars as pl

from sqlwin.kernels.columns import constant
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.folds.base import GroupBy, lifted, lifted_row
from sqlwin.kernels.panes import pane_of
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import POSITION, SEQ, TS
from sqlwin.state.records import greatest, least
from sqlwin.windows.group import Aligned

NUMBER_OF_SET = "__grouping"
PANE = "__pane"
FIRST, LAST, ROWS = "__first", "__last", "__rows"
EXTENT = (FIRST, LAST, ROWS)


@dataclass(frozen=True)
class Grouping:
    """keys: all of them, with dtypes. sets: which keys each set has; none: no GROUPING SETS."""

    keys: dict[str, pl.DataType]
    sets: tuple[tuple[str, ...], ...] = ()

    @property
    def types(self) -> dict[str, pl.DataType]:
        """The keys that a group is known by, with dtypes."""
        return {**self.keys, NUMBER_OF_SET: pl.Int64()} if self.sets else self.keys

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.types)

    @property
    def common(self) -> tuple[str, ...]:
        """Keys that every set has: rows that differ in them meet in no group."""
        return tuple(k for k in self.keys if all(k in chosen for chosen in self.sets))

    def spread(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Each row once for every set, with `__grouping`; as it is where there are none."""
        if not self.sets:
            return rows
        return pl.concat([rows.with_columns(self._left_out(s)) for s in dict.fromkeys(self.sets)])

    def one(self, spread: pl.DataFrame) -> pl.DataFrame:
        """Of rows that were spread, those of one set: every row once."""
        if not self.sets:
            return spread
        return spread.filter(pl.col(NUMBER_OF_SET) == self._number(self.sets[0]))

    def each(self, spread: pl.DataFrame) -> list[tuple[tuple[str, ...], pl.DataFrame]]:
        """Rows that were spread by their sets, with the keys that each set has."""
        if not self.sets:
            return [(self.names, spread)]
        number = pl.col(NUMBER_OF_SET)
        sets = dict.fromkeys(self.sets)
        return [(chosen, spread.filter(number == self._number(chosen))) for chosen in sets]

    def _number(self, chosen: tuple[str, ...]) -> int:
        absent = [key not in chosen for key in self.keys]
        return sum(out << place for place, out in enumerate(reversed(absent)))

    def _left_out(self, chosen: tuple[str, ...]) -> list[pl.Expr]:
        absent = [key for key in self.keys if key not in chosen]
        nulls = [pl.lit(None, self.keys[key]).alias(key) for key in absent]
        return [*nulls, pl.lit(self._number(chosen), pl.Int64).alias(NUMBER_OF_SET)]


@dataclass(frozen=True)
class Lifting:
    """Panes of rows: once by all keys, then merged for each grouping set."""

    by: Grouping
    window: Aligned
    folds: tuple[Fold, ...]

    def __call__(self, rows: pl.DataFrame) -> pl.DataFrame:
        ordered = rows.sort(POSITION) if any(fold.ordered for fold in self.folds) else rows
        panes = self._grouped(ordered)
        if not self.by.sets:
            return panes
        return merged_by(self.by.spread(panes), (*self.by.names, PANE), self.folds)

    def _grouped(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of one pane, as most of a small batch are, are grouped by the keys alone: that takes
        half the time where there is one key."""
        keys = len(self.by.keys)
        if not keys or rows.height < 2:
            return self._group_by(rows)
        times = rows.get_column(TS)
        first, last = (pane_of(at, self.window) for at in (least(times), greatest(times)))
        if first < last:
            return self._group_by(rows)
        groups = self._group_by_keys(rows)
        return groups.insert_column(keys, constant(PANE, first, pl.Int64(), groups.height))

    @cached_property
    def _group_by(self) -> GroupBy:
        pane, each = pane_of(pl.col(TS), self.window).alias(PANE), lifted_row(self.folds)
        return GroupBy(
            (*map(pl.col, self.by.keys), pane),
            self._aggregates,
            None if each is None else lambda row: [*self._group_of(row), *each(row)],
        )

    @cached_property
    def _group_by_keys(self) -> GroupBy:
        return GroupBy(tuple(map(pl.col, self.by.keys)), self._aggregates)

    @cached_property
    def _aggregates(self) -> tuple[pl.Expr, ...]:
        seq = pl.col(SEQ)
        extent = (seq.min().alias(FIRST), seq.max().alias(LAST), _counted(pl.len()))
        return *extent, *lifted(self.folds)

    def _group_of(self, row: pl.DataFrame) -> list[pl.Series]:
        """Keys, pane and extent of one row."""
        seq, at = row.get_column(SEQ), pane_of(int(row.get_column(TS)[0]), self.window)
        return [
            *(row.get_column(key) for key in self.by.keys),
            constant(PANE, at, pl.Int64(), 1),
            *(seq.alias(FIRST), seq.alias(LAST)),
            constant(ROWS, 1, pl.Int64(), 1),
        ]


def _counted(rows: pl.Expr) -> pl.Expr:
    return rows.cast(pl.Int64).alias(ROWS)


def merged_by(held: pl.DataFrame, by: Sequence[str], folds: Sequence[Fold]) -> pl.DataFrame:
    """One row for each value of `by`: the merge of the panes there."""
    return held.group_by(by).agg(merges(folds))


def merges(folds: Sequence[Fold]) -> list[pl.Expr]:
    """Of panes: their extents and accumulators."""
    extent = [pl.col(FIRST).min(), pl.col(LAST).max(), pl.col(ROWS).sum()]
    return [*extent, *(expr for fold in folds for expr in fold.merge())]
