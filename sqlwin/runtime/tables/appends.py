"""A table that rows are only added to: results that never change, or the error stream.

Invariant: each row has the number of its batch, and of its writer. So a batch that is written
again replaces what it wrote, and batches of an earlier run behind it go, as parts of files do.
"""

from __future__ import annotations

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.tables.database import Transaction, listed, quoted
from sqlwin.runtime.tables.statements import INCOMING, name_of
from sqlwin.runtime.tables.target import Target

WRITER, BATCH, ROW = KEY = ("sqlwin_writer", "sqlwin_batch", "sqlwin_row")


@dataclass
class Appends:
    """writer: of several into one table, from 1. last: the batch that was written last; -1 before
    the first."""

    target: Target
    writer: int
    last: int = -1

    def write(self, batch: int, rows: pl.DataFrame) -> None:
        if rows.is_empty() and batch > self.last >= 0:
            return
        added, reached = (
            numbered(self.target.results.renamed(rows), self.writer, batch),
            self.last >= 0,
        )
        self.target.write(lambda transaction: self._write(transaction, batch, added), reached)
        self.last = batch

    def _write(self, transaction: Transaction, batch: int, rows: pl.DataFrame) -> None:
        self.target.columns(transaction, dict(rows.schema), KEY)
        table, names = name_of(self.target.table), listed(rows.columns)
        own = f"{quoted(WRITER)} = {self.writer} AND {quoted(BATCH)} >= {batch}"
        transaction.run(f"DELETE FROM {table} WHERE {own}")
        empty = f"SELECT {names} FROM {table} WHERE FALSE"
        transaction.run(f'CREATE TEMPORARY TABLE "{INCOMING}" AS {empty}')
        transaction.load(INCOMING, rows)
        transaction.run(f'INSERT INTO {table} ({names}) SELECT {names} FROM "{INCOMING}"')
        transaction.run(f'DROP TABLE "{INCOMING}"')


def numbered(rows: pl.DataFrame, writer: int, batch: int) -> pl.DataFrame:
    """Rows with what identifies each."""
    return rows.with_columns(
        pl.lit(writer, pl.Int32).alias(WRITER),
        pl.lit(batch, pl.Int64).alias(BATCH),
        pl.int_range(pl.len(), dtype=pl.Int64).alias(ROW),
    )
