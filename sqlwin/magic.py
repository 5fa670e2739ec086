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
from dataclasses import field
from datetime import datetime, timezone
from pathlib import Path
from typing import NoReturn

import polars as pl
import pyarrow as pa
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from sqlwin.api import query, stream
from sqlwin.embedded.output_buffer import fold
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.embedded.run import run
from sqlwin.errors import InputError, SqlwinError
from sqlwin.inference.declared import inferred_from
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.explain.statements import answers
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.options.connectors import SINKS, connector_of
from sqlwin.running.analysis import explained
from sqlwin.runtime.connectors.options import RunOptions, warned
from sqlwin.runtime.connectors.progress import BatchRows
from sqlwin.runtime.rows.conform import frame_of
from sqlwin.runtime.rows.results import PlanText, Results
from sqlwin.schema import TIMESTAMP
from sqlwin.sql import reads, script
from sqlwin.sql.text.prepared import blanked

Frames = Mapping[str, pl.DataFrame]
_EXPLAIN = re.compile(r"\s*EXPLAIN\b", re.IGNORECASE)
_LIBRARIES = ("pandas", "polars", "pyarrow")


class Options(argparse.ArgumentParser):
    """Of `%%sqlwin`; a mistake is IPython's, which shows it without a traceback."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.format_usage().strip()}")


def count(text: str) -> int:
    """Of rows, at least one."""
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text} is no count of rows")
    return int(text)


def options() -> Options:
    made = Options(prog="%%sqlwin", add_help=False)
    made.add_argument("name", nargs="?", help="the variable that gets what is shown")
    made.add_argument("--ts", help="the event-time column, where a DataFrame has several instants")
    made.add_argument("--delay", default="0 seconds", help="how far the watermark stays behind")
    made.add_argument("--batch", type=count, help="rows of a batch; all at once if left out")
    made.add_argument("--changes", action="store_true", help="each emission, not the last ones")
    made.add_argument("--open", action="store_true", help="leave windows open at the end")
    return made


def load(shell: InteractiveShell) -> None:
    """What `%load_ext sqlwin` calls."""

    def sqlwin(line: str, cell: str | None = None) -> Results | PlanText | None:
        try:
            given = options().parse_args(shlex.split(line) if cell is not None else [])
        except ValueError as unclosed:  # a quote
            raise UsageError(f"{unclosed}: {line}") from None
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
    """Rows of the script's SELECTs; the plan after EXPLAIN; None of a script with sinks."""
    own, others = reads(text)
    frames = {name: frame_of(names[name], ()) for name in others if _is_frame(names.get(name))}
    if not frames:
        return _ran(text, arguments.changes)
    if own:
        ours, theirs = ", ".join(sorted(own)), ", ".join(sorted(frames))
        raise InputError(f"{theirs} is a DataFrame, and {ours} a source of the script's own")
    explains = _EXPLAIN.match(blanked(text))
    made = _query(_blank(text, explains.end()) if explains else text, frames, arguments)
    if explains:
        return made.explain()
    made.advance(now=datetime.now(timezone.utc))
    _push(made, frames, arguments.batch)
    if not arguments.open:
        made.drain()
    return made.results() if arguments.changes else made.table()


def _blank(text: str, end: int) -> str:
    """Places behind it stay."""
    return re.sub(r"[^\n]", " ", text[:end]) + text[end:]


def _is_frame(found: object) -> bool:
    """Whether it is a table of a library that the notebook has imported."""
    kind = type(found)
    frame = kind.__name__ in ("DataFrame", "Table", "RecordBatch", "Results")
    return frame and kind.__module__.split(".")[0] in (*_LIBRARIES, "sqlwin")


def _query(text: str, frames: Frames, arguments: argparse.Namespace) -> EmbeddedQuery:
    """Where another DataFrame has instants, one without them is a static table."""
    said = arguments.ts
    if said is not None and not any(said in frame.columns for frame in frames.values()):
        raise InputError(f"no DataFrame that is read has a column {said}")
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
    for at, each in enumerate(typed):
        if pa.types.is_timestamp(each.type):
            typed = typed.set(at, each.with_type(TIMESTAMP))
        elif pa.types.is_large_string(each.type):
            typed = typed.set(at, each.with_type(pa.string()))
    return typed


def _push(made: EmbeddedQuery, frames: Frames, batch: int | None) -> None:
    """Static tables come first; a DataFrame that is not read is not pushed."""
    for name in sorted(made.streams, key=lambda name: bool(instants(frames[name]))):
        frame = frames[name]
        for rows in frame.iter_slices(batch or max(1, len(frame))):
            made.push(name, rows)


def _ran(text: str, changes: bool) -> Results | PlanText | None:
    """What the SELECTs of a script give, those of each together; the answers of one without."""
    asked, found = script(text, infer=inferred_from(Path())), Found()
    options = RunOptions(Path(), on_warning=warned, on_rows=found.take)
    told = answers(asked, explained(asked, options, run))
    if asked.queries:
        run(asked, options)
    shown = [found.of(number, changes) for number, query in enumerate(asked.queries) if seen(query)]
    given = [rows for rows in shown if len(rows)]
    if given:
        return Results(pl.concat(given, how="diagonal_relaxed").to_arrow())
    return PlanText("\n".join(told)) if told else None


def seen(query: Query) -> bool:
    """Whether its results go to the screen."""
    return query.sink is None or connector_of(dict(query.sink.options), SINKS) == "console"


@dataclass
class Found:
    """Results by the number of their query."""

    results: dict[int, list[pl.DataFrame]] = field(default_factory=dict)

    def take(self, batch: BatchRows) -> None:
        self.results.setdefault(batch.query, []).append(batch.results)

    def of(self, query: int, changes: bool) -> pl.DataFrame:
        """Each emission, or the last revisions."""
        emitted = pl.concat(self.results.get(query, [pl.DataFrame()]))
        if changes or emitted.is_empty():
            return emitted
        return fold(emitted).filter(pl.col("op") != "-D")
