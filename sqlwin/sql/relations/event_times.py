"""The event time of a relation: the one that is chosen, and what else it could be.

Invariant: where another column is chosen, the base goes by it too: what is late, and when a window
ends, it alone decides.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.names import nearest as nearest
from sqlwin.plan.ir.nodes import Scan, Stream
from sqlwin.plan.properties.facts import join_of, untimed_streams
from sqlwin.plan.properties.processing_time import is_clock
from sqlwin.plan.properties.times import delay_in
from sqlwin.schema import TIMESTAMP, type_name
from sqlwin.sql.relations.relation import Relation

JOIN_TIME = "join time"
"""A column of a derived stream, and none of its relation: the query above does not see it."""
INSTANT = "instant of change"
"""Likewise, of an RSTREAM."""


def with_event_time(relation: Relation, name: str, span: Span) -> Relation:
    """The relation with `name`, one of its columns, as event time. QueryError if it cannot be."""
    stream = relation.stream
    assert stream is not None
    expr = relation.expression(name)
    if isinstance(expr, exp.Column) and is_clock(stream, expr.name):
        return replace(relation, base=Scan(timed_as_clock(stream, expr.name)))
    if stream.of and isinstance(expr, exp.Column):
        return replace(relation, base=Scan(_retimed(stream, expr.name, span)))
    if stream.ts is not None and not (isinstance(expr, exp.Column) and expr.name == stream.ts):
        message = f"{name} is not the event time of {stream.name}"
        raise QueryError(message, span, legal=_spelled(relation, stream.ts))
    if not isinstance(expr, exp.Column):
        raise QueryError(f"{name} is computed; event time is a column of the stream", span)
    type_ = next(c.type for c in stream.schema if c.name == expr.name)
    if type_ != TIMESTAMP:
        from sqlwin.sql.relations.as_time import as_time

        message = f"event time must be TIMESTAMP, {name} is {type_name(type_)}"
        made = as_time(expr.name, type_, [c.name for c in stream.schema])
        legal = f"a computed column: {made[1]}" if made else "a column of TIMESTAMP"
        raise QueryError(message, span, legal=legal)
    undeclared = stream.undeclared or stream.ts is None
    return replace(relation, base=Scan(replace(stream, ts=expr.name, undeclared=undeclared)))


def timed_as_clock(stream: Stream, name: str) -> Stream:
    """A declared stream by a column of processing time."""
    return replace(stream, ts=name, delay=0, undeclared=False)


def _retimed(stream: Stream, name: str, span: Span) -> Stream:
    """A derived stream by another of its event times."""
    behind = delay_in(stream, name)
    type_ = next(column.type for column in stream.columns if column.name == name)
    if behind is not None and type_ == TIMESTAMP:
        return replace(stream, ts=name, delay=behind)
    timed = candidates(stream)
    message = f"{name} is no event time of {stream.name}"
    if not timed:
        message = f"{message}, which carries none"
    raise QueryError(message, span, legal=", ".join(timed) or _lacking(stream))


def candidates(stream: Stream) -> list[str]:
    """The columns of a derived stream that may be named as its event time."""
    names = [c.name for c in stream.columns if c.name.rstrip("_") not in (JOIN_TIME, INSTANT)]
    return [name for name in names if delay_in(stream, name) is not None]


def _lacking(derived: Stream) -> str:
    """What would give it an event time."""
    untimed = [s.name for plan in derived.of for s in untimed_streams(plan)]
    if untimed:
        return f"a WATERMARK in CREATE STREAM {', '.join(dict.fromkeys(untimed))}"
    if any(join_of(plan) is not None for plan in derived.of):
        return "bounds of both event times in its join, or a RETAIN"
    return "window_time, window_end or the event-time column in its SELECT"


def _spelled(relation: Relation, ts: str) -> str:
    """What the stream's event time is called here."""
    called = [
        n for n, expr, _ in relation.columns if isinstance(expr, exp.Column) and expr.name == ts
    ]
    return called[0] if called else ts
