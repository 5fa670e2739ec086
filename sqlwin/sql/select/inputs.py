"""What FROM gives a query, and which of the query's clauses and policies are of what stands there.

Invariant: a policy is taken once: by the join, or MATCH_RECOGNIZE, in FROM, whose rows are the
results; or by the window above them, and then what is below gets RETAIN alone.
"""

from __future__ import annotations

from dataclasses import replace

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.relations.relation import Lengths, Relation
from sqlwin.sql.select.groups.grouping import bare_calls
from sqlwin.sql.sources.derived import derived
from sqlwin.sql.sources.event_time import timed
from sqlwin.sql.sources.from_clause import bind_from, of_rows
from sqlwin.sql.sources.known import Bind, Known
from sqlwin.sql.text import ast
from sqlwin.sql.windows.calls import zoned
from sqlwin.sql.windows.ksql import of_ksql
from sqlwin.sql.windows.policies import passing
from sqlwin.sql.windows.window import Window


def taken_in(
    select: ast.Select, relation: Relation, ttl: Lengths | None
) -> tuple[Relation, ast.Select]:
    """Without what a join, or MATCH_RECOGNIZE, in FROM has taken in."""
    policies = select.policies if above_rows(select) else ast.Policies()
    if select.relation.joins:
        return replace(relation, ttl=ttl), replace(select, where=None, policies=policies)
    if select.relation.match is not None:
        return relation, replace(select, policies=policies)
    return relation, select


def input_of(select: ast.Select, known: Known, bind: Bind) -> tuple[Relation, Window | None]:
    """A join has taken in WHERE and the policies, too; where a window is over it, RETAIN alone."""
    if select.relation.joins:
        from sqlwin.sql.joins.relation import joined  # by need: most queries join nothing

        if above_rows(select):
            below = replace(passing(select.policies), retain_rows=None)  # n rows of a group
            select = replace(select, policies=below)
        rows, above = joined(select, known, bind), select.relation.above
        if above is None:
            return rows, None
        over = zoned(of_ksql(above), known.zone)
        return timed(derived(rows, known), over), over
    if select.relation.match is not None:
        from sqlwin.sql.matches.relation import matched  # by need

        given = passing(select.policies) if above_rows(select) else select.policies
        return matched(select.relation, given, known, bind), None
    found, window = bind_from(select.relation, known, bind)
    if select.relation.timed is not None:
        from sqlwin.sql.syntax.subqueries.correlated import refuse_untimed  # by need

        refuse_untimed(found.schema(), *select.relation.timed)
    if above_rows(select) or select.policies.span is not None:
        found = of_rows(found, select.relation.source.span)
    return found, window


def above_rows(select: ast.Select) -> bool:
    """Whether the query does more with rows than to take them as they come."""
    clauses = (select.having, select.qualify, select.relation.above)
    if select.group or any(clause is not None for clause in clauses):
        return True
    return any(run.overs or any(bare_calls(parsed(run), run)) for run in select.items)


def inward(select: ast.Select) -> ast.Select:
    """The query with its policies moved to the one in FROM, which has the window."""
    inner, span = select.relation.source, select.policies.span
    if not isinstance(inner, ast.Select):
        message = "the window stands in a query that has a name; its policies stand there too"
        raise QueryError(message, span, legal="EMIT and RETAIN beside the window")
    if inner.policies.span is not None:
        message = "the query in FROM, which has the window, has policies of its own"
        raise QueryError(message, span, legal="EMIT and RETAIN once")
    moved = replace(inner, policies=select.policies)
    source = replace(select.relation, source=moved)
    return replace(select, relation=source, policies=ast.Policies())
