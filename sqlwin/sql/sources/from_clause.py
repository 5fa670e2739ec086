"""FROM: which relation, with which window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import Scan, StaticScan, Stream
from sqlwin.plan.options.tuning import RELOAD
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.scalars import Expr, conjoined, parsed
from sqlwin.sql.relations.relation import Relation, nearest
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.sources.derived import derived, entitled
from sqlwin.sql.sources.event_time import timed, window_order
from sqlwin.sql.sources.known import Bind, Known
from sqlwin.sql.sources.unions import united
from sqlwin.sql.text import ast
from sqlwin.sql.windows.calls import of_table, zoned
from sqlwin.sql.windows.ksql import of_ksql
from sqlwin.sql.windows.window import Window, of_spec
from sqlwin.sql.windows.window_functions import table_functions


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
        window = replace(window, ts=window_order(spec) or window.ts)
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


def narrowed(relation: Relation, where: ast.Run | None, place: str) -> Relation:
    """The relation with WHERE. place: what messages call it."""
    if where is None:
        return relation
    tree = filtering(relation, where, place)
    both = conjoined(relation.predicate, relation.below(tree, where))
    made = replace(relation, predicate=both, predicate_run=where)
    opened = relation.opened
    return made if opened is None else opened.filtered(relation, made, tree, where)


def filtering(relation: Relation, where: ast.Run, place: str) -> Expr:
    tree = parsed(where)
    refuse_calls(tree, where, place)
    return Scope(relation).resolved(tree, where)
