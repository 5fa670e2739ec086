"""FROM: which relation, with which window."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.functions.core.session_zone import session_zone
from sqlwin.plan.ir.nodes import Scan, StaticScan, Stream
from sqlwin.plan.ir.statements import Sink
from sqlwin.plan.options.tuning import RELOAD
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.scalars import Expr, conjoined, parsed
from sqlwin.sql.relations.relation import Relation, nearest, of_stream, with_event_time
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.sources.changelogs import present
from sqlwin.sql.sources.derived import derived, entitled
from sqlwin.sql.sources.files import NamedFiles, no_time
from sqlwin.sql.sources.readers import read_below
from sqlwin.sql.sources.unions import united
from sqlwin.sql.text import ast
from sqlwin.sql.windows.calls import of_table, table_functions, zoned
from sqlwin.sql.windows.ksql import of_ksql
from sqlwin.sql.windows.window import Window, of_spec

Bind = Callable[[ast.Select, "Known"], Relation]


@dataclass(frozen=True)
class View:
    """A named query. known: what it may name itself; made: its relations, by who reads it.

    reads, depth: see `read_below`.
    """

    name: str
    select: ast.Select
    known: Known
    bind: Bind
    reads: int
    depth: int
    made: dict[tuple[object, ...], Relation] = field(default_factory=dict)

    @staticmethod
    def of(name: ast.Name, select: ast.Select, known: Known, bind: Bind) -> View:
        """QueryError where it reads more than can be bound."""
        return View(name.text, select, known.inner(), bind, *read_below(select, name, known.views))

    def relation(self, reader: Known) -> Relation:
        """As it is for a query with the settings of `reader`."""
        settings = (reader.early, reader.retain, reader.shared, reader.large, reader.zone)
        key = (*settings, session_zone(), tuple(reader.ttl.items()))
        if key not in self.made:
            known = self.known.inner()
            known.early, known.retain, known.shared = reader.early, reader.retain, reader.shared
            known.large, known.ttl, known.zone = reader.large, reader.ttl, reader.zone
            self.made[key] = self.bind(self.select, known)
        return self.made[key]


@dataclass
class Known:
    """What a query may name; keys in lower case. tables: static ones.

    large: what SET says of the windows of joins; None: nothing. ttl: what it says of state.
    early: whether a query around asks for early results. retain: the longest RETAIN of those
    around. shared: views that are read more than once, each a stage of its own, so that it
    is computed once. zone: by whose clocks windows of days go; None: UTC. bound: see `bound_below`.
    inline: see the function of this name. declared: what CREATE says of streams and tables.
    optioned: see its module.
    """

    streams: dict[str, Stream] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    sinks: dict[str, Sink] = field(default_factory=dict)
    tables: dict[str, Stream] = field(default_factory=dict)
    large: bool | None = None
    ttl: dict[str, Any] = field(default_factory=dict)
    early: bool = False
    retain: int = 0
    shared: frozenset[str] = frozenset()
    zone: str | None = None
    files: NamedFiles = field(default_factory=NamedFiles)
    inline: dict[Stream, Stream] = field(default_factory=dict)
    declared: dict[str, ast.CreateStream] = field(default_factory=dict)
    optioned: dict[Stream, Stream] = field(default_factory=dict)
    bound: dict[int, tuple[ast.Select, Relation]] = field(default_factory=dict)

    def has(self, key: str) -> bool:
        """Whether something has the name, in lower case."""
        return key in self.files.streams or any(key in kind for kind in self.kinds())

    def kinds(self) -> tuple[dict[str, Any], ...]:
        """Of what is declared, each by its name."""
        return self.streams, self.views, self.sinks, self.tables

    def names(self) -> list[str]:
        return [*(stream.name for stream in self.streams.values()), *self.views]

    def relation(self, name: ast.Name) -> Relation:
        if isinstance(name, ast.Inline):
            from sqlwin.sql.sources.inline import inline  # by need

            return of_stream(inline(name, self.inline, self.has), static=True)
        if isinstance(name, ast.File):
            return of_stream(self.files.stream(name, self.has))
        if isinstance(name, ast.Optioned):
            return self._optioned(name)
        key = name.text.lower()
        if key in self.views:
            view = replace(self.views[key].relation(self), names=(name.text,))
            view = entitled(view, name.text)
            return derived(view, self) if key in self.shared else view
        if key in self.streams:
            return of_stream(present(self.streams[key], self.ttl)).called(name.text)
        if key in self.tables:
            return of_stream(self.tables[key], static=True).called(name.text)
        legal = ", ".join(self.names()) or "CREATE STREAM … first"
        if key in self.sinks:
            raise QueryError(f"{name.text} is a sink and cannot be read", name.span, legal=legal)
        message = f"no stream or view is called {name.text}{nearest(name.text, self.names())}"
        raise QueryError(message, name.span, legal=legal)

    def _optioned(self, name: ast.Optioned) -> Relation:
        from sqlwin.sql.sources.optioned import source  # by need

        hidden = name.text.lower() in self.views
        stream, static = source(name, {} if hidden else self.declared, self.optioned, self.has)
        made = stream if static else present(stream, self.ttl)
        return of_stream(made, static).called(name.text)

    def inner(self) -> Known:
        return replace(self, views=dict(self.views))


def bind_from(source: ast.From, known: Known, bind: Bind) -> tuple[Relation, Window | None]:
    """Of one relation; joins are bound in `joins`."""
    if source.as_of is not None:
        message = "FOR SYSTEM_TIME AS OF stands behind what is joined"
        raise QueryError(message, source.as_of.span, legal="JOIN rates FOR SYSTEM_TIME AS OF o.ts")
    relation, window = _source(source, known, bind)
    if source.window is not None:
        relation = of_rows(relation, source.source.span)
    if source.alias is not None:
        relation = relation.called(source.alias.text)
        if isinstance(source.source, ast.Select):
            relation = entitled(relation, source.alias.text)
    if source.unnests:
        from sqlwin.sql.sources.unnests import unnested

        relation = unnested(of_rows(relation, source.source.span), source.unnests, known)
    if source.window is not None:
        if window is not None:
            raise QueryError("this relation has a window already", source.window.span, legal="one")
        spec = source.window
        window = of_spec(spec) if isinstance(spec, ast.Spec) else zoned(of_ksql(spec), known.zone)
        window = replace(window, ts=_order(spec) or window.ts)
    if window is None:
        return relation, None
    if source.unnests:
        from sqlwin.sql.sources.unnests import refuse_beside

        refuse_beside(window, source.unnests[0])
    return timed(derived(relation, known), window), window


def once(table: Stream) -> Stream:
    """A static table as a stream, without the interval that it is read again by."""
    options = tuple(each for each in table.options if each[0] != RELOAD)
    return replace(table, options=options, bounded=True)


def refuse_matches(sources: Iterable[ast.From]) -> None:
    """QueryError for an input of a join with MATCH_RECOGNIZE behind its name."""
    for source in sources:
        if source.match is not None:
            message = "MATCH_RECOGNIZE stands in a query of its own, which is joined"
            legal = "JOIN (SELECT * FROM orders MATCH_RECOGNIZE (…)) m ON …"
            raise QueryError(message, source.match.span, legal=legal)


def of_rows(relation: Relation, span: Span) -> Relation:
    """What is read by itself: a static table, filtered or projected, as a stream of its rows, which
    ends. It is read once, so it has no versions."""
    if not isinstance(relation.base, StaticScan):
        return relation
    return replace(relation, base=Scan(once(relation.base.stream)))


def _source(source: ast.From, known: Known, bind: Bind) -> tuple[Relation, Window | None]:
    value = source.source
    if isinstance(value, ast.WindowCall):
        return _table_function(value, known, bind)
    return read(value, known, bind), None


def read(
    value: ast.Name | ast.Select | ast.Union | ast.Pivot | ast.Unpivot, known: Known, bind: Bind
) -> Relation:
    """A PIVOT has become a query before."""
    assert not isinstance(value, ast.Pivot | ast.Unpivot)
    if isinstance(value, ast.Name):
        return known.relation(value)
    if isinstance(value, ast.Union):
        parts = [of_rows(bind(part, known), part.relation.source.span) for part in value.parts]
        return united(parts, value, known)
    before = known.bound.pop(id(value), None)
    return (bind(value, known) if before is None else before[1]).called()


def bound_below(select: ast.Select, known: Known, bind: Bind) -> Relation:
    """Of a query that is going to be in FROM, for what is around it has to know its columns. It is
    bound once: bound twice at each level, nested queries would take time without end."""
    relation = bind(select, known)
    known.bound[id(select)] = select, relation
    return relation


def _table_function(call: ast.WindowCall, known: Known, bind: Bind) -> tuple[Relation, Window]:
    function = call.function.text
    if function.upper() not in table_functions():
        message = f"no table function is called {function}"
        near = nearest(function, table_functions())
        legal = ", ".join(table_functions())
        raise QueryError(message + near, call.function.span, legal=legal)
    table, window = of_table(call)
    assert isinstance(table.value, ast.Name | ast.Select)
    return of_rows(read(table.value, known, bind), table.value.span), zoned(window, known.zone)


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


def narrowed(relation: Relation, where: ast.Run | None, place: str) -> Relation:
    """The relation with WHERE. place: what messages call it."""
    if where is None:
        return relation
    both = conjoined(relation.predicate, relation.below(filtering(relation, where, place), where))
    return replace(relation, predicate=both, predicate_run=where)


def filtering(relation: Relation, where: ast.Run, place: str) -> Expr:
    tree = parsed(where)
    refuse_calls(tree, where, place)
    return Scope(relation).resolved(tree, where)
