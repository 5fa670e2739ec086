"""The sink of a WITH clause that names a table of a database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlwin.plan.options.table_options import table_name
from sqlwin.runtime.tables.appends import Appends
from sqlwin.runtime.tables.database import Database
from sqlwin.runtime.tables.duckdb import DuckDb
from sqlwin.runtime.tables.postgres import Postgres
from sqlwin.runtime.tables.sink_options import (
    Options,
    check_append,
    creates,
    restart_of,
    results_of,
    waits,
)
from sqlwin.runtime.tables.sqlite import Sqlite
from sqlwin.runtime.tables.target import Target
from sqlwin.runtime.tables.upserts import Upserts
from sqlwin.system.secrets import clear


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
    wait = waits(options)
    target = Target(
        results_of(sink, options),
        DATABASES[options["connector"]](options, base, wait),
        table_name(options["table"]),
        creates(options),
        wait,
    )
    if appends:
        check_append(sink, options)
        return Appends(target, writer)
    return Upserts(target, restart_of(sink, options, writer), writer)
