"""What a fold is: an aggregate function bound to its columns.

    rows ── lift ──> accumulators ── merge ──> accumulators ── finish ──> values
    rows ── over(frames) ──> accumulators, one a frame ── finish ──> values   (= slide)

Rows are also taken out again: of an `invertible` fold, merging the `negated` accumulators
of rows is as if they had never been there; of any other, only lifting anew is.

Law: however rows are cut into parts, lifting each part, merging the parts in any
order and grouping, and finishing gives the value of lifting all rows at once
(floats: up to rounding). A part none of whose rows takes part is the identity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.kernels.columns import constant, table
from sqlwin.kernels.frames import Frames, Ints, Mask
from sqlwin.kernels.gather import among
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import POSITION, Order


@dataclass(frozen=True)
class FoldCall:
    """One call of an aggregate function: its columns, their types, the result's type.

    where: a Boolean column; only rows where it is true take part. None: all do.
    params: constants. distinct: equal arguments count once. order: of the rows, none: by position.
    limit: how many of the first of them are taken, None: all.
    """

    name: str
    function: str
    args: tuple[str, ...]
    arg_types: tuple[pa.DataType, ...]
    type: pa.DataType
    where: str | None = None
    params: tuple[Any, ...] = ()
    distinct: bool = False
    order: tuple[Order, ...] = ()
    limit: int | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Every column of a raw row that the call may look at."""
        where = () if self.where is None else (self.where,)
        ordering = (key.column for key in self.order)
        return tuple(dict.fromkeys((*self.args, *where, *ordering, *POSITION)))

    def named(self, what: str) -> str:
        """The accumulator column of that name."""
        return f"{self.name}.{what}"

    def arg(self, position: int = 0) -> pl.Expr:
        """An argument, NULL in rows that do not take part."""
        value = pl.col(self.args[position])
        return value if self.where is None else pl.when(pl.col(self.where)).then(value)

    def taking(self, value: pl.Expr) -> pl.Expr:
        """Only of the rows that take part, NULL values among them."""
        return value if self.where is None else value.filter(pl.col(self.where))

    def argument(self, row: pl.DataFrame, position: int = 0) -> pl.Series:
        """As `arg`, of one row."""
        value = row.get_column(self.args[position])
        taken = self.where is None or row[self.where][0]
        return value if taken else constant(value.name, None, value.dtype, 1)

    def taken(self, rows: pl.DataFrame) -> Mask:
        """Which rows take part."""
        if self.where is None:
            return np.ones(len(rows), dtype=np.bool_)
        mask: Mask = rows[self.where].fill_null(False).to_numpy()
        return mask

    def present(self, rows: pl.DataFrame, position: int = 0) -> Mask:
        """Which rows take part with an argument that is not NULL."""
        value = rows[self.args[position]]
        if not value.null_count():  # no query
            return self.taken(rows)
        known: Mask = value.is_not_null().to_numpy()
        return self.taken(rows) & known


class Fold(ABC):
    """An aggregate function bound to its columns.

    ordered: whether `lift` looks at the order of the rows within a group.
    full_state: whether accumulators are lists of all (distinct) values, not of bounded size.
    """

    call: FoldCall
    ordered: ClassVar[bool] = False
    full_state: ClassVar[bool] = False

    @property
    def invertible(self) -> bool:
        """Whether accumulators merge by adding up, exactly."""
        return False

    @property
    def placed(self) -> bool:
        """Whether accumulators hold positions, which put rows of several parts in order."""
        return self.call.named("seq") in self.columns

    def negated(self) -> list[pl.Expr]:
        """Of an invertible fold: accumulators to what undoes them."""
        return [-pl.col(column) for column in self.columns]

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Accumulator columns, `name.what`; of the same dtypes after lift and after merge."""

    @abstractmethod
    def lift(self) -> list[pl.Expr]:
        """For `group_by(…).agg` over rows sorted by (__ts, __part, __seq)."""

    def lift_row(self, row: pl.DataFrame) -> list[pl.Series]:
        """What `lift` gives of a group of this one row, to the bit; see `by_row`."""
        raise NotImplementedError

    @property
    def by_row(self) -> bool:
        """Whether `lift_row` says it; a row is grouped, else."""
        return type(self).lift_row is not Fold.lift_row

    @abstractmethod
    def merge(self) -> list[pl.Expr]:
        """For `group_by(…).agg` over accumulator rows, in any order."""

    @abstractmethod
    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        """One value a row, of the call's type and name; Overflow(row) where it does not fit."""

    @abstractmethod
    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        """The accumulators of each frame; rows sorted by (partition, ts, part, seq)."""

    def slide(self, rows: pl.DataFrame, frames: Frames) -> pl.Series:
        """One value a frame; Overflow(frame) where it does not fit."""
        return self.finish(self.over(rows, frames))


OfRow = Callable[[pl.DataFrame], list[pl.Series]]
"""Columns of one row."""


@dataclass(frozen=True)
class GroupBy:
    """GROUP BY whose expressions are made once, and which groups nothing where there is one row.

    One row is one group, and its accumulators are computed from its own columns. `group_by` would
    hash it and hand it to a pool of threads: several times the work, and a wait where the machine
    is busy. Rows and types are those of `frame.group_by(by).agg(aggregates)`, to the bit.

    by: of each row. each: all columns of the group of one row, as a function of it, with no query;
    None where that is not known.

    >>> n = pl.col("n")
    >>> sums = GroupBy((pl.col("k"),), (n.sum(),), lambda row: [row["k"], row["n"]])
    >>> sums(pl.DataFrame({"k": ["a"], "n": [1]})).rows()
    [('a', 1)]
    >>> sums(pl.DataFrame({"k": ["a", "a"], "n": [1, None]})).rows()
    [('a', 1)]
    """

    by: tuple[pl.Expr, ...]
    aggregates: tuple[pl.Expr, ...]
    each: OfRow | None = None

    def __call__(self, rows: pl.DataFrame) -> pl.DataFrame:
        """In no order of groups."""
        if rows.height == 1 and self.each is not None:
            return table(self.each(rows))
        return rows.group_by(*self.by).agg(*self.aggregates)


def lifted(folds: Sequence[Fold]) -> tuple[pl.Expr, ...]:
    """Their accumulators, of groups of rows."""
    return tuple(expr for fold in folds for expr in fold.lift())


def lifted_row(folds: Sequence[Fold]) -> OfRow | None:
    """Their accumulators of one row by itself; None where one fold has to be grouped."""
    if not all(fold.by_row for fold in folds):
        return None
    return lambda row: [column for fold in folds for column in fold.lift_row(row)]


def counted(mask: Mask, frames: Frames) -> Ints:
    """How many rows of each frame the mask holds."""
    inner = among(mask, frames)
    return inner.hi - inner.lo


def count_of(value: pl.Expr) -> pl.Expr:
    # Polars counts in UInt32, whose sums would stay in it
    return value.count().cast(pl.Int64)


def joint_mean(count: pl.Expr, mean: pl.Expr) -> pl.Expr:
    """Of parts: means that are equal stay exactly as they are, so nothing deviates from them."""
    one = mean.drop_nulls().first()
    return one + (count * (mean - one)).sum() / count.sum()
