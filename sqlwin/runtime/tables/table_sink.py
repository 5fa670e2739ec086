"""The sink of a WITH clause that names a table of a database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from sqlwin.durations import micros
from sqlwin.errors import QueryError
from sqlwin.instants import SECOND
from sqlwin.plan.options.connectors import boolean
from sqlwin.plan.options.table_options import key_columns, renamed, table_name
from sqlwin.runtime.tables.appends import Appends
from sqlwin.runtime.tables.database import Database
from sqlwin.runtime.tables.duckdb import DuckDb
from sqlwin.runtime.tables.postgres import Postgres
from sqlwin.runtime.tables.sqlite import Sqlite
from sqlwin.runtime.tables.target import Target
from sqlwin.runtime.tables.upserts import Upserts
from sqlwin.secrets import clear

Options = Mapping[str, str]


def _postgres(options: Options, base: Path, wait: float) -> Database:
    names = [name for name in ("user", "password") if name in options]
    return Postgres(clear(options["url"]), tuple((name, clear(options[name])) for name in names))


def _sqlite(options: Options, base: Path, wait: float) -> Database:
    return Sqlite(base / options["path"], wait)


def _duckdb(options: Options, base: Path, wait: float) -> Database:
    return DuckDb(base / options["path"])


DATABASES: dict[str, Callable[[Options, Path, float], Database]] = {
    "duckdb": _duckdb,
    "postgres": _postgres,
    "sqlite": _sqlite,
}
"""By connector: of options, the folder that a path is relative to, and seconds to wait."""


def table_sink(
    sink: str, options: Options, base: Path, writer: int, appends: bool
) -> Appends | Upserts:
    """writer: the number of this one among those that write to the same sink, from 1. appends:
    whether its rows never change. QueryError for a writer that would replace rows of another."""
    wait = micros(options.get("wait", "30 seconds"), None) / SECOND
    target = Target(
        sink,
        DATABASES[options["connector"]](options, base, wait),
        table_name(options["table"]),
        boolean(options.get("create", "false")),
        renamed(options["columns"]) if "columns" in options else {},
        wait,
    )
    if appends:
        _check_append(sink, options)
        return Appends(target, writer)
    key = key_columns(options["unique"]) if "unique" in options else ()
    if writer > 1 and (not key or options.get("restart") == "replace"):
        why = "each would empty its table" if key else "may have rows of one row_key"
        message = f"two queries write to sink {sink}, and {why}"
        legal = "unique = columns without restart, a table each, or changelog = 'append'"
        raise QueryError(message, legal=legal)
    return Upserts(target, key, options.get("restart", "refuse"), writer)


def _check_append(sink: str, options: Options) -> None:
    """QueryError for options of rows that change: these do not."""
    for name in ("unique", "restart"):
        if name in options:
            message = f"sink {sink} has an option {name!r}, and its rows never change"
            raise QueryError(message, legal=f"no {name}; or changelog = 'upsert', for results")
