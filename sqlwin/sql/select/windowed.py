"""A window of a stream by itself, without an aggregate: a relation, as in CQL.

    SELECT * FROM orders [RANGE 2 SECONDS] WHERE value > 1

Its rows enter and leave as time passes; WHERE and the select list are over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlwin.errors import QueryError
from sqlwin.plan.ir.nodes import Stream, WindowedRelation
from sqlwin.plan.properties.changelog import changing, lateness, refuse_weighted
from sqlwin.policies import Policy
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.scalars import column, parsed
from sqlwin.sql.relations.below import Below
from sqlwin.sql.relations.items import Item
from sqlwin.sql.relations.relation import NOWHERE, Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.select.groups.grouping import bare_calls
from sqlwin.sql.text import ast
from sqlwin.sql.windows.policies import by_order, counted, policy
from sqlwin.sql.windows.window import Window


def by_itself(select: ast.Select, window: Window, items: Sequence[Item]) -> bool:
    """Whether the rows of the window are all that is wanted: nothing is grouped or aggregated."""
    if (
        select.group
        or select.having
        or any(item.tree.name in window.edges and not item.starred for item in items)
    ):
        return False
    return not any(True for item in items for _ in bare_calls(item.tree, item.run))


def over_relation(select: ast.Select) -> ast.Select:
    """EMIT CHANGES AS RELATION: the query over the rows of its window, which enter and leave."""
    given, source = select.policies, select.relation
    if source.joins or not isinstance(source.window, ast.Spec) or source.window.frame is None:
        message = "EMIT CHANGES AS RELATION is of the rows of a window of the stream in FROM"
        raise QueryError(message, given.changes, legal="FROM s [RANGE 1 MINUTE], FROM s [ROWS 5]")
    if source.window.advance is not None:
        message = "EMIT CHANGES AS RELATION of a window that slides by itself, without ADVANCE BY"
        raise QueryError(message, given.changes, legal="FROM s [RANGE 1 MINUTE], without SLIDE")
    name = source.alias or source.source
    alias = name if isinstance(name, ast.Name) else None
    kept = ast.Policies(retain=given.retain, expired=given.expired, span=given.span)
    rows = ast.Select(
        (ast.Run("*", "*", select.span),),
        source,
        select.span,
        where=select.where,
        policies=kept if given.retain or given.expired else ast.Policies(),
    )
    changes = None if select.instants else given.changes  # their instants say when they are
    emitted = replace(given, as_relation=False, changes=changes, retain=None, expired=None)
    over = ast.From(rows, alias=alias)
    return replace(select, relation=over, where=None, policies=emitted)


def windowed(select: ast.Select, relation: Relation, window: Window) -> Relation:
    """The rows that are in the window, over those of the stream."""
    below, stream, frame = Below(relation), relation.stream, window.frame
    assert stream is not None
    assert frame is not None
    names = [(name, below.add(column(name), NOWHERE, "row")) for name, _, _ in relation.columns]
    partition = tuple(dict.fromkeys(_key(below, run) for run in window.partition))
    rules = _policy(select.policies, window, stream)
    node = WindowedRelation(below.project(), frame, partition, rules)
    if changing(node.input):
        refuse_weighted(node, window.span)
    columns = tuple((name, column(made), NOWHERE) for name, made in names)
    return replace(
        relation,
        base=node,
        columns=columns,
        predicate=None,
        predicate_run=NOWHERE,
        emits=True,
        retains=select.policies.retain is not None,
        view="",
    )


def _key(below: Below, run: ast.Run) -> str:
    tree = parsed(run)
    refuse_calls(tree, run, "PARTITION BY")
    return below.add(Scope(below.relation).resolved(tree, run), run, "key")


def _policy(given: ast.Policies, window: Window, stream: Stream) -> Policy:
    """Rows enter and leave as time passes: EMIT has nothing to say of them."""
    if any((given.early, given.late, given.on_close, given.final, given.timeout)):
        message = "rows enter and leave a window as time passes, and EMIT says nothing of when"
        raise QueryError(message, given.span, legal="EMIT CHANGES, RETAIN of a time, or neither")
    if given.retain_rows is not None:
        message = "RETAIN n ROWS of a window by itself, which keeps the rows that are in it"
        raise QueryError(message, given.retain_rows.span, legal="RETAIN 1 HOUR")
    rest = replace(given, changes=None)
    if not window.counts:
        return policy(rest, window.length, lateness(stream), window.grace)
    return by_order(rest, window.frame, lateness(stream)) if stream.of else counted(rest, True)
