"""What a table sink needs of a database: a transaction, the columns of a table, and bulk loading.

All else is SQL that PostgreSQL, SQLite and DuckDB read alike, see `statements`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import polars as pl


class Transaction(Protocol):
    def run(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a query; none of any other statement."""

    def columns(self, table: Sequence[str]) -> list[str]:
        """Of a table, by the parts of its name; none where there is no such table."""

    def load(self, table: str, rows: pl.DataFrame) -> None:
        """Insert rows into a table that has their columns, in their order."""


class Database(Protocol):
    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """What its driver raises."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Connects, and commits at the end; where the block raises, nothing of it was done."""

    def reading(self) -> AbstractContextManager[Transaction]:
        """Connects to what is there, to read it as of one moment."""

    def type_of(self, dtype: pl.DataType) -> str:
        """The type of a column that is created for values of a type."""

    def passes(self, failure: Exception) -> bool:
        """Whether a failure may be over soon: a server that starts, a lock of somebody else."""


def quoted(name: str) -> str:
    """An identifier as it is written.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """
    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def listed(names: Sequence[str], of: str = "") -> str:
    """
    >>> listed(["a", "b"], of="t.")
    't."a", t."b"'
    """
    return ", ".join(of + quoted(name) for name in names)
