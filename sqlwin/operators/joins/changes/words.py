"""The word of a change, and when it goes out: an expression of each."""

from __future__ import annotations

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.joins.changes.due_changes import Due

Words = tuple[pl.Expr, pl.Expr]


@dataclass(frozen=True)
class Moment:
    """complete: rows at earlier positions are final. watermark: rows before it are late."""

    now: int
    due: Due
    watermark: int
    complete: int


def by_pairs(moment: Moment, late: str, full: str) -> Words:
    """Of what follows from pairs: late if all are, and with the first of them.

    late, full: BOOLEAN columns, whether some pair is.
    """
    word = pl.when(full).then(pl.lit("full")).otherwise(pl.lit("late"))
    due = moment.due
    times = (
        pl.when(late).then(pl.lit(due.late, pl.Int64())),
        pl.when(full).then(pl.lit(due.early, pl.Int64())),
    )
    return word, pl.min_horizontal(*times)


def both(moment: Moment) -> tuple[Words, Words]:
    due = moment.due
    return (
        (pl.lit("late"), pl.lit(due.late, pl.Int64())),
        (pl.lit("full"), pl.lit(due.early, pl.Int64())),
    )


def either(which: pl.Expr, one: Words, other: Words) -> Words:
    first, second = (pl.when(which).then(a).otherwise(b) for a, b in zip(one, other, strict=True))
    return first, second
