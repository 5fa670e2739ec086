"""The public Python API of the in-process host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from uuid import uuid4

import polars as pl
import pyarrow as pa

from sqlwin.durations import micros
from sqlwin.embedded.durable_store import DurableStore
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.embedded.run import run as run_script
from sqlwin.errors import InputError
from sqlwin.inference import inferred_from
from sqlwin.plan.ir.nodes import Stream
from sqlwin.python_aggregates import PythonAggregate
from sqlwin.runtime.connectors.function_sink import TakeBatch
from sqlwin.runtime.connectors.metrics import OnMetrics
from sqlwin.runtime.connectors.options import RunOptions, never, silent, warned
from sqlwin.runtime.connectors.progress import OnWarning, Summary
from sqlwin.runtime.lowering.explained import explain as explain_query
from sqlwin.runtime.lowering.explained import explain_script
from sqlwin.runtime.rows.malformed import limit
from sqlwin.schema import RESERVED, Column
from sqlwin.sql import script


def query(
    sql: str,
    streams: Mapping[str, Stream | pa.Schema] | None = None,
    params: Mapping[str, str] | None = None,
    functions: Sequence[PythonAggregate] = (),
    store: str | PathLike[str] | None = None,
    lazy: bool = False,
) -> EmbeddedQuery:
    """A query in this process.

    sql: a script with CREATE STREAM … and one SELECT, or just the SELECT where
    `streams` are given. params: values of `:name` parameters. functions: aggregates in
    Python that the text may call, see `sqlwin.aggregate`. store: a file that `flush`
    writes to; one that is there already is gone on from. lazy: where its message store
    was deleted, work before the replay has filled it again.
    Raises QueryError for a mistake in the text, with line, column and what is legal;
    InputError for a store of another query.

    >>> q = query('''
    ...     CREATE STREAM orders (
    ...       product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
    ...     SELECT product, window_start, SUM(value) AS total
    ...     FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    ...     GROUP BY product, window_start''')
    >>> q.push("orders", [{"product": "tea", "value": 2, "ts": "2024-01-01T09:00:10Z"},
    ...                   {"product": "tea", "value": 3, "ts": "2024-01-01T09:00:20Z"}])
    >>> q.drain()
    >>> q.table()["total"].to_pylist()
    [5]
    """
    parsed = script(sql, _declared(streams), params, tuple(functions), infer=inferred_from(Path()))
    blobs = None if store is None else DurableStore(store)
    return EmbeddedQuery(parsed, explain_query, blobs=blobs, token=uuid4().hex, lazy=lazy)


def run(
    sql: str,
    base: str | PathLike[str] = ".",
    checkpoint: str | PathLike[str] | None = None,
    drain: bool = False,
    follow: bool = False,
    sinks: Mapping[str, TakeBatch] | None = None,
    show: Callable[[pl.DataFrame], None] = silent,
    on_errors: Callable[[pl.DataFrame], None] = silent,
    on_warning: OnWarning = warned,
    max_errors: int | str | None = None,
    params: Mapping[str, str] | None = None,
    functions: Sequence[PythonAggregate] = (),
    stop: Callable[[], bool] = never,
    on_metrics: OnMetrics | None = None,
) -> Summary:
    """Run a script with its own sources and sinks in this process, as `sqlwin run` does.

    base: what relative paths of the script are relative to. checkpoint: keeps windows open for
    the next run, unless `drain`; without one every window closes. follow: go on as files arrive.
    sinks: functions of (Arrow table, number of the batch), by name of the sinks with
    connector = 'python'; an exception in one ends the run, and the next repeats the batch under
    its number. show: results of queries without a sink, a batch at a time. on_errors: rows of the
    error stream that no sink takes. max_errors: malformed rows that are still taken, a count or
    as "1%" of those read. params, functions: as of `query`. stop: is called between batches; True
    ends the run there, and what is open stays open. on_metrics: gets the metrics of each batch and
    query. RunError where the run fails.
    """
    options = RunOptions(
        Path(base),
        None if checkpoint is None else Path(checkpoint),
        drain,
        follow,
        show,
        on_errors,
        on_warning=on_warning,
        max_errors=None if max_errors is None else limit(str(max_errors)),
        functions=sinks or {},
        stop=stop,
        on_metrics=on_metrics,
    )
    parsed = script(
        sql, params=params, functions=tuple(functions), infer=inferred_from(options.base)
    )
    return run_script(parsed, options)


def stream(
    schema: pa.Schema, ts: str | None = None, delay: str = "0 seconds", offset: str | None = None
) -> Stream:
    """A stream as CREATE STREAM would declare it.

    ts: the event-time column; None: the one the query orders by. delay: how far the
    watermark stays behind the greatest event time, `"5 seconds"`. offset: the column
    that is a row's position. InputError for a column that is not there, is there
    twice, or has a name of sqlwin's own.
    """
    columns = tuple(Column(field.name, field.type) for field in schema)
    _check_names(schema.names, (ts, offset))
    return Stream("", columns, ts, _micros(delay), offset=offset)


def explain(
    sql: str, params: Mapping[str, str] | None = None, base: str | PathLike[str] = "."
) -> str:
    """The plan of every query of a script, as text. base: what files of FROM are relative to."""
    return explain_script(script(sql, params=params, infer=inferred_from(Path(base))))


def _declared(streams: Mapping[str, Stream | pa.Schema] | None) -> dict[str, Stream]:
    named = {}
    for name, given in (streams or {}).items():
        known = stream(given) if isinstance(given, pa.Schema) else given
        if not isinstance(known, Stream):
            raise InputError(
                f"stream {name!r} is a pyarrow.Schema or sqlwin.stream(…), not {given!r}"
            )
        named[name] = known
    return named


def _check_names(names: Sequence[str], used: Iterable[str | None]) -> None:
    for name in names:
        if name.startswith(RESERVED):
            raise InputError(f"names that begin with {RESERVED} are sqlwin's own: {name}")
        if [other.lower() for other in names].count(name.lower()) > 1:
            raise InputError(f"the column {name} is there twice; case does not distinguish them")
    for missing in used:
        if missing is not None and missing not in names:
            raise InputError(f"no column {missing!r}; there are {', '.join(names)}")


def _micros(duration: str) -> int:
    try:
        counted = micros(duration, None)
    except ValueError as problem:
        raise InputError(f"{problem}; legal is '5 seconds', '1 hour' …") from None
    if counted < 0:
        raise InputError(f"{duration!r} is less than nothing; legal is '5 seconds', '1 hour' …")
    return counted
