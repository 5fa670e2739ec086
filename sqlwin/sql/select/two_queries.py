"""A query that means two, one in the other's FROM: DISTINCT, and OVER above groups or windows.

Invariant: the query around has the policies, for its rows are the results; the one in FROM is bound
once, however many ask what its columns are.
"""

from __future__ import annotations

from dataclasses import replace

from sqlwin.errors import Span
from sqlwin.sql.select.ctes import with_ctes
from sqlwin.sql.select.inputs import above_rows
from sqlwin.sql.sources.from_clause import bound_below
from sqlwin.sql.sources.known import Bind, Known
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import quoted
from sqlwin.sql.windows.policies import passing


def two_queries(select: ast.Select, known: Known, bind: Bind) -> ast.Select | None:
    """The same as two queries, one in the other's FROM, where it means two."""
    if select.distinct is not None:
        return _once(select, select.distinct, known, bind)
    return _under_over(select, known, bind) if _has_over(select) else None


def _has_over(select: ast.Select) -> bool:
    return select.qualify is not None or any(run.overs for run in select.items)


def _under_over(select: ast.Select, known: Known, bind: Bind) -> ast.Select | None:
    """Groups, or rows of windows, as a query of their own below OVER."""
    from sqlwin.sql.select.over.groups import over_groups
    from sqlwin.sql.select.over.rows import over_rows

    groups = over_groups(
        select, lambda groups: bound_below(groups, with_ctes(select, known, bind), bind)
    )
    return groups or over_rows(select)


def _once(select: ast.Select, span: Span, known: Known, bind: Bind) -> ast.Select:
    """Each row of a query once: its rows, grouped by all their columns."""
    rows = select.relation.joins and not above_rows(select)
    below = passing(select.policies) if rows else ast.Policies()
    inner = replace(select, distinct=None, policies=replace(below, retain_rows=None), ctes=())
    columns = bound_below(inner, with_ctes(select, known, bind), bind).columns
    named = tuple(quoted(name, span) for name, _, _ in columns)
    return ast.Select(
        named,  # and not *, which has the window's columns, too
        ast.From(inner),
        select.span,
        group=named,
        policies=select.policies,
        ctes=select.ctes,
        ttl=select.ttl,
        instants=select.instants,
    )
