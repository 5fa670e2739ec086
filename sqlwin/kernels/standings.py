"""Standings: which place a row takes among those of its partition.

Rows are put in an order, ties by further columns, and counted off. Rows that the
order itself cannot distinguish are peers: `row_number` counts on through them,
`rank` gives all of them the place of their first, `dense_rank` leaves no gaps.

As everywhere, NaN is equal to itself and greater than every number, and NULLs
stand at the end that the order says.

>>> rows = pl.DataFrame({"team": ["a", "b", "a", "a"], "points": [3, 1, 5, 3], "seq": [1, 2, 3, 4]})
>>> best = Standing("rank", ("team",), (Order("points", descending=True, nulls_last=True),))
>>> best.of(rows, "place", ties=("seq",)).rows()
[('a', 5, 3, 1), ('a', 3, 1, 2), ('a', 3, 4, 2), ('b', 1, 2, 1)]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import Order


@dataclass(frozen=True)
class Standing:
    """function: row_number, rank or dense_rank, within `partition` (NULL equals NULL)."""

    function: str
    partition: tuple[str, ...]
    order: tuple[Order, ...]

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS or not self.order:
            raise ValueError(f"need one of {', '.join(FUNCTIONS)} and an order, got {self}")

    def of(self, rows: pl.DataFrame, name: str, ties: tuple[str, ...]) -> pl.DataFrame:
        """`rows` partition by partition, in order, with the Int64 column `name`, from 1.

        ties: columns that distinguish peers, ascending; they make no difference of rank.
        """
        tail = (Order(column) for column in ties)
        by = (*(Order(column) for column in self.partition), *self.order, *tail)
        ordered = in_order(rows, by)
        begins = differs(self.partition)
        peers = begins | differs([by.column for by in self.order])
        number = number_within(self.partition)
        return ordered.with_columns(FUNCTIONS[self.function](number, peers, begins).alias(name))


def in_order(rows: pl.DataFrame, order: Sequence[Order]) -> pl.DataFrame:
    """`rows` sorted; those that the order cannot distinguish stay as they stand."""
    return rows.sort(
        [by.column for by in order],
        descending=[by.descending for by in order],
        nulls_last=[by.nulls_last for by in order],
        maintain_order=True,
    )


def number_within(partition: Sequence[str]) -> pl.Expr:
    """1, 2, 3, … in each partition, of rows that stand partition by partition. Int64."""
    at = pl.int_range(pl.len(), dtype=pl.Int64)
    return at - _since(differs(partition), at) + 1


def differs(columns: Sequence[str]) -> pl.Expr:
    """Whether a row is the first, or differs from the one above it."""
    differs = [pl.col(c).ne_missing(pl.col(c).shift()) for c in columns]
    return pl.any_horizontal(pl.int_range(pl.len()) == 0, *differs)


def _since(begins: pl.Expr, value: pl.Expr) -> pl.Expr:
    """The value of the last row that begins something."""
    return pl.when(begins).then(value).forward_fill()


def _dense(number: pl.Expr, peers: pl.Expr, begins: pl.Expr) -> pl.Expr:
    so_far = peers.cast(pl.Int64).cum_sum()
    return so_far - _since(begins, so_far) + 1


FUNCTIONS: dict[str, Callable[[pl.Expr, pl.Expr, pl.Expr], pl.Expr]] = {
    "row_number": lambda number, peers, begins: number,
    "rank": lambda number, peers, begins: _since(peers, number),
    "dense_rank": _dense,
}
"""From: the row's number, whether it is the first of its peers, of its partition."""
