"""A table of a database that results go to: made if asked, written in transactions."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.tables.database import Database, Transaction, listed, quoted
from sqlwin.runtime.tables.patience import Patience
from sqlwin.runtime.tables.results import Results
from sqlwin.runtime.tables.statements import name_of


@dataclass(frozen=True)
class Target:
    """results: how they are rows of it. table: the parts of its name. create: whether it is made
    where there is none. wait: seconds until a failure that may pass is final."""

    results: Results
    database: Database
    table: tuple[str, ...]
    create: bool
    wait: float

    def write(self, work: Callable[[Transaction], None], reached: bool) -> None:
        """Do it in a transaction, see `Patience`."""

        def once() -> None:
            with self.database.transaction() as transaction:
                work(transaction)

        what = f"the table {'.'.join(self.table)} of sink {self.results.sink}"
        patience = Patience(what, self.database.failures, self.database.passes, self.wait)
        patience.do(once, reached)

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
            message = f"the table {'.'.join(self.table)} of sink {self.results.sink} has no column"
            raise QueryError(f"{message} {listed(missing)}", legal=f"one of each: {listed(found)}")
        return tuple(found)

    def _make(
        self, transaction: Transaction, written: dict[str, pl.DataType], key: tuple[str, ...]
    ) -> None:
        if not self.create:
            message = f"sink {self.results.sink}: there is no table {'.'.join(self.table)}"
            raise QueryError(message, legal="create = true, which makes it")
        types = [f"{quoted(n)} {self.database.type_of(dtype)}" for n, dtype in written.items()]
        unique = f"PRIMARY KEY ({listed(key)})"
        transaction.run(f"CREATE TABLE {name_of(self.table)} ({', '.join([*types, unique])})")
