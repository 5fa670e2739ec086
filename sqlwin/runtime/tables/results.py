"""Results as the rows of a table: the last change of each, under the table's names.

A table is keyed by the columns that `unique` names, or by `row_key`; what a result is beside its
values (`op`, `emit`, `revision`) is written only where `columns` names it.
"""

from __future__ import annotations

import polars as pl

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.tables.database import listed
from sqlwin.schema import CHANGELOG_NAMES, OP, ROW_KEY

DELETED = "__deleted"
_OP, _ROW_KEY = CHANGELOG_NAMES[OP], CHANGELOG_NAMES[ROW_KEY]


@dataclass(frozen=True)
class Results:
    """sink: its name, for messages. names: of columns in the table, by those of results that are
    called otherwise there. unique: columns of the table that identify a row; none: `row_key`."""

    sink: str
    names: dict[str, str]
    unique: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        return self.unique or (self.names.get(_ROW_KEY, _ROW_KEY),)

    def renamed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Under the names of the table's columns. QueryError for one that there is not."""
        unknown = [name for name in self.names if name not in rows.columns]
        if unknown:
            message = f"sink {self.sink} renames {unknown[0]}, which is no column of its results"
            raise QueryError(message, legal=", ".join(rows.columns))
        return rows.rename(self.names)

    def changes(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The last change of each row of the table, in the columns of the table and DELETED."""
        last = rows.unique(_ROW_KEY, keep="last", maintain_order=True)
        named = self.renamed(last.drop(self._dropped))
        changes = named.with_columns((last[_OP] == "-D").alias(DELETED))
        if self.unique:
            self._check_unique(changes)
        return _unambiguous(changes, self.key)

    @property
    def _dropped(self) -> list[str]:
        """Of the columns that every result has, those that nobody named."""
        kept = {*self.names, *(() if self.unique else (_ROW_KEY,))}
        return [name for name in CHANGELOG_NAMES.values() if name not in kept]

    def _check_unique(self, changes: pl.DataFrame) -> None:
        """QueryError where the columns of the key are none, or do not identify the rows."""
        unknown = [name for name in self.unique if name not in changes.columns]
        if unknown:
            message = f"the option unique of sink {self.sink} names {unknown[0]}, no column"
            raise QueryError(message, legal=", ".join(name for name in changes.columns))
        keys = changes.filter(~pl.col(DELETED)).select(self.unique)
        wrong = keys.filter(keys.is_duplicated() | pl.any_horizontal(pl.all().is_null()))
        if not wrong.is_empty():
            message = f"unique = ({listed(self.unique)}) of sink {self.sink} identifies no row"
            legal = "columns that are never NULL, and unique; the default is row_key"
            found = ", ".join("NULL" if value is None else str(value) for value in wrong.row(0))
            raise QueryError(f"{message}: {found}", legal=legal)


def another_run(sink: str, table: str, last: int, batch: int) -> QueryError:
    """Of a run that begins anew, at `batch`, where the table has a later one."""
    message = f"the table {table} of sink {sink} has batch {last} of another run"
    legal = "that run's checkpoint, another table, or restart = 'replace', which empties it"
    return QueryError(f"{message}; this one is at batch {batch}", legal=legal)


def _unambiguous(changes: pl.DataFrame, key: tuple[str, ...]) -> pl.DataFrame:
    """One change of each key: where one result takes the place of another, the new one."""
    return changes.sort(DELETED, descending=True, maintain_order=True).unique(
        list(key), keep="last", maintain_order=True
    )
