"""The answers of statements that run nothing: EXPLAIN, DESCRIBE, SHOW STREAMS or FUNCTIONS."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlwin.instants import format_duration
from sqlwin.plan.explain.functions import described, like
from sqlwin.plan.ir.nodes import Scan, Stream
from sqlwin.plan.ir.statements import (
    Describe,
    DescribeFunction,
    Query,
    Script,
    ShowCreate,
    ShowFunctions,
    Statement,
)
from sqlwin.plan.options.sinks import changes
from sqlwin.schema import Schema, type_name


def answers(script: Script, explain: Callable[[Query], str]) -> list[str]:
    """One text for each statement that runs nothing, in the order of the script.

    explain: a query with the stores that its operators open.
    """
    found = (_answer(statement, explain) for statement in script.statements)
    return [answer for answer in found if answer is not None]


def _answer(statement: Statement, explain: Callable[[Query], str]) -> str | None:
    if isinstance(statement, Query):
        return explain(statement) if statement.explain else None
    if isinstance(statement, Describe):
        return "\n".join(_described(statement))
    if isinstance(statement, DescribeFunction):
        return "\n".join(statement.lines or described(statement.name) or ())
    if isinstance(statement, ShowCreate):
        return statement.text
    if isinstance(statement, ShowFunctions):
        return "\n".join(like(statement.pattern, statement.own))
    return "\n".join(_shown(name, columns) for name, columns in statement.declared)


def _described(described: Describe) -> Iterator[str]:
    yield described.name
    yield from _columns(described.columns)
    if described.stream is not None and described.stream.of:
        yield from _derived(described.stream)
    elif described.stream is not None and described.stream.ts is not None:
        yield f"  watermark: {described.stream.ts} less {format_duration(described.stream.delay)}"
    if described.stream is not None and described.stream.offset is not None:
        yield f"  offset: {described.stream.offset}"


def _derived(stream: Stream) -> Iterator[str]:
    behind = f", {format_duration(stream.delay)} behind" if stream.delay else ""
    yield f"  event time: {stream.ts}{behind}" if stream.ts else "  event time: none"
    if changes(Scan(stream)):
        yield "  changing: rows are retracted and replaced"


def _columns(columns: Schema) -> Iterator[str]:
    width = max((len(column.name) for column in columns), default=0)
    return (f"  {column.name.ljust(width)}  {type_name(column.type)}" for column in columns)


def _shown(name: str, columns: Schema) -> str:
    return f"{name} ({', '.join(column.name for column in columns)})" if columns else name
