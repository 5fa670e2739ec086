"""FROM: which relation, with which window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.plan.nodes import Sink, Stream
from sqlwin.sql import ast, windows
from sqlwin.sql.relation import Relation, nearest, of_stream, with_event_time
from sqlwin.sql.scope import Scope
from sqlwin.sql.windows import Window

Bind = Callable[[ast.Select, "Known"], Relation]
_LABELS = {"data": 0, "timecol": 1, "step": 2, "slide": 2, "gap": 2, "size": 3, "offset": 4}


@dataclass
class Known:
    """What a query may name; keys in lower case. tables: static ones, declared only."""

    streams: dict[str, Stream] = field(default_factory=dict)
    views: dict[str, Relation] = field(default_factory=dict)
    sinks: dict[str, Sink] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)

    def names(self) -> list[str]:
        return [*(stream.name for stream in self.streams.values()), *self.views]

    def relation(self, name: ast.Name) -> Relation:
        key = name.text.lower()
        if key in self.views:
            return self.views[key].called(name.text)
        if key in self.streams:
            return of_stream(self.streams[key]).called(name.text)
        legal = ", ".join(self.names()) or "CREATE STREAM … first"
        if key in self.tables:
            message = f"{name.text} is a static table, and reading one is not supported yet"
            raise QueryError(message, name.span, legal="WATERMARK FOR ts AS ts makes it a stream")
        if key in self.sinks:
            raise QueryError(f"{name.text} is a sink and cannot be read", name.span, legal=legal)
        message = f"no stream or view is called {name.text}{nearest(name.text, self.names())}"
        raise QueryError(message, name.span, legal=legal)

    def inner(self) -> Known:
        return replace(self, views=dict(self.views))


def bind_from(source: ast.From, known: Known, bind: Bind) -> tuple[Relation, Window | None]:
    if source.join is not None:
        raise QueryError("a join is not supported yet", source.join, legal="one stream in FROM")
    relation, window = _source(source, known, bind)
    if source.alias is not None:
        relation = relation.called(source.alias.text)
    if source.window is not None:
        if window is not None:
            raise QueryError("this relation has a window already", source.window.span, legal="one")
        spec = source.window
        window = windows.of_spec(spec) if isinstance(spec, ast.Spec) else windows.of_ksql(spec)
        window = replace(window, ts=_order(spec) or window.ts)
    return (timed(relation, window), window) if window is not None else (relation, None)


def _source(source: ast.From, known: Known, bind: Bind) -> tuple[Relation, Window | None]:
    value = source.source
    if isinstance(value, ast.Call):
        return _table_function(value, known, bind)
    return _relation(value, known, bind), None


def _relation(value: ast.Name | ast.Select, known: Known, bind: Bind) -> Relation:
    if isinstance(value, ast.Name):
        return known.relation(value)
    return bind(value, known.inner()).called()


def _table_function(call: ast.Call, known: Known, bind: Bind) -> tuple[Relation, Window]:
    if not windows.is_window_function(call.function.text) or call.function.text.lower() == "window":
        legal = "TUMBLE, HOP"
        message = f"no table function is called {call.function.text}"
        near = nearest(call.function.text, ["TUMBLE", "HOP"])
        raise QueryError(message + near, call.function.span, legal=legal)
    arguments = _in_order(call.arguments)
    first, *rest = arguments
    if first.partitioned and call.function.text.lower() in ("tumble", "hop"):
        raise windows.refused("PARTITION BY of a window function's table", first.span, "GROUP BY")
    window = windows.of_call(call, tuple(rest))
    if isinstance(first.value, ast.Duration):
        message = f"{call.function.text.upper()} begins with the stream"
        raise QueryError(message, first.span, legal=f"{call.function.text.upper()}(TABLE orders, …")
    return _relation(first.value, known, bind), window


def _in_order(arguments: tuple[ast.Argument, ...]) -> tuple[ast.Argument, ...]:
    """By label, as in Flink's `SIZE => INTERVAL '10' MINUTE`."""
    seen: set[str] = set()
    for argument in arguments:
        if argument.label is not None and argument.label.lower() not in _LABELS:
            message = f"no argument is called {argument.label}"
            raise QueryError(message, argument.span, legal=", ".join(_LABELS).upper())
        if argument.label and argument.label.lower() in seen:
            message = f"the argument {argument.label.upper()} is given twice"
            raise QueryError(message, argument.span, legal="once")
        seen.add((argument.label or "").lower())
    if not all(argument.label for argument in arguments):
        return arguments
    return tuple(sorted(arguments, key=lambda a: _LABELS[(a.label or "").lower()]))


def _order(spec: ast.Spec | ast.KsqlWindow) -> ast.Name | None:
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
    refuse_chained(relation, window.span)
    if window.counts:
        return relation
    if window.ts is not None:
        return ordered(relation, window.ts)
    return stream_time(relation, window.span)


def ordered(relation: Relation, ts: ast.Name) -> Relation:
    scope = Scope(relation)
    run = ast.Run(ts.text, ts.text, ts.span)
    tree = scope.resolved(exp.column(*reversed(ts.text.split("."))), run)
    return with_event_time(relation, tree.name, ts.span)


def stream_time(relation: Relation, span: Span) -> Relation:
    stream = relation.stream
    if stream is None or stream.ts is None:
        name = stream.name if stream else "this relation"
        message = f"{name} has no event-time column"
        raise QueryError(
            message, span, legal="WATERMARK FOR ts AS ts, or ORDER BY ts in the window"
        )
    return relation


def refuse_chained(relation: Relation, span: Span) -> None:
    if relation.stream is None:
        message = "a window over the result of a window is not supported yet"
        raise QueryError(message, span, legal="one window a query; filters and columns above it")
