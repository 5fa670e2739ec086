"""A table that holds the last revision of every result: upserts, and deletes of what is retracted.

Invariant: after a batch the table has one row for each result that stands, and `undo` what its
rows were before that batch. So a batch that is written again, as after a crash, replaces what it
wrote, even where it was cut otherwise: the last one is undone first. All is one transaction.
"""

from __future__ import annotations

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.tables.database import Transaction
from sqlwin.runtime.tables.results import DELETED, another_run
from sqlwin.runtime.tables.statements import (
    EXISTED,
    INCOMING,
    Batches,
    Upsert,
    name_of,
)
from sqlwin.runtime.tables.target import Target


@dataclass
class Upserts:
    """restart: what becomes of rows of another run: refuse or replace. writer: of several into one
    table, from 1. last: the batch that was written last; -1 before the first."""

    target: Target
    restart: str
    writer: int
    last: int = -1

    def write(self, batch: int, rows: pl.DataFrame) -> None:
        if rows.is_empty() and batch > self.last >= 0:
            return
        changes, reached = self.target.results.changes(rows), self.last >= 0
        self.target.write(lambda transaction: self._write(transaction, batch, changes), reached)
        self.last = batch

    def _write(self, transaction: Transaction, batch: int, changes: pl.DataFrame) -> None:
        written = {name: dtype for name, dtype in changes.schema.items() if name != DELETED}
        columns = self.target.columns(transaction, written, self.target.results.key)
        upsert = Upsert(
            self.target.table, self.target.results.key, tuple(written), columns, self.writer
        )
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
        raise another_run(self.target.results.sink, ".".join(self.target.table), last, batch)


def _apply(transaction: Transaction, upsert: Upsert, changes: pl.DataFrame) -> None:
    transaction.run(upsert.create_incoming())
    transaction.load(INCOMING, changes)
    for statement in (*upsert.remember(), upsert.delete(), upsert.insert()):
        transaction.run(statement)
    transaction.run(upsert.drop_incoming())
