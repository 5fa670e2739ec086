"""PostgreSQL, by psycopg, which the extra `postgres` of the package brings; rows come by COPY."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import polars as pl

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import iso_columns
from sqlwin.runtime.formats.python_values import json_text
from sqlwin.runtime.tables.database import Transaction, literal, quoted

if TYPE_CHECKING:
    import psycopg

_TYPES: dict[type[pl.DataType], str] = {
    pl.Int8: "SMALLINT",
    pl.Int16: "SMALLINT",
    pl.Int32: "INTEGER",
    pl.Int64: "BIGINT",
    pl.Float32: "REAL",
    pl.Float64: "DOUBLE PRECISION",
    pl.Boolean: "BOOLEAN",
    pl.Binary: "BYTEA",
    pl.Date: "DATE",
    pl.Datetime: "TIMESTAMP WITH TIME ZONE",
    pl.Duration: "INTERVAL",
    pl.List: "JSONB",
    pl.Struct: "JSONB",
}
MISSING = "PostgreSQL needs psycopg: pip install 'sqlwin[postgres]'"


@dataclass(frozen=True)
class _Open:
    connection: psycopg.Connection[tuple[Any, ...]]

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        cursor = self.connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description is not None else []

    def columns(self, table: Sequence[str]) -> list[str]:
        """Those that can be written: generated ones cannot."""
        name = literal(".".join(map(quoted, table)))
        where = f"attrelid = to_regclass({name}) AND attnum > 0 AND NOT attisdropped"
        names = f"SELECT attname::text FROM pg_attribute WHERE {where} AND attgenerated = ''"
        return [name for (name,) in self.run(f"{names} ORDER BY attnum")]

    def load(self, table: str, rows: pl.DataFrame) -> None:
        """As texts, which PostgreSQL reads by the types of the table's own columns."""
        with (
            self.connection.cursor() as cursor,
            cursor.copy(f"COPY {quoted(table)} FROM STDIN".encode()) as copy,
        ):
            for row in iso_columns(rows).iter_rows():
                copy.write_row([_value(value) for value in row])


def _value(value: Any) -> Any:
    """PostgreSQL's texts have no character 0."""
    if isinstance(value, str) and "\0" in value:
        raise RunError(f"PostgreSQL has no text with a character of code 0, as in {value!r}")
    return json_text(value) if isinstance(value, list | dict) else value


@dataclass(frozen=True)
class Postgres:
    """url: as libpq has it. options: user and password where they are not in it."""

    url: str
    options: tuple[tuple[str, str], ...] = ()

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        return (_driver().Error,)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        with _driver().connect(self.url, **dict(self.options)) as opened:
            opened.execute("SET TIME ZONE 'UTC'")
            yield _Open(opened)

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        with self.transaction() as transaction:
            transaction.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield transaction

    def type_of(self, dtype: pl.DataType) -> str:
        if isinstance(dtype, pl.Decimal):
            return f"NUMERIC({dtype.precision}, {dtype.scale})"
        if dtype == pl.Datetime("us"):
            return "TIMESTAMP"
        return _TYPES.get(dtype.base_type(), "TEXT")

    def passes(self, failure: Exception) -> bool:
        """The server is not there, ends, or begins; or another transaction was in the way."""
        if not isinstance(failure, _driver().OperationalError):
            return False
        state = getattr(failure, "sqlstate", None)
        return state is None or state[:2] in ("08", "40", "57")


def _driver() -> Any:
    try:
        import psycopg
    except ImportError as failure:
        raise RunError(MISSING) from failure
    return psycopg
