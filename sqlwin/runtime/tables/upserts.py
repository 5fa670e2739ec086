"""A table that holds the last revision of every result: upserts, and deletes of what is retracted.

Invariant: after a batch the table has one row for each result that stands, and `undo` what its
rows were before that batch. So a batch that is written again, as after a crash, replaces what it
wrote, even where it was cut otherwise: the last one is undone first. All is one transaction.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.errors import QueryError
from sqlwin.runtime.tables.database import Transaction, listed
from sqlwin.runtime.tables.statements import (
    DELETED,
    EXISTED,
    INCOMING,
    Batches,
    Upsert,
    name_of,
)
from sqlwin.runtime.tables.target import Target
from sqlwin.schema import CHANGELOG_NAMES, OP, ROW_KEY

_OP, _ROW_KEY = CHANGELOG_NAMES[OP], CHANGELOG_NAMES[ROW_KEY]


@dataclass
class Upserts:
    """key: columns of the table that identify a result; none: its `row_key`. restart: what becomes
    of rows of another run: refuse or replace. writer: of several into one table, from 1. last: the
    batch that was written last; -1 before the first."""

    target: Target
    key: tuple[str, ...]
    restart: str
    writer: int
    last: int = -1

    def write(self, batch: int, rows: pl.DataFrame) -> None:
        if rows.is_empty() and batch > self.last >= 0:
            return
        changes, reached = self.changes(rows), self.last >= 0
        self.target.write(lambda transaction: self._write(transaction, batch, changes), reached)
        self.last = batch

    def changes(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The last change of each row of the table, in the columns of the table and DELETED."""
        last = rows.unique(_ROW_KEY, keep="last", maintain_order=True)
        named = self.target.renamed(last.drop(self._dropped))
        changes = named.with_columns((last[_OP] == "-D").alias(DELETED))
        if self.key:
            self._check_key(changes)
        return _unambiguous(changes, self._key)

    @property
    def _key(self) -> tuple[str, ...]:
        return self.key or (self.target.names.get(_ROW_KEY, _ROW_KEY),)

    @property
    def _dropped(self) -> list[str]:
        """Of the columns that every result has, those that nobody named."""
        kept = {*self.target.names, *(() if self.key else (_ROW_KEY,))}
        return [name for name in CHANGELOG_NAMES.values() if name not in kept]

    def _check_key(self, changes: pl.DataFrame) -> None:
        """QueryError where the columns of the key are none, or do not identify the rows."""
        unknown = [name for name in self.key if name not in changes.columns]
        if unknown:
            message = f"the option unique of sink {self.target.sink} names {unknown[0]}, no column"
            raise QueryError(message, legal=", ".join(name for name in changes.columns))
        keys = changes.filter(~pl.col(DELETED)).select(self.key)
        wrong = keys.filter(keys.is_duplicated() | pl.any_horizontal(pl.all().is_null()))
        if not wrong.is_empty():
            message = f"unique = ({listed(self.key)}) of sink {self.target.sink} identifies no row"
            legal = "columns that are never NULL, and unique; the default is row_key"
            found = ", ".join("NULL" if value is None else str(value) for value in wrong.row(0))
            raise QueryError(f"{message}: {found}", legal=legal)

    def _write(self, transaction: Transaction, batch: int, changes: pl.DataFrame) -> None:
        written = {name: dtype for name, dtype in changes.schema.items() if name != DELETED}
        columns = self.target.columns(transaction, written, self._key)
        upsert = Upsert(self.target.table, self._key, tuple(written), columns, self.writer)
        batches = Batches(self.target.table, self.writer)
        transaction.run(batches.create())
        self._since(transaction, batch, upsert, batches)
        _apply(transaction, upsert, changes)
        transaction.run(batches.record(batch))

    def _since(
        self, transaction: Transaction, batch: int, upsert: Upsert, batches: Batches
    ) -> None:
        """The table as it was before this batch."""
        last = next((number for (number,) in transaction.run(batches.last())), None)
        has_undo = transaction.columns(upsert.undo_table)
        if last is not None and batch < last and self.last < 0:
            self._replace(transaction, last, batch)
        elif last == batch and has_undo:
            for statement in upsert.undo():
                transaction.run(statement)
        if has_undo != [*upsert.all_columns, EXISTED]:
            transaction.run(upsert.drop_undo())
            transaction.run(upsert.create_undo())

    def _replace(self, transaction: Transaction, last: int, batch: int) -> None:
        if self.restart == "replace":
            transaction.run(f"DELETE FROM {name_of(self.target.table)}")
            return
        name = ".".join(self.target.table)
        message = f"the table {name} of sink {self.target.sink} has batch {last} of another run"
        legal = "that run's checkpoint, another table, or restart = 'replace', which empties it"
        raise QueryError(f"{message}; this one is at batch {batch}", legal=legal)


def _apply(transaction: Transaction, upsert: Upsert, changes: pl.DataFrame) -> None:
    transaction.run(upsert.create_incoming())
    transaction.load(INCOMING, changes)
    for statement in (*upsert.remember(), upsert.delete(), upsert.insert()):
        transaction.run(statement)
    transaction.run(upsert.drop_incoming())


def _unambiguous(changes: pl.DataFrame, key: tuple[str, ...]) -> pl.DataFrame:
    """One change of each key: where one result takes the place of another, the new one."""
    return changes.sort(DELETED, descending=True, maintain_order=True).unique(
        list(key), keep="last", maintain_order=True
    )
