"""Rows that an operator took in a batch, counted before they are prepared for it.

Preparing folds rows into panes, so whoever sees prepared rows no longer knows how many there were.

>>> RowCounts(taken=3, late=1) + RowCounts(taken=2)
RowCounts(taken=5, late=1, expired=0)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class RowCounts:
    """taken: rows that passed WHERE and are within retention. late: those of them that are older
    than the watermark before the batch. expired: rows beyond retention."""

    taken: int = 0
    late: int = 0
    expired: int = 0

    def __add__(self, other: RowCounts) -> RowCounts:
        return RowCounts(
            self.taken + other.taken, self.late + other.late, self.expired + other.expired
        )


def total(counts: Iterable[RowCounts]) -> RowCounts:
    return sum(counts, RowCounts())


def added(one: Mapping[int, RowCounts], other: Mapping[int, RowCounts]) -> dict[int, RowCounts]:
    """By number of the input."""
    numbers = {**one, **other}
    return {at: one.get(at, RowCounts()) + other.get(at, RowCounts()) for at in numbers}
