"""SQLite: a file, by Python's own driver. Instants and dates are ISO 8601 texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import iso_columns
from sqlwin.runtime.rows.render import cell
from sqlwin.runtime.tables.database import Transaction, literal, quoted

_KEPT = (int, float, str, bytes, type(None))


@dataclass(frozen=True)
class _Open:
    connection: sqlite3.Connection

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(statement).fetchall()

    def columns(self, table: Sequence[str]) -> list[str]:
        """Of a table in a file that is attached, or the main one."""
        schema = f", {literal(table[0])}" if len(table) > 1 else ""
        found = self.run(f"SELECT name FROM pragma_table_info({literal(table[-1])}{schema})")
        return [name for (name,) in found]

    def load(self, table: str, rows: pl.DataFrame) -> None:
        marks = ", ".join("?" * len(rows.columns))
        values = (tuple(map(_value, row)) for row in iso_columns(rows).iter_rows())
        self.connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", values)


def _value(value: object) -> object:
    """Decimals, dates and nested values are texts there."""
    return value if isinstance(value, _KEPT) else cell(value)


@dataclass(frozen=True)
class Sqlite:
    """path: of the file, made where there is none. wait: seconds for a lock of another process."""

    path: Path
    wait: float
    failures: tuple[type[Exception], ...] = (sqlite3.Error,)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        with closing(sqlite3.connect(self.path, timeout=self.wait, isolation_level=None)) as opened:
            opened.execute("BEGIN IMMEDIATE")
            try:
                yield _Open(opened)
            except BaseException:
                opened.rollback()
                raise
            opened.commit()

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        uri = f"{self.path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=self.wait)) as opened:
            opened.execute("BEGIN")
            yield _Open(opened)

    def type_of(self, dtype: pl.DataType) -> str:
        if dtype.is_integer() or dtype == pl.Boolean:
            return "INTEGER"
        if dtype.is_float():
            return "REAL"
        return "BLOB" if dtype == pl.Binary else "TEXT"

    def passes(self, failure: Exception) -> bool:
        """The driver itself waits for locks."""
        return False
