"""CREATE STREAM, CREATE TABLE, CREATE SINK to the plan's values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

import pyarrow as pa

from sqlwin.durations import LEGAL as DURATIONS
from sqlwin.durations import micros
from sqlwin.errors import QueryError, Span
from sqlwin.functions.core.session_zone import session_zone
from sqlwin.functions.elsewhere import TYPES
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
from sqlwin.plan.properties.processing_time import clock_columns
from sqlwin.schema import (
    CHANGELOG_NAMES,
    RESERVED,
    TIMESTAMP,
    Column,
    Schema,
    type_name,
    type_named,
    type_names,
)
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.scalars import Expr, parsed, scalar
from sqlwin.sql.expressions.volatile import clock_in, is_proctime
from sqlwin.sql.relations.relation import nearest, of_stream
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.sources.changelogs import with_changelog
from sqlwin.sql.sources.nested_types import nested_type
from sqlwin.sql.syntax.declarations import unbucketed
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import QUOTED, unquoted
from sqlwin.system.secrets import hidden

_TYPE = re.compile(r"(\w+)\s*(?:\(\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?\))?\s*(.*)\Z", re.DOTALL)
_ZONE = re.compile(r"WITH\s+(LOCAL\s+)?TIME\s+ZONE\b", re.IGNORECASE)
_TAIL = re.compile(
    rf"(PRECISION|NOT\s+NULL|NULL|PRIMARY\s+KEY|COMMENT\s+(?:{QUOTED})|\s)*\Z", re.IGNORECASE
)
_PROCTIME = re.compile(r"\s*PROCTIME\s*\(\s*\)\s*", re.IGNORECASE)
_DELAY = re.compile(r"\s*(\w+|`(?:[^`]|``)+`)\s*(?:-\s*(.*))?\Z", re.DOTALL)
_INTERVAL = re.compile(r"(?:INTERVAL\s+)?(?:'([^']*)'|(\d+))\s*(\w+)?\s*\Z", re.IGNORECASE)


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
    created = _offset_column(created)
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
    ts, delay = _watermark(created, made)
    offset, trusted = _position(created, made)
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


def column_type(column: ast.ColumnDef) -> pa.DataType:
    assert column.type is not None
    written = column.type
    nested = nested_type(written)
    if nested is not None:
        return nested
    read = _TYPE.match(written.original)
    legal = ", ".join(type_names())
    if read is None:
        raise QueryError(f"{written.original} is not a type", written.span, legal=legal)
    name, precision, scale, rest = read.groups()
    zoned = _ZONE.match(rest) if name.upper() == "TIMESTAMP" else None
    found = type_named(name)
    if found is not None and pa.types.is_decimal(found) and precision:
        if not (1 <= int(precision) <= 38 and int(scale or 0) <= int(precision)):
            message = f"{' '.join(written.original.split())} has no such precision and scale"
            raise QueryError(message, written.span, legal="DECIMAL(p, s), 1 <= p <= 38, s <= p")
        found = pa.decimal128(int(precision), int(scale or 0))
    if found is None or not _TAIL.match(rest[zoned.end() :] if zoned else rest):
        raise _no_type(column, written, name, legal)
    return found


def _no_type(column: ast.ColumnDef, written: ast.Run, name: str, legal: str) -> QueryError:
    """What follows a column's name is no type: a misspelt one, or something else was meant."""
    shown = " ".join(written.original.split())
    if get_close_matches(column.name.text.upper(), ["WATERMARK"], 1):
        message = f"{column.name.text} {shown} is no watermark, and no column"
        return QueryError(message, column.name.span, legal="WATERMARK FOR ts AS ts")
    first, _, rest = shown.partition(" ")
    if type_named(first) is not None and re.match(r"[^\W\d]\w*\s+\w", rest):
        message = f"a comma is missing behind {column.name.text} {first}"
        return QueryError(message, written.span, legal=f"{column.name.text} {first}, {rest}")
    keyed = {name.lower(): f"{name} PRIMARY KEY"} if rest.upper() == "KEY" else TYPES
    message = f"{shown} is not a type of a column{nearest(name, type_names(), keyed)}"
    return QueryError(message, written.span, legal=legal)


def _offset_column(created: ast.CreateStream) -> ast.CreateStream:
    """`offset BIGINT` is a column if there is none called BIGINT and there is such a type."""
    names = {column.name.text.lower() for column in created.columns}
    positions, columns = [], list(created.columns)
    for position in created.positions:
        called = position.column.text
        if called.lower() in names or type_named(called) is None:
            positions.append(position)
            continue
        run = ast.Run(called, called, position.column.span)
        columns.append(ast.ColumnDef(position.word, type=run))
    columns.sort(key=lambda column: (column.name.span.line, column.name.span.column))
    return replace(created, columns=tuple(columns), positions=tuple(positions))


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


def _watermark(created: ast.CreateStream, made: Stream) -> tuple[str | None, int]:
    if not created.watermarks:
        return None, 0
    first, *more = created.watermarks
    if more:
        raise QueryError(
            "a stream has one watermark", more[0].column.span, legal="one WATERMARK FOR"
        )
    column = _column(made.schema, first.column)
    if column.name in clock_columns(made):
        message = f"{column.name} is processing time, of which the clock is the watermark"
        legal = f"no WATERMARK: DESCRIPTOR({column.name}), ORDER BY {column.name}"
        raise QueryError(message, first.column.span, legal=legal)
    if column.type != TIMESTAMP:
        from sqlwin.sql.relations.as_time import as_time

        message = f"event time must be TIMESTAMP, {column.name} is {type_name(column.type)}"
        made_time = as_time(column.name, column.type, [each.name for each in made.schema])
        legal = "a column of TIMESTAMP"
        if made_time is not None:
            called, computed = made_time
            legal = f"{computed}, WATERMARK FOR {called} AS {called}"
        raise QueryError(message, first.column.span, legal=legal)
    return column.name, _delay(first, column.name)


def _delay(watermark: ast.Watermark, ts: str) -> int:
    run = watermark.expression
    legal = f"WATERMARK FOR {ts} AS {ts} - INTERVAL '5' SECOND"
    read = _DELAY.match(run.original)
    if read is None or unquoted(read[1]).lower() != ts.lower():
        message = f"a watermark is {ts}, or {ts} less a duration"
        raise QueryError(message, run.span, legal=legal)
    if read[2] is None:
        return 0
    interval = _INTERVAL.match(read[2])
    if interval is None:
        raise QueryError("a watermark is behind by a duration", run.span, legal=legal)
    try:
        text = interval[2] if interval[1] is None else interval[1]
        delay = micros(text, interval[3])
    except ValueError as problem:
        raise QueryError(str(problem), run.span, legal=DURATIONS) from None
    if delay < 0:
        raise QueryError("a watermark cannot be ahead of the stream", run.span, legal=legal)
    return delay


def _position(created: ast.CreateStream, made: Stream) -> tuple[str | None, bool]:
    if not created.positions:
        return None, False
    first, *more = created.positions
    if more:
        raise QueryError("a stream has one OFFSET", more[0].column.span, legal="OFFSET id")
    column = _column(made.schema, first.column)
    if not pa.types.is_integer(column.type):
        message = f"OFFSET must be an integer column, {column.name} is {type_name(column.type)}"
        raise QueryError(message, first.column.span, legal="a BIGINT that grows")
    return column.name, first.trusted


def _column(schema: Schema, name: ast.Name) -> Column:
    known = [column.name for column in schema]
    for column in schema:
        if column.name.lower() == name.text.lower():
            return column
    message = f"unknown column {name.text}{nearest(name.text, known)}"
    raise QueryError(message, name.span, legal=", ".join(known))
