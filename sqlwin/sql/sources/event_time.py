"""The event time that a window goes by: what it orders by, or else the stream's own.

Invariant: a window in ROWS by arrival has none, for its messages are counted as they come, within a
source partition or a key; every other window has one, or the query is refused.
"""

from __future__ import annotations

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import Stream
from sqlwin.sql.relations.event_times import with_event_time
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.sources.files import no_time
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window


def window_order(spec: ast.Spec | ast.KsqlWindow) -> ast.Name | None:
    """The column of ORDER BY, which must be one plain column, ascending."""
    return event_time(spec.order) if isinstance(spec, ast.Spec) and spec.order else None


def event_time(order: tuple[ast.Run, ...]) -> ast.Name:
    text = order[0].original.split()
    plain = [text[0], *(word.upper() for word in text[1:])]
    if len(order) > 1 or plain[1:] not in ([], ["ASC"]):
        message = "a window is ordered by the event-time column alone, ascending"
        raise QueryError(message, order[-1 if len(order) > 1 else 0].span, legal="ORDER BY ts")
    return ast.Name(text[0].replace("`", ""), order[0].span)


def timed(relation: Relation, window: Window) -> Relation:
    """The relation with the event time that the window needs and names."""
    if window.counts:
        return _numbered(relation, window)
    if window.ts is not None:
        return ordered(relation, window.ts)
    stream = relation.stream
    timeless = stream is not None and (bool(stream.of) or stream.ts is None)
    return relation if window.bare and timeless else stream_time(relation, window.span)


def _numbered(relation: Relation, window: Window) -> Relation:
    """Messages are numbered where they have an order: within one source partition, or a key.

    A session counts those of other keys too. Rows of a result are in that of their event time.
    """
    stream = relation.stream
    assert stream is not None
    if stream.of:
        timed = relation if window.ts is None else ordered(relation, window.ts)
        return stream_time(timed, window.span)
    if window.ts is not None:
        what = "stream window" if window.session is None else "session"
        message = f"a {what} in ROWS counts messages as they come; it has no ORDER BY"
        legal = "ROWS 5 PRECEDING, SESSION 100 ROWS GAP, without ORDER BY"
        raise QueryError(message, window.ts.span, legal=legal)
    several = _partitions(stream)
    if several and (window.session is not None or not window.partition):
        message = (
            f"{stream.name} has {several}, and their messages have no order "
            "between them in which to be counted"
        )
        legal = "PARTITION BY a key, or a window in RANGE"
        if window.session is not None:
            legal = "a gap of time: SESSION INTERVAL '30' MINUTE GAP"
        if "partitions" not in dict(stream.options):
            legal += "; partitions = 1, if the topic has one"
        raise QueryError(message, window.span, legal=legal)
    return relation


def _partitions(stream: Stream) -> str:
    """How many its source has, in words; empty where it is one."""
    options = dict(stream.options)
    if "partitions" not in options and "servers" in options:
        return "the partitions of a topic"
    count = options.get("partitions", "1")
    return f"{count} partitions" if int(count) > 1 else ""


def ordered(relation: Relation, ts: ast.Name) -> Relation:
    scope = Scope(relation)
    run = ast.Run(ts.text, ts.text, ts.span)
    tree = scope.resolved(scope.dotted(ts.text), run)
    if not isinstance(tree, exp.Column):
        message = f"{ts.text} is a field of a struct, and event time is a column"
        raise QueryError(message, ts.span, legal="a computed column: at AS s.ts")
    return with_event_time(relation, tree.name, ts.span)


def stream_time(relation: Relation, span: Span) -> Relation:
    stream = relation.stream
    if stream is not None and stream.ts is None and stream.inferred:
        raise no_time(stream, span)
    if stream is None or stream.ts is None:
        name = stream.name if stream else "this relation"
        message = f"{name} has no event-time column"
        raise QueryError(
            message, span, legal="WATERMARK FOR ts AS ts, or ORDER BY ts in the window"
        )
    return relation
