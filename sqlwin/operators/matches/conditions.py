"""Conditions of the variables of a pattern, and the matches that come of them."""

from __future__ import annotations

from typing import Protocol

import polars as pl

from sqlwin.kernels.patterns.attempts import Read
from sqlwin.kernels.patterns.paths import Path
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.matches.reading import Reading, Term
from sqlwin.patterns import Navigation
from sqlwin.schema import TS

TOGETHER = 2_048
"""Attempts whose questions are answered together."""


class Predicate(Protocol):
    def __call__(self, terms: pl.DataFrame) -> pl.Series:
        """A Boolean for each line; NULL is not true, nor is what cannot be computed."""


@dataclass(frozen=True)
class Condition:
    """Of a variable. of_rows: terms are of the row that is mapped, or before it."""

    variable: str
    predicate: Predicate
    reading: Reading
    of_rows: bool

    def columns(self, rows: pl.DataFrame, partition: str) -> list[bool]:
        """Of each row, where rows alone say it."""
        terms = rows.select(
            pl.col(term.column).shift(term.back).over(partition).alias(term.name)
            if term.back
            else pl.col(term.column).alias(term.name)
            for term in self.reading.navigations
            if term.column is not None
        )
        if not terms.width:  # it is the same for every row
            terms = rows.select(pl.col(TS))
        return self.predicate(terms).fill_null(False).to_list()


@dataclass(frozen=True)
class Match:
    """Numbers of its first row and its last, and what its rows are mapped to. An empty one, which
    maps no row, stands before `first`. unmatched: it is none, but a row of no match."""

    first: int
    last: int
    path: Path
    unmatched: bool = False


def is_classifier(term: Term) -> bool:
    return isinstance(term, Navigation) and term.column is None


def columns_read(names: frozenset[str], terms: list[Term]) -> Read:
    rows = [term for term in terms if isinstance(term, Navigation)]
    first = max((term.offset + 1 for term in rows if term.first), default=0)
    last = max((term.offset + 1 for term in rows if not term.first), default=0)
    return Read(names, first, last, len(rows) < len(terms))


def looks_back(terms: tuple[Term, ...]) -> int:
    """How many rows before a match they read."""
    return max((term.back for term in terms if isinstance(term, Navigation)), default=0)
