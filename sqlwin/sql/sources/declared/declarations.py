"""CREATE STREAM, CREATE TABLE, CREATE SINK to the plan's values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.functions.core.session_zone import session_zone
from sqlwin.plan.ir.nodes import Scalar, Stream
from sqlwin.plan.ir.statements import Sink
from sqlwin.plan.options.checks import check as check_options
from sqlwin.plan.options.connectors import (
    APPEND,
    CALLER,
    PARTITIONED,
    SINKS,
    STATIC,
    STREAMS,
    connector_of,
)
from sqlwin.plan.options.tuning import RELOAD
from sqlwin.schema import CHANGELOG_NAMES, RESERVED, Column, Schema
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.scalars import Expr, parsed, scalar
from sqlwin.sql.expressions.volatile import clock_in, is_proctime
from sqlwin.sql.relations.relation import of_stream
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.sources.changelogs import with_changelog
from sqlwin.sql.sources.declared.column_types import column_type
from sqlwin.sql.sources.declared.marks import offset_column, position, watermark
from sqlwin.sql.syntax.statements.declarations import unbucketed
from sqlwin.sql.text import ast
from sqlwin.system.secrets import hidden

_PROCTIME = re.compile(r"\s*PROCTIME\s*\(\s*\)\s*", re.IGNORECASE)


def is_static(created: ast.CreateStream) -> bool:
    """CREATE TABLE with no watermark, no changelog, whose changes come as time goes, and no column
    of processing time, which says of each row when it came."""
    changes = dict(created.options).get("changelog", APPEND) != APPEND
    runs = (c.expression.original for c in created.columns if c.expression is not None)
    timed = bool(created.watermarks) or any(map(_PROCTIME.fullmatch, runs))
    return created.kind == "TABLE" and not timed and not changes


def is_sink(created: ast.CreateStream) -> bool:
    """CREATE TABLE, as Flink has it, of a connector that cannot be read."""
    connector = dict(created.options).get("connector")
    written = connector in SINKS and (connector not in STREAMS or connector == CALLER)
    return created.kind == "TABLE" and written


def as_sink(created: ast.CreateStream) -> ast.CreateSink:
    """A table that INSERT writes to: its columns and its options, but those of reading it alone.

    QueryError where it has no connector. Its primary key identifies a row there, as `unique`.
    """
    if created.buckets is not None:
        raise unbucketed(created.buckets)
    given = dict(created.options)
    connector = connector_of(given)
    if connector not in SINKS or (connector == CALLER and "connector" not in given):
        message = f"{created.name.text} has no connector that rows could be written to"
        legal = "WITH (connector = 'kafka', …), or CREATE SINK"
        raise QueryError(message, created.span, legal=legal)
    written = {option.name for option in SINKS[connector]}
    read = {option.name for option in STREAMS.get(connector, ())} - written
    options = {"connector": connector, **{n: v for n, v in given.items() if n not in read}}
    if created.keys and "unique" in written:
        options.setdefault("unique", ", ".join(c.text for c in created.keys[0].columns))
    columns = tuple(column for column in created.columns if column.type is not None)
    return ast.CreateSink(created.name, columns, tuple(sorted(options.items())), created.places)


def stream(created: ast.CreateStream) -> Stream:
    created = offset_column(created)
    kind = "table" if is_static(created) else "stream"
    options = dict(created.options)
    check_options(
        f"{kind} {created.name.text}", options, STREAMS, created.span, places=dict(created.places)
    )
    if kind == "stream" and connector_of(options) in STATIC:
        message = f"a table of {connector_of(options)} is no stream, and {created.name.text} is one"
        raise QueryError(message, created.span, legal="CREATE TABLE without WATERMARK, for joins")
    if kind == "stream" and RELOAD in options:
        message = f"{RELOAD} is of a static table, and {created.name.text} is a stream"
        legal = "no such option: new rows of a stream are read as they come"
        raise QueryError(message, created.span, legal=legal)
    declared = [column for column in created.columns if column.type is not None]
    _distinct(created.columns)
    zone = session_zone()
    columns = tuple(Column(_own(c.name), column_type(c), zone) for c in declared)
    made = Stream(created.name.text, columns, None, options=hidden(created.options))
    if PARTITIONED in options:
        _check_partitions(f"{kind} {made.name}", options, columns, created.places, created.span)
    made = _computed(made, created.columns)
    ts, delay = watermark(created, made)
    offset, trusted = position(created, made)
    made = replace(made, ts=ts, delay=delay, offset=offset, trusted=trusted)
    return with_changelog(created, made)


def sink(created: ast.CreateSink) -> Sink:
    _distinct(created.columns)
    columns = tuple(Column(_own(c.name), column_type(c)) for c in created.columns)
    made = Sink(created.name.text, columns or None, hidden(created.options))
    check_options(
        f"sink {made.name}",
        dict(made.options),
        SINKS,
        created.name.span,
        places=dict(created.places),
    )
    if columns and PARTITIONED in (options := dict(made.options)):
        of = created.places, created.name.span
        _check_partitions(f"sink {made.name}", options, columns, *of)
    for column in created.columns:
        if column.name.text.lower() in CHANGELOG_NAMES.values():
            message = f"each result has a column {column.name.text.lower()} of its own"
            raise QueryError(message, column.name.span, legal="any other name")
    return made


def _check_partitions(
    what: str, options: dict[str, str], columns: Schema, places: ast.Places, span: Span
) -> None:
    from sqlwin.sql.sources.partitioned import check_partitions  # by need

    at = dict(places).get(PARTITIONED, span)
    check_partitions(what, options, [(c.name, c.type) for c in columns], at)


def _own(name: ast.Name) -> str:
    if name.text.startswith(RESERVED):
        message = f"names that begin with {RESERVED} are sqlwin's own: {name.text}"
        raise QueryError(message, name.span, legal="any other name")
    return name.text


def _distinct(columns: Sequence[ast.ColumnDef]) -> None:
    seen: set[str] = set()
    for column in columns:
        if column.name.text.lower() in seen:
            message = f"the column {column.name.text} is declared twice"
            raise QueryError(
                message, column.name.span, legal="once; case does not distinguish them"
            )
        seen.add(column.name.text.lower())


def _computed(made: Stream, columns: Sequence[ast.ColumnDef]) -> Stream:
    computed: list[tuple[str, Scalar]] = []
    for column in columns:
        if column.expression is not None:
            run = column.expression
            tree = parsed(run)
            refuse_calls(tree, run, "a computed column")
            _refuse_clock(tree, run, column.name)
            so_far = replace(made, computed=tuple(computed))
            resolved = Scope(of_stream(so_far)).resolved(tree, run)
            computed.append((_own(column.name), scalar(resolved, so_far.schema, run)))
    return replace(made, computed=tuple(computed))


def _refuse_clock(tree: Expr, run: ast.Run, column: ast.Name) -> None:
    """A column is processing time itself; what is computed from it reads the column."""
    call = clock_in(tree, run.span)
    if call is not None and not is_proctime(tree):
        other = "" if call.text.upper() == "PROCTIME()" else f", not {call.text}"
        message = f"a column of a stream that goes by the clock is PROCTIME() alone{other}"
        legal = f"{column.text} AS PROCTIME(), and a column behind it that is computed from it"
        raise QueryError(message, call.span, legal=legal)
