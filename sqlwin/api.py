"""The public Python API of the in-process host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, overload
from uuid import uuid4

import polars as pl
import pyarrow as pa

from sqlwin.builder.declared import named_stream, stream_of
from sqlwin.builder.query import QueryBuilder
from sqlwin.embedded.checkpoint.durable_store import DurableStore
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import InputError
from sqlwin.inference.declared import inferred_from
from sqlwin.interrupts import interruptions
from sqlwin.plan.ir.nodes import Stream
from sqlwin.python_functions.function import UserFunction
from sqlwin.runtime.connectors.function_sink import TakeBatch
from sqlwin.runtime.connectors.metrics import OnMetrics
from sqlwin.runtime.connectors.options import RunOptions, never, silent, warned
from sqlwin.runtime.connectors.progress import OnWarning, Summary
from sqlwin.runtime.lowering.explained import explain as explain_query
from sqlwin.runtime.lowering.explained import explain_script
from sqlwin.runtime.rows.malformed import limit
from sqlwin.runtime.rows.results import PlanText
from sqlwin.sql import script


def query(
    sql: str | QueryBuilder,
    streams: Mapping[str, Stream | pa.Schema] | None = None,
    params: Mapping[str, str] | None = None,
    functions: Sequence[UserFunction] = (),
    store: str | PathLike[str] | None = None,
    lazy: bool = False,
    tables: Mapping[str, Stream | pa.Schema] | None = None,
) -> EmbeddedQuery:
    """A query in this process.

    sql: a script with CREATE STREAM … and one SELECT, or just the SELECT where
    `streams` are given; or what `stream(name, …)` builds. params: values of `:name`
    parameters. functions: aggregates in Python that the text may call, see
    `sqlwin.aggregate`. store: a file that `flush` writes to; one that is there
    already is gone on from. lazy: where its message store was deleted, work before the
    replay has filled it again. tables: static tables, as `streams`.
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
    declared, static = _declared(streams), _declared(tables)
    if isinstance(sql, QueryBuilder):
        parsed = sql.script(params, tuple(functions), declared, static)
    else:
        infer = inferred_from(Path())
        parsed = script(sql, declared, params, tuple(functions), static, infer)
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
    functions: Sequence[UserFunction] = (),
    stop: Callable[[], bool] = never,
    on_metrics: OnMetrics | None = None,
) -> Summary:
    """Run a script with its own sources and sinks in this process, as `sqlwin run` does.

    base: what relative paths of the script are relative to. checkpoint: keeps windows open for
    the next run, unless `drain`; without one every window closes. follow: go on as files arrive,
    until `stop` or Ctrl-C, which ends the run after its batch, and in order; a second one raises
    KeyboardInterrupt.
    sinks: functions of (Arrow table, number of the batch), by name of the sinks with
    connector = 'python'; an exception in one ends the run, and the next repeats the batch under
    its number. show: results of queries without a sink, a batch at a time. on_errors: rows of the
    error stream that no sink takes. max_errors: malformed rows that are still taken, a count or
    as "1%" of those read. params, functions: as of `query`. stop: is called between batches; True
    ends the run there, and what is open stays open. on_metrics: gets the metrics of each batch and
    query. RunError where the run fails.
    """
    from sqlwin.embedded.run import run as run_script  # a query needs no sources and sinks

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
    if not follow:
        return run_script(parsed, options)
    with interruptions() as interrupted:
        ends = replace(options, stop=lambda: interrupted.is_set() or stop())
        return run_script(parsed, ends)


@overload
def stream(
    name: str,
    schema: pa.Schema | Mapping[str, str],
    /,
    ts: str | None = None,
    delay: str = "0 seconds",
    offset: str | None = None,
    *,
    static: bool = False,
) -> QueryBuilder: ...


@overload
def stream(
    schema: pa.Schema,
    ts: str | None = None,
    delay: str = "0 seconds",
    offset: str | None = None,
) -> Stream: ...


def stream(*given: Any, **options: Any) -> Stream | QueryBuilder:
    """A stream as CREATE STREAM would declare it; with a name, what a query is built from.

    schema: Arrow's, or of a named stream the types of SQL by column. ts: the event-time column;
    None: the one the query orders by. delay: how far the watermark stays behind the greatest
    event time, `"5 seconds"`. offset: the column that is a row's position. static: a table that
    is read once, before the first row of a stream. InputError for a column that is not there, is
    there twice, or has a name of sqlwin's own.

    >>> stream(pa.schema([("value", pa.int64())])).columns[0].name
    'value'
    >>> print(stream("orders", {"value": "BIGINT"}).where("value > 1").sql())
    SELECT *
    FROM `orders`
    WHERE value > 1
    """
    if given and isinstance(given[0], str):
        return named_stream(*given, **options)
    return stream_of(*given, **options)


def explain(
    sql: str | QueryBuilder,
    params: Mapping[str, str] | None = None,
    base: str | PathLike[str] = ".",
) -> PlanText:
    """The plan of every query of a script, or of one that was built, as text. base: what files of
    FROM are relative to."""
    if isinstance(sql, QueryBuilder):
        return sql.explain(params)
    return PlanText(explain_script(script(sql, params=params, infer=inferred_from(Path(base)))))


def _declared(streams: Mapping[str, Stream | pa.Schema] | None) -> dict[str, Stream]:
    named = {}
    for name, given in (streams or {}).items():
        known = stream_of(given) if isinstance(given, pa.Schema) else given
        if not isinstance(known, Stream):
            raise InputError(
                f"stream {name!r} is a pyarrow.Schema or sqlwin.stream(…), not {given!r}"
            )
        named[name] = known
    return named
