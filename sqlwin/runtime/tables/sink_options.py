"""The options that all sinks that are tables share, and what they exclude."""

from __future__ import annotations

from collections.abc import Mapping

from sqlwin.durations import micros
from sqlwin.errors import QueryError
from sqlwin.instants import SECOND
from sqlwin.plan.options.option import boolean
from sqlwin.plan.options.table_options import key_columns, renamed
from sqlwin.runtime.tables.results import Results

Options = Mapping[str, str]


def results_of(sink: str, options: Options) -> Results:
    names = renamed(options["columns"]) if "columns" in options else {}
    return Results(sink, names, key_columns(options["unique"]) if "unique" in options else ())


def creates(options: Options) -> bool:
    return boolean(options.get("create", "false"))


def waits(options: Options) -> float:
    """Seconds."""
    return micros(options.get("wait", "30 seconds"), None) / SECOND


def restart_of(sink: str, options: Options, writer: int) -> str:
    """What becomes of rows of another run. QueryError for a writer that would replace rows of
    another."""
    unique = "unique" in options
    if writer > 1 and (not unique or options.get("restart") == "replace"):
        why = "each would empty its table" if unique else "may have rows of one row_key"
        message = f"two queries write to sink {sink}, and {why}"
        legal = "unique = columns without restart, a table each, or changelog = 'append'"
        raise QueryError(message, legal=legal)
    return options.get("restart", "refuse")


def check_append(sink: str, options: Options) -> None:
    """QueryError for options of rows that change: these do not."""
    for name in ("unique", "restart"):
        if name in options:
            message = f"sink {sink} has an option {name!r}, and its rows never change"
            raise QueryError(message, legal=f"no {name}; or changelog = 'upsert', for results")
