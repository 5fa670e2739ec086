"""RSTREAM: the whole relation, at each instant at which a row of it enters or leaves.

What FROM reads is taken at each such instant: the rows of a window, the pairs of a join of
windows, or a query over these. The rest of the query is then over the rows of one instant, so
aggregates are those of `[NOW]` over the rows at each instant, by the instant as event time.

    RSTREAM(SELECT k, COUNT(*) FROM s [RANGE r] GROUP BY k)
        is  SELECT k, COUNT(*) FROM (RSTREAM(SELECT * FROM s [RANGE r])) [NOW] GROUP BY k
"""

from __future__ import annotations

from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import (
    Join,
    Node,
    OverAggregate,
    Project,
    Scan,
    StaticScan,
    WindowAggregate,
    WindowedRelation,
    column_of,
)
from sqlwin.plan.properties.facts import streams_of
from sqlwin.policies import Late, Policy
from sqlwin.sql.expressions.scalars import column
from sqlwin.sql.relations.event_times import INSTANT
from sqlwin.sql.relations.relation import NOWHERE, Relation
from sqlwin.sql.select.pairs import BOUNDED, NOW, pairs, rows_at_instants, unbounded
from sqlwin.sql.sources.derived import result, timed_as
from sqlwin.sql.sources.known import Known
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window, of_spec, whole
from sqlwin.windows import Unit
from sqlwin.windows.group import CalendarWindow, Hop, Whole

END = "window_end"
OF_SLIDES = "ISTREAM of them, or RSTREAM of [RANGE r SLIDE s], at each slide the window of it"


def at_instants(
    select: ast.Select,
    relation: Relation,
    window: Window | None,
    known: Known,
    word: ast.Name,
    grouped: bool,
) -> tuple[ast.Select, Relation, Window | None]:
    """What FROM reads, at each instant of change. grouped: whether more is done with its rows."""
    if at_slides(select):
        return select, relation, window
    if select.relation.joins:
        relation = pairs(select.relation, relation, known, word.span)
    elif window is not None:
        kept, rest = _policies(select.policies) if grouped else (select.policies, ast.Policies())
        relation = _rows(relation, window, kept, word.span)
        select = replace(select, policies=rest)
    node = relation.base
    if not isinstance(node, WindowedRelation):
        of_several = grouped and isinstance(node, Scan)
        if of_several or not _made_of_instants(relation):
            raise unbounded(word.span)
        if not grouped:
            return select, relation, None
        if isinstance(node, WindowAggregate) and node.at_once:
            return select, _by_message(relation, node.keys[0], known), whole(word.span)
        return select, _by_instant(relation, known), Window(word.span, frame=NOW)
    if not grouped:
        return select, relation, None
    if not node.timed:
        name = relation.free(INSTANT)
        base = replace(node, instant=name)
        return select, _by_message(replace(relation, base=base), name, known), whole(word.span)
    return select, result(relation, known), Window(word.span, frame=NOW)


def _by_instant(relation: Relation, known: Known) -> Relation:
    """The results of a query over the rows at each instant, by the instant."""
    name = relation.free(INSTANT)
    made = result(
        replace(relation, columns=(*relation.columns, (name, column(END), NOWHERE))), known
    )
    assert isinstance(made.base, Scan)
    shown = made.columns[: len(relation.columns)]
    return replace(made, base=Scan(timed_as(made.base.stream, name)), columns=shown)


def _by_message(relation: Relation, instant: str, known: Known) -> Relation:
    """Rows at each message, with the message."""
    name = relation.free(INSTANT)
    more = (name, column(instant), NOWHERE)
    made = result(replace(relation, columns=(*relation.columns, more)), known)
    return replace(made, columns=made.columns[: len(relation.columns)])


def of_messages(bound: Relation, select: ast.Select) -> Relation:
    """A query over rows at each message, by message: they come together."""
    base, word = bound.base, select.instants
    assert word is not None
    if not isinstance(base, WindowAggregate) or not isinstance(base.window, Whole) or base.sets:
        message = "GROUPING SETS and ranks of RSTREAM over the last rows"
        raise QueryError(message, word.span, legal="GROUP BY; RSTREAM of them over [RANGE r]")
    if replace(select.policies, span=None) != ast.Policies():
        message = "each message is an instant, and what is there goes out as it comes"
        raise QueryError(message, select.policies.span, legal="no EMIT, no RETAIN")
    (stream,) = streams_of(base)
    instant = next(c for c in reversed(stream.columns) if c.name.rstrip("_") == INSTANT)
    assert isinstance(base.input, Project)
    columns = (*base.input.columns, (instant.name, column_of(instant)))
    below = replace(base.input, columns=columns)
    keys, policy = (instant.name, *base.keys), Policy(0, late=Late.NEVER)
    made = replace(base, input=below, keys=keys, policy=policy, at_once=True)
    return replace(bound, base=made)


def at_slides(select: ast.Select) -> bool:
    """Whether what a query inserts is its relation at each instant: of [NOW], or at each slide."""
    given = select.relation.window
    if select.relation.joins or not isinstance(given, ast.Spec):
        return False
    window = of_spec(given)
    if window.session is not None or window.length is None:
        return False
    return window.frame is None or (not window.counts and window.frame.preceding == 0)


def _made_of_instants(relation: Relation) -> bool:
    """Whether it is of a query that was over the rows at each instant."""
    node: Node = relation.filtered()
    while not isinstance(node, Scan | StaticScan | Join):
        if _instants(node):
            return True
        node = node.input
    return isinstance(node, Scan) and _at_changes(node)


def _instants(node: Node) -> bool:
    """Whether it gives the rows at each instant of change, or a result at each slide."""
    if isinstance(node, WindowAggregate):
        if node.at_once:
            return True
        return isinstance(node.window, Hop | CalendarWindow) and node.window.unit is Unit.RANGE
    per_instant = isinstance(node, OverAggregate) and node.per_instant
    return per_instant or (isinstance(node, WindowedRelation) and node.instants)


def _at_changes(plan: Node) -> bool:
    """Whether a plan is of instants, or over the rows of each."""
    if isinstance(plan, Scan):
        return plan.stream.change is None and any(map(_at_changes, plan.stream.of))
    if _instants(plan):
        return True
    return not isinstance(plan, StaticScan | Join) and _at_changes(plan.input)


# --- one window -----------------------------------------------------------------------


def _rows(relation: Relation, window: Window, policies: ast.Policies, span: Span) -> Relation:
    if window.session is not None:
        message = "RSTREAM of sessions: a late row moves the end of one, and so instants of change"
        raise QueryError(message, span, legal=BOUNDED)
    if window.frame is None:
        message = "RSTREAM of windows: the result of each stays in the relation for ever"
        raise QueryError(message, span, legal=OF_SLIDES)
    if window.frame.preceding is None:
        raise unbounded(span)
    return rows_at_instants(relation, window, policies, span)


def _policies(given: ast.Policies) -> tuple[ast.Policies, ast.Policies]:
    """How long rows are kept, which the window says; when aggregates of them are emitted."""
    rest = replace(given, retain=None, expired=None)
    emits = replace(rest, span=None) != ast.Policies()
    kept = ast.Policies(retain=given.retain, expired=given.expired, span=given.span)
    return kept, rest if emits else ast.Policies()
