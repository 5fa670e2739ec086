"""A table of a database that results go to: made if asked, written in transactions.

A write that fails as a whole is tried again while the failure may pass; it was not done in part.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from sqlwin.errors import QueryError, RunError
from sqlwin.runtime.tables.database import Database, Transaction, listed, quoted
from sqlwin.runtime.tables.statements import name_of

PAUSE_SECONDS, UNREACHED_SECONDS = 0.2, 3.0


@dataclass(frozen=True)
class Target:
    """sink: its name, for messages. table: the parts of its name. create: whether it is made
    where there is none. names: of columns in the table, by those of results that are called
    otherwise there. wait: seconds until a failure that may pass is final."""

    sink: str
    database: Database
    table: tuple[str, ...]
    create: bool
    names: dict[str, str]
    wait: float

    def write(self, work: Callable[[Transaction], None], reached: bool) -> None:
        """Do it in a transaction. reached: whether the table was written before; if not, its
        server may be misspelt, and is waited for less."""
        until = time.monotonic() + (self.wait if reached else min(self.wait, UNREACHED_SECONDS))
        while True:
            try:
                with self.database.transaction() as transaction:
                    work(transaction)
                return
            except self.database.failures as failure:
                if not self.database.passes(failure) or time.monotonic() > until:
                    raise self._failed(failure) from failure
            time.sleep(PAUSE_SECONDS)

    def _failed(self, failure: Exception) -> RunError:
        why = " ".join(str(failure).split())
        message = f"cannot write to the table {'.'.join(self.table)} of sink {self.sink}: {why}"
        return RunError(f"{message}; the last commit stands")

    def renamed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Results under the names of the table's columns. QueryError for one that there is not."""
        unknown = [name for name in self.names if name not in rows.columns]
        if unknown:
            message = f"sink {self.sink} renames {unknown[0]}, which is no column of its results"
            raise QueryError(message, legal=", ".join(rows.columns))
        return rows.rename(self.names)

    def columns(
        self, transaction: Transaction, written: dict[str, pl.DataType], key: tuple[str, ...]
    ) -> tuple[str, ...]:
        """All columns of the table, made first if asked. QueryError where one is missing."""
        found = transaction.columns(self.table)
        if not found:
            self._make(transaction, written, key)
            found = transaction.columns(self.table)
        missing = [name for name in written if name not in found]
        if missing:
            message = f"the table {'.'.join(self.table)} of sink {self.sink} has no column"
            raise QueryError(f"{message} {listed(missing)}", legal=f"one of each: {listed(found)}")
        return tuple(found)

    def _make(
        self, transaction: Transaction, written: dict[str, pl.DataType], key: tuple[str, ...]
    ) -> None:
        if not self.create:
            message = f"sink {self.sink}: there is no table {'.'.join(self.table)}"
            raise QueryError(message, legal="create = true, which makes it")
        types = [f"{quoted(n)} {self.database.type_of(dtype)}" for n, dtype in written.items()]
        unique = f"PRIMARY KEY ({listed(key)})"
        transaction.run(f"CREATE TABLE {name_of(self.table)} ({', '.join([*types, unique])})")
