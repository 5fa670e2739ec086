"""RSTREAM goes into what FROM reads: queries, views, and the windows of a join that are queries."""

from __future__ import annotations

from dataclasses import replace

from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.select.groups.grouping import bare_calls
from sqlwin.sql.sources.known import Known
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import of_spec


def inner(select: ast.Select, known: Known) -> tuple[ast.Select, Known]:
    """What a query of one relation reads, taken at each instant, too."""
    source, word = select.relation.source, select.instants
    if word is not None and select.relation.joins:
        return replace(select, relation=_hoisted(select.relation)), known
    if word is None or select.relation.window is not None:
        return select, known
    if isinstance(source, ast.Select) and source.change is None:
        below = replace(source, instants=word)
        return replace(select, relation=replace(select.relation, source=below)), known
    view = known.views.get(source.text.lower()) if isinstance(source, ast.Name) else None
    if view is not None and view.select.change is None and isinstance(source, ast.Name):
        known = known.inner()
        below = replace(view.select, instants=word)
        known.views[source.text.lower()] = replace(view, select=below, made={})
    return select, known


def _hoisted(source: ast.From) -> ast.From:
    """Of inputs of a join: the rows of a window, as a query in FROM, are a window of rows."""
    joins = tuple(replace(join, right=_hoisted(join.right)) for join in source.joins)
    source, below = replace(source, joins=joins), source.source
    if not isinstance(below, ast.Select) or source.window is not None or not _bare(below):
        return source
    window = below.relation.window
    assert isinstance(window, ast.Spec)
    counted = of_spec(window).counts or window.partition
    if counted and (below.where is not None or [run.text for run in below.items] != ["*"]):
        return source  # WHERE is over the last rows, and these are not the last of what it leaves
    rows = replace(below, relation=replace(below.relation, window=None))
    return replace(source, source=rows, window=window)


def _bare(select: ast.Select) -> bool:
    """Whether it is no more than the rows of a window."""
    window, more = select.relation.window, (select.having, select.qualify, select.change)
    if not isinstance(window, ast.Spec) or window.session is not None or window.frame is None:
        return False
    if select.relation.joins or select.group or select.distinct is not None or any(more):
        return False
    calls = (call for run in select.items for call in bare_calls(parsed(run), run))
    overs = any(run.overs for run in select.items)
    return not overs and select.policies == ast.Policies() and next(calls, None) is None
