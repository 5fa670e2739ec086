"""DuckDB: a file, written by Arrow. One process may have it open at a time, so each batch does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.tables.database import Transaction, literal, quoted

_TYPES: dict[type[pl.DataType], str] = {
    pl.Int8: "TINYINT",
    pl.Int16: "SMALLINT",
    pl.Int32: "INTEGER",
    pl.Int64: "BIGINT",
    pl.Float32: "FLOAT",
    pl.Float64: "DOUBLE",
    pl.Boolean: "BOOLEAN",
    pl.Binary: "BLOB",
    pl.Date: "DATE",
    pl.Datetime: "TIMESTAMP WITH TIME ZONE",
    pl.Duration: "INTERVAL",
}


def type_of(dtype: pl.DataType) -> str:
    """
    >>> type_of(pl.List(pl.Struct({"a b": pl.Int64()})))
    'STRUCT("a b" BIGINT)[]'
    """
    if isinstance(dtype, pl.Decimal):
        return f"DECIMAL({dtype.precision}, {dtype.scale})"
    if isinstance(dtype, pl.List):
        return f"{type_of(dtype.inner)}[]"  # type: ignore[arg-type]
    if isinstance(dtype, pl.Struct):
        fields = (f"{quoted(field.name)} {type_of(field.dtype)}" for field in dtype.fields)  # type: ignore[arg-type]
        return f"STRUCT({', '.join(fields)})"
    if dtype == pl.Datetime("us"):
        return "TIMESTAMP"
    return _TYPES.get(dtype.base_type(), "VARCHAR")


@dataclass(frozen=True)
class _Open:
    connection: duckdb.DuckDBPyConnection

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(statement).fetchall()

    def columns(self, table: Sequence[str]) -> list[str]:
        schema = literal(table[0]) if len(table) > 1 else "current_schema()"
        where = f"table_name = {literal(table[-1])} AND table_schema = {schema}"
        names = f"SELECT column_name FROM information_schema.columns WHERE {where}"
        return [name for (name,) in self.run(f"{names} ORDER BY ordinal_position")]

    def load(self, table: str, rows: pl.DataFrame) -> None:
        self.connection.register("sqlwin_rows", rows.to_arrow())
        self.connection.execute(f"INSERT INTO {quoted(table)} SELECT * FROM sqlwin_rows")
        self.connection.unregister("sqlwin_rows")


@dataclass(frozen=True)
class DuckDb:
    """path: of the file, made where there is none."""

    path: Path
    failures: tuple[type[Exception], ...] = (duckdb.Error,)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        with closing(duckdb.connect(str(self.path))) as opened:
            opened.execute("BEGIN")
            yield _Open(opened)
            opened.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        with closing(duckdb.connect(str(self.path), read_only=True)) as opened:
            opened.execute("SET TimeZone = 'UTC'")
            yield _Open(opened)

    def type_of(self, dtype: pl.DataType) -> str:
        return type_of(dtype)

    def passes(self, failure: Exception) -> bool:
        """The file is open in another process."""
        return isinstance(failure, duckdb.IOException) and "lock" in str(failure)
