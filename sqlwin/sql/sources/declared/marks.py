"""WATERMARK and OFFSET of a declared stream: its event time, its delay, its column of positions.

WATERMARK FOR ts AS ts - INTERVAL '5' SECOND    event time ts, five seconds behind
OFFSET id                                       the position of a message in its partition
"""

from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa

from sqlwin.durations import LEGAL as DURATIONS
from sqlwin.durations import micros
from sqlwin.errors import QueryError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.properties.processing_time import clock_columns
from sqlwin.schema import TIMESTAMP, Column, Schema, type_name, type_named
from sqlwin.sql.relations.relation import nearest
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import unquoted

_DELAY = re.compile(r"\s*(\w+|`(?:[^`]|``)+`)\s*(?:-\s*(.*))?\Z", re.DOTALL)
_INTERVAL = re.compile(r"(?:INTERVAL\s+)?(?:'([^']*)'|(\d+))\s*(\w+)?\s*\Z", re.IGNORECASE)


def offset_column(created: ast.CreateStream) -> ast.CreateStream:
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


def watermark(created: ast.CreateStream, made: Stream) -> tuple[str | None, int]:
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


def position(created: ast.CreateStream, made: Stream) -> tuple[str | None, bool]:
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
