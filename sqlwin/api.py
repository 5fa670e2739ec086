"""The public Python API of the in-process host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from uuid import uuid4

import pyarrow as pa

from sqlwin.durations import micros
from sqlwin.embedded.durable_store import DurableStore
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import InputError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.python_aggregates import PythonAggregate
from sqlwin.runtime.lowering.explained import explain as explain_query
from sqlwin.runtime.lowering.explained import explain_script
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
    asked = script(sql, _declared(streams), params, tuple(functions))
    blobs = None if store is None else DurableStore(store)
    return EmbeddedQuery(asked, explain_query, blobs=blobs, token=uuid4().hex, lazy=lazy)


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


def explain(sql: str, params: Mapping[str, str] | None = None) -> str:
    """The plan of every query of a script, as text."""
    return explain_script(script(sql, params=params))


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
            raise InputError(f"the column {name} is there twice; case does not tell them apart")
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
