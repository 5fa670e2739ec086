"""Pipe operators, each from the query before it to the query with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.sql.syntax.clauses import Clause
from sqlwin.sql.syntax.pipes.calls import (
    generates,
    is_expression,
    is_star,
    name_of,
    refuse_aggregates,
    refuse_grouped,
    unnamed,
)
from sqlwin.sql.syntax.pipes.flow import Flow, all_of, called
from sqlwin.sql.syntax.pivots import Lengthened, Turned
from sqlwin.sql.syntax.set_operations import Operator, combined
from sqlwin.sql.syntax.unnests import joined
from sqlwin.sql.text import ast

Windows = tuple[tuple[ast.Name, ast.Spec], ...]
FIRST = "|> ORDER BY qty DESC |> LIMIT 10"


def where(flow: Flow, condition: ast.Run) -> Flow:
    refuse_grouped(condition)
    overs = any(run.overs for run in flow.select.items)
    fitting = flow.fitting(condition)
    if not flow.open or overs or _first_rows(flow) or fitting is None:
        flow, fitting = flow.around(condition.span), (condition,)
    return replace(flow, wheres=(*flow.wheres, *fitting))


def selected(
    flow: Flow, items: tuple[ast.Run, ...], distinct: Clause | None, windows: Windows, span: Span
) -> Flow:
    refuse_aggregates(items, "SELECT")
    fitting = columns(flow, items)
    if fitting is None:
        flow = flow.around(span)
    select = replace(flow.select, items=fitting or items, windows=windows, span=span)
    if distinct is not None and distinct.value:
        select = replace(select, distinct_on=distinct.value)
    elif distinct is not None:
        select = replace(select, distinct=distinct.span)
    return replace(flow, select=select, open=False, name=None)


def extended(flow: Flow, items: tuple[ast.Run, ...], windows: Windows, span: Span) -> Flow:
    refuse_aggregates(items, "EXTEND")
    for item in (run for run in items if run.text.strip() == "*"):
        message = "EXTEND adds columns to those that there are, which are * already"
        raise QueryError(message, item.span, legal="EXTEND value * 2 AS doubled")
    made = (*items, *(flow.select.items if flow.open else ()))
    several = any(map(is_star, items)) or any(map(generates, made))
    named = bool(windows) and bool(flow.select.windows)
    fitting = None if _first_rows(flow) or not flow.open else flow.fitting(*items)
    if fitting is None or (flow.touched and (several or named)):
        flow, fitting = flow.around(span), items
    select = flow.select
    select = replace(select, items=(*select.items, *fitting), windows=(*select.windows, *windows))
    touched = flow.touched | {name_of(run) for run in items}
    pairs = zip(items, fitting, strict=True)
    added = ((name_of(run), unnamed(run, made)) for run, made in pairs if is_expression(run))
    return replace(flow, select=select, touched=touched, added=(*flow.added, *added))


def columns(flow: Flow, runs: tuple[ast.Run, ...]) -> tuple[ast.Run, ...] | None:
    """As items of a SELECT in the place of the flow's own; None where they are of a query around
    it. One that is a column of EXTEND is what EXTEND says."""
    if flow.plain:
        return runs
    apart = any(map(is_star, runs)) or any(run.overs for run in flow.select.items)
    fitting = None if apart or not flow.open or _first_rows(flow) else flow.fitting(*runs)
    if fitting is None or not flow.select.relation.joins or len(flow.added) < len(flow.touched):
        return None
    known = {name_of(run): run for run in flow.select.items if not is_star(run)}
    return tuple(known.get(run.text.strip("`").lower(), run) for run in fitting)


def distinct(flow: Flow, clause: Clause) -> Flow:
    if clause.value:
        message = "DISTINCT ON stands behind SELECT"
        raise QueryError(message, clause.span, legal="|> SELECT DISTINCT ON (k) k, v |> ORDER BY …")
    flow = flow if flow.plain else flow.around(clause.span)
    select = replace(flow.select, distinct=clause.span)
    return replace(flow, select=select, open=False)


def named(flow: Flow, name: ast.Name) -> Flow:
    if flow.single:
        relation = replace(flow.select.relation, alias=name)
        return replace(flow, select=replace(flow.select, relation=relation), name=name)
    return replace(flow, name=name).around(name.span)


def joined_to(flow: Flow, other: ast.Join | ast.Unnest, span: Span) -> Flow:
    """A condition before a join that keeps each row is as good behind it, where bounds of time are
    found beside those of ON."""
    relation = flow.select.relation
    apart = isinstance(relation.source, ast.WindowCall) or relation.window is not None
    keeps = isinstance(other, ast.Unnest) or not _pads_left(other)
    together = not flow.wheres or (keeps and (apart or relation.joins or relation.unnests))
    if not flow.plain or not together or relation.match is not None or relation.above is not None:
        flow = flow.around(span)
    first, joins = joined([flow.select.relation, other])
    relation = replace(first, joins=joins)
    return replace(flow, select=replace(flow.select, relation=relation), name=called(relation))


def _pads_left(join: ast.Join) -> bool:
    return any(kind in join.word.text for kind in ("RIGHT", "FULL", "NATURAL"))


def turned(flow: Flow, pivot: Turned | Lengthened, alias: ast.Name | None, span: Span) -> Flow:
    flow = flow if flow.single else flow.around(span)
    source = ast.From(pivot.of(flow.select.relation), alias=alias)
    return replace(flow, select=all_of(source, span), name=alias)


def matched(flow: Flow, match: ast.MatchRecognize, alias: ast.Name | None, span: Span) -> Flow:
    flow = flow if flow.single else flow.around(span)
    relation = flow.select.relation
    source = replace(relation, match=match, alias=alias or relation.alias)
    return replace(flow, select=all_of(source, span), name=alias)


def beside(flow: Flow, operator: Operator, queries: Sequence[ast.Select]) -> Flow:
    """A UNION and the like with each of the queries in turn."""
    made = combined([flow.query(), *queries], [operator] * len(queries))
    return replace(flow, select=made, open=False, name=None, touched=frozenset(), wheres=())


# --- the first rows -----------------------------------------------------------------------


def ordered(flow: Flow, keys: tuple[ast.Run, ...]) -> Flow:
    on = flow.select.distinct_on and not flow.select.order
    flow = flow if flow.plain or on else flow.around(keys[0].span)
    return replace(flow, select=replace(flow.select, order=keys))


def limited(flow: Flow, bound: ast.Limit) -> Flow:
    """QueryError where no ORDER BY says which rows are the first."""
    before = flow.select.limit
    if not flow.select.order:
        message = "LIMIT without ORDER BY would keep whichever rows come first"
        raise QueryError(message, bound.span, legal=FIRST)
    if before is None:
        return replace(flow, select=replace(flow.select, limit=bound))
    if before.ties or bound.ties:
        message = "a LIMIT beside WITH TIES is not supported yet"
        raise QueryError(message, bound.span, legal="either of them")
    skipped = before.first - 1
    ends = [before.last, None if bound.last is None else skipped + bound.last]
    last = min((end for end in ends if end is not None), default=None)
    made = replace(bound, first=skipped + bound.first, last=last)
    return replace(flow, select=replace(flow.select, limit=made))


def _first_rows(flow: Flow) -> bool:
    select = flow.select
    return bool(select.order) or select.limit is not None or select.distinct is not None
