"""What conditions and measures read of matches: values of single rows, and aggregates.

A `Mapping` is a match, or the beginning of one: the row it ends at, and what its rows are mapped
to. The values of many are computed together: those of single rows are picked out of a column, and
aggregates fold all rows of each, of which those of their variable take part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl

from sqlwin.kernels.folds import Fold
from sqlwin.kernels.patterns.paths import Path, mapped, row_from_first, row_from_last
from sqlwin.lazy_dataclass import dataclass
from sqlwin.patterns import Navigation
from sqlwin.schema import POSITION

GROUP, TAKES = "__group", "__takes."
Mapping = tuple[int, Path]
"""The last row, by its number, and the path to it."""


Folded = Callable[[Sequence[Mapping]], list[pl.Series]]


@dataclass(frozen=True)
class FoldTerm:
    """variable: whose rows take part; None: all. members: of a SUBSET of that name. final: of the
    whole match, and not of it so far."""

    fold: Fold
    variable: str | None
    members: tuple[str, ...] = ()
    final: bool = False

    @property
    def name(self) -> str:
        return self.fold.call.name

    def takes(self, name: str) -> bool:
        """Whether rows that are mapped to the variable `name` take part."""
        return self.variable is None or name == self.variable or name in self.members

    def taken(self, names: pl.Series) -> pl.Series:
        """Of each row, by the variable that it is mapped to, whether it takes part."""
        if self.variable is None:
            return pl.Series([True]).new_from_index(0, len(names))
        return names.is_in([self.variable, *self.members])


Term = Navigation | FoldTerm


@dataclass(frozen=True)
class Rows:
    """frame: rows of whole partitions as far as they are needed, in order of partition and
    position. first: of each row the number of the first row of its partition."""

    frame: pl.DataFrame
    first: np.ndarray


@dataclass(frozen=True)
class Reading:
    terms: tuple[Term, ...]

    @cached_property
    def navigations(self) -> tuple[Navigation, ...]:
        return tuple(term for term in self.terms if isinstance(term, Navigation))

    @cached_property
    def folds(self) -> tuple[FoldTerm, ...]:
        """Each takes part where a flag of its own, and its FILTER, is true."""
        found = (term for term in self.terms if isinstance(term, FoldTerm))
        return tuple(found)

    def values(
        self, mappings: Sequence[Mapping], rows: Rows, folded: Folded | None = None
    ) -> pl.DataFrame:
        """A column for each term, a line for each mapping. folded: gives the values of the folds,
        where these are known of shorter mappings."""
        columns = {term.name: self._picked(term, mappings, rows) for term in self.navigations}
        if self.folds:
            made = self._folded(mappings, rows) if folded is None else folded(mappings)
            columns |= {column.name: column for column in made}
        return pl.DataFrame([columns[term.name].alias(term.name) for term in self.terms])

    def _picked(self, term: Navigation, mappings: Sequence[Mapping], rows: Rows) -> pl.Series:
        if term.column is None:
            names = [_last_name(term, path) for _, path in mappings]
            return pl.Series(term.name, names, dtype=pl.String)
        at = [_row(term, last, path, rows.first) for last, path in mappings]
        return rows.frame[term.column].gather(pl.Series(at, dtype=pl.UInt32))

    def _folded(self, mappings: Sequence[Mapping], rows: Rows) -> list[pl.Series]:
        if not self.folds or not mappings:
            return [pl.Series(term.name, [], dtype=pl.Int64) for term in self.folds]
        paths = [mapped(path) for _, path in mappings]
        lengths = np.array([len(path) for path in paths])
        ends = np.array([last for last, _ in mappings])
        groups = np.repeat(np.arange(len(paths)), lengths)
        begins = np.repeat(np.cumsum(lengths) - lengths, lengths)
        numbers = np.arange(len(groups)) - begins + np.repeat(ends - lengths + 1, lengths)
        names = pl.Series([name for path in paths for name in path], dtype=pl.String)
        flagged = self.flagged(numbers, names, rows).with_columns(pl.Series(GROUP, groups))
        lifted = [expr for term in self.folds for expr in flagging(term).lift()]
        folded = flagged.group_by(GROUP, maintain_order=True).agg(lifted)
        return [term.fold.finish(folded) for term in self.folds]

    def flagged(self, numbers: np.ndarray, names: pl.Series, rows: Rows) -> pl.DataFrame:
        """What the folds read of rows, with a flag of each for those that take part. names: what
        they are mapped to."""
        held = rows.frame[self._read].select(pl.all().gather(pl.Series(numbers, dtype=pl.UInt32)))
        return held.with_columns(_takes(term, names) for term in self.folds)

    @property
    def _read(self) -> list[str]:
        calls = [name for term in self.folds for name in term.fold.call.inputs]
        return list(dict.fromkeys((*calls, *POSITION)))


def _row(term: Navigation, last: int, path: Path, first: np.ndarray) -> int | None:
    find = row_from_first if term.first else row_from_last
    row = find(path, last, term.takes, term.offset)
    if row is None or row - term.back < first[row]:
        return None
    return row - term.back


def _last_name(term: Navigation, path: Path) -> str | None:
    while path is not None and not term.takes(path.name):
        path = path.before
    return None if path is None else path.name


def _takes(term: FoldTerm, names: pl.Series) -> pl.Expr:
    flags, where = pl.lit(term.taken(names)), term.fold.call.where
    return (flags if where is None else flags & pl.col(where)).alias(TAKES + term.name)


def flagging(term: FoldTerm) -> Fold:
    """The fold of the rows that have its flag."""
    call = replace(term.fold.call, where=TAKES + term.name)
    return replace(term.fold, call=call)  # type: ignore[type-var]
