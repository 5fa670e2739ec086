"""`%load_ext sqlwin`: `%sqlwin` and `%%sqlwin` in IPython and Jupyter.

    %%sqlwin totals --delay "5 seconds"
    SELECT product, window_start, SUM(value) AS total
    FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    GROUP BY product, window_start, window_end

A SELECT reads the DataFrames of the notebook by their names: pandas, Polars or Arrow. A script
with sources of its own is run as `sqlwin run` does. This module imports IPython, others do not.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import NoReturn

import polars as pl
import pyarrow as pa
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from sqlwin.api import explain, query, run, stream
from sqlwin.embedded.output_buffer import fold
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import InputError, SqlwinError
from sqlwin.runtime.rows.conform import frame_of
from sqlwin.runtime.rows.results import PlanText, Results
from sqlwin.schema import TIMESTAMP
from sqlwin.sql.bind import declared

Frames = Mapping[str, pl.DataFrame]
_EXPLAIN = re.compile(r"\s*EXPLAIN\b", re.IGNORECASE)
_LIBRARIES = ("pandas", "polars", "pyarrow")


class Options(argparse.ArgumentParser):
    """Of `%%sqlwin`; a mistake is IPython's, which shows it without a traceback."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.format_usage().strip()}")


def options() -> Options:
    made = Options(prog="%%sqlwin", add_help=False)
    made.add_argument("name", nargs="?", help="the variable that gets what is shown")
    made.add_argument("--ts", help="the event-time column, where a DataFrame has several instants")
    made.add_argument("--delay", default="0 seconds", help="how far the watermark stays behind")
    made.add_argument("--batch", type=int, help="rows of a batch; all at once if left out")
    made.add_argument("--changes", action="store_true", help="each emission, not the last ones")
    made.add_argument("--open", action="store_true", help="leave windows open at the end")
    return made


def load(shell: InteractiveShell) -> None:
    """What `%load_ext sqlwin` calls."""

    def sqlwin(line: str, cell: str | None = None) -> Results | PlanText | None:
        given = options().parse_args(shlex.split(line) if cell is not None else [])
        try:
            shown = shown_of(line if cell is None else cell, shell.user_ns, given)
        except SqlwinError as mistake:
            raise UsageError(str(mistake)) from None
        if given.name is not None and shown is not None:
            shell.user_ns[given.name] = shown
        return shown

    sqlwin.__doc__ = f"Run a script, or a SELECT over DataFrames.\n\n{options().format_help()}"
    shell.register_magic_function(sqlwin, "line_cell")  # type: ignore[arg-type] # a wrapped method


def shown_of(
    text: str, names: Mapping[str, object], arguments: argparse.Namespace
) -> Results | PlanText | None:
    """Rows of the script's one SELECT; the plan after EXPLAIN; None of a script with sinks."""
    frames = frames_of(text, names)
    explains = _EXPLAIN.match(text) is not None
    text = _EXPLAIN.sub("", text, count=1) if explains else text
    if not frames:
        return explain(text) if explains else _ran(text, arguments.changes)
    made = _query(text, frames, arguments)
    if explains:
        return made.explain()
    made.advance(now=datetime.now(timezone.utc))
    _push(made, frames, arguments.batch)
    if not arguments.open:
        made.drain()
    return made.results() if arguments.changes else made.table()


def frames_of(text: str, names: Mapping[str, object]) -> Frames:
    """The DataFrames that a text names and does not declare."""
    words = set(re.findall(r"[^\W\d]\w*", text))
    known = {name: found for name, found in names.items() if name in words and _is_frame(found)}
    own = declared(text) if known else frozenset()
    return {name: frame_of(found, ()) for name, found in known.items() if name.lower() not in own}


def _is_frame(found: object) -> bool:
    """Whether it is a table of a library that the notebook has imported."""
    kind = type(found)
    frame = kind.__name__ in ("DataFrame", "Table", "RecordBatch", "Results")
    return frame and kind.__module__.split(".")[0] in (*_LIBRARIES, "sqlwin")


def _query(text: str, frames: Frames, arguments: argparse.Namespace) -> EmbeddedQuery:
    """Where another DataFrame has instants, one without them is a static table."""
    timed = {name: frame for name, frame in frames.items() if instants(frame)} or frames
    streams = {
        name: stream(types_of(frame), _time(name, frame, arguments.ts), arguments.delay)
        for name, frame in timed.items()
    }
    tables = {name: stream(types_of(frame)) for name, frame in frames.items() if name not in timed}
    return query(text, streams, tables=tables)


def instants(frame: pl.DataFrame) -> list[str]:
    """Names of its columns of instants."""
    return [name for name, type_ in frame.schema.items() if isinstance(type_, pl.Datetime)]


def _time(name: str, frame: pl.DataFrame, said: str | None) -> str | None:
    found = instants(frame)
    if said in frame.columns:
        return said
    if len(found) > 1:
        raise InputError(f"{name} has instants in {', '.join(found)}: say --ts {found[0]}")
    return found[0] if found else None


def types_of(frame: pl.DataFrame) -> pa.Schema:
    """Its columns with the types of SQL: instants are TIMESTAMPs in UTC, whatever their unit."""
    typed: pa.Schema = frame.clear().to_arrow().schema
    for at, field in enumerate(typed):
        if pa.types.is_timestamp(field.type):
            typed = typed.set(at, field.with_type(TIMESTAMP))
        elif pa.types.is_large_string(field.type):
            typed = typed.set(at, field.with_type(pa.string()))
    return typed


def _push(made: EmbeddedQuery, frames: Frames, batch: int | None) -> None:
    """Static tables come first; a DataFrame that is not read is not pushed."""
    for name in sorted(made.streams, key=lambda name: bool(instants(frames[name]))):
        frame = frames[name]
        for rows in frame.iter_slices(batch or max(1, len(frame))):
            made.push(name, rows)


def _ran(text: str, changes: bool) -> Results | None:
    """What the SELECTs of a script give; the last revisions, where all give the same columns."""
    found: list[pl.DataFrame] = []
    run(text, show=found.append)
    if not found:
        return None
    emitted = pl.concat(found, how="diagonal_relaxed")
    if not changes and len({tuple(frame.columns) for frame in found}) == 1:
        emitted = fold(emitted).filter(pl.col("op") != "-D")
    return Results(emitted.to_arrow())
