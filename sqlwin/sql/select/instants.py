"""RSTREAM: the whole relation, at each instant at which a row of it enters or leaves.

What FROM reads is taken at each such instant: the rows of a window, the pairs of a join of
windows, or a query over these. The rest of the query is then over the rows of one instant, so
aggregates are those of `[NOW]` over the rows at each instant, by the instant as event time.

    RSTREAM(SELECT k, COUNT(*) FROM s [RANGE r] GROUP BY k)
        is  SELECT k, COUNT(*) FROM (RSTREAM(SELECT * FROM s [RANGE r])) [NOW] GROUP BY k

A pair is there while both its rows are, from the later event time to the earlier end of their
windows; rows of a stream without a window, and of a static table, stay for ever.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import (
    Filter,
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
from sqlwin.plan.properties.facts import operator_of, streams_of
from sqlwin.policies import Late, Policy
from sqlwin.sql.expressions.scalars import Expr, column, conjoined
from sqlwin.sql.joins.relation import mirrored
from sqlwin.sql.relations.relation import INSTANT, NOWHERE, Relation
from sqlwin.sql.select.windowed import windowed
from sqlwin.sql.sources.derived import result, timed_as
from sqlwin.sql.sources.from_clause import Known
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window, of_spec, whole
from sqlwin.stays import JoinStays
from sqlwin.windows import Frame, Hop, Unit, Whole

END = "window_end"
ENTERS, LEAVES = "enters at", "leaves at"
"""Columns of pairs: since when they are there; when they have left, in microseconds."""
NOW = Frame(Unit.RANGE, 0)
OF_SLIDES = "ISTREAM of them, or RSTREAM of [RANGE r SLIDE s], at each slide the window of it"
BOUNDED = "RSTREAM of [NOW], [RANGE r], [ROWS n], and of joins of such windows"


def inner(select: ast.Select, known: Known) -> tuple[ast.Select, Known]:
    """What a query of one relation reads, taken at each instant, too."""
    source, word = select.relation.source, select.instants
    if word is None or select.relation.joins or select.relation.window is not None:
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
        relation = _pairs(select.relation, relation, known, word.span)
    elif window is not None:
        kept, rest = _policies(select.policies) if grouped else (select.policies, ast.Policies())
        relation = _rows(relation, window, kept, word.span)
        select = replace(select, policies=rest)
    node = relation.base
    if not isinstance(node, WindowedRelation):
        of_several = grouped and isinstance(node, Scan)
        if of_several or not _made_of_instants(relation):
            raise _unbounded(word.span)
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


def _unbounded(span: Span) -> QueryError:
    message = "RSTREAM of a relation without bound is all rows so far, at every instant"
    return QueryError(message, span, legal=BOUNDED)


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
        return isinstance(node.window, Hop) and node.window.unit is Unit.RANGE
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
        raise _unbounded(span)
    return rows_at_instants(relation, window, policies, span)


def _policies(given: ast.Policies) -> tuple[ast.Policies, ast.Policies]:
    """How long rows are kept, which the window says; when aggregates of them are emitted."""
    rest = replace(given, retain=None, expired=None)
    emits = replace(rest, span=None) != ast.Policies()
    kept = ast.Policies(retain=given.retain, expired=given.expired, span=given.span)
    return kept, rest if emits else ast.Policies()


def rows_at_instants(
    relation: Relation, window: Window, policies: ast.Policies, span: Span
) -> Relation:
    rows = ast.Select((), ast.From(ast.Name("", span)), span, policies=policies)
    made = windowed(rows, relation, window)
    assert isinstance(made.base, WindowedRelation)
    (stream,) = streams_of(made.base)
    partitions = dict(stream.options).get("partitions", "1")
    if int(partitions) > 1 and made.base.frame.unit is Unit.ROWS:
        message = f"{stream.name} has {partitions} partitions, whose messages have no order"
        raise QueryError(message, span, legal="RSTREAM of [RANGE r]")
    return replace(made, base=replace(made.base, instants=True))


# --- pairs ----------------------------------------------------------------------------


def _pairs(source: ast.From, relation: Relation, known: Known, span: Span) -> Relation:
    """The pairs of a join, each from when both rows are there to when the first has left."""
    if not isinstance(relation.base, Join):
        message = "RSTREAM of a window over a join"
        raise QueryError(message, span, legal=BOUNDED)
    if relation.base.stays is not None:
        return _present(relation, relation.base.stays, known, span)
    placed = mirrored(source, known)
    given = [placed, *(join.right for join in placed.joins)]
    windows = [_frame(each, span) for each in given]
    times = _times(relation.base, len(given), span)
    ends = [(name, w) for name, w in zip(times, windows, strict=True) if name and w is not None]
    if not ends:
        raise _unbounded(span)
    later = _of([column(name) for name in times if name], exp.Greatest)
    until = _of([_end(name, length) for name, length in ends], exp.Least)
    if len(given) > 2:  # each row pairs with each other, and yet they may not be there together
        together = exp.LT(this=_micros(later), expression=until)
        relation = replace(relation, predicate=conjoined(relation.predicate, together))
    enters, leaves = relation.free(ENTERS), relation.free(LEAVES)
    hidden = ((enters, later, NOWHERE), (leaves, until, NOWHERE))
    made = result(replace(relation, columns=(*relation.columns, *hidden)), known)
    assert isinstance(made.base, Scan)
    stream = timed_as(made.base.stream, enters)
    timed = replace(made, base=Scan(stream))
    window = Window(span, frame=Frame(Unit.RANGE, min(length for _, length in ends)))
    rows = rows_at_instants(timed, window, ast.Policies(), span)
    assert isinstance(rows.base, WindowedRelation)
    shown = relation.columns
    return replace(rows, base=replace(rows.base, until=leaves), columns=rows.columns[: len(shown)])


def _present(relation: Relation, match: JoinStays, known: Known, span: Span) -> Relation:
    """What is there of a join that gives the changes of its relation."""
    if not match.bounded:
        raise _unbounded(span)
    names = [match.instant, match.there, match.identity]
    instant, there, identity = (relation.free(name) for name in names)
    hidden = [
        (made, column(name), NOWHERE)
        for made, name in zip((instant, there, identity), names, strict=True)
    ]
    made = result(replace(relation, columns=(*relation.columns, *hidden)), known)
    assert isinstance(made.base, Scan)
    timed = replace(made, base=Scan(timed_as(made.base.stream, instant)))
    rows = rows_at_instants(timed, Window(span, frame=NOW), ast.Policies(), span)
    assert isinstance(rows.base, WindowedRelation)
    last = replace(rows.base, frame=Frame(Unit.ROWS, 0), partition=(identity,), there=there)
    return replace(rows, base=last, columns=rows.columns[: len(relation.columns)])


def _times(join: Join, inputs: int, span: Span) -> list[str | None]:
    """The event time of each input, by its name in the join; None of a static table."""
    last = _time(join.right, span)
    if inputs == 2:
        return [_time(join.left, span), last]
    before = _scanned(join.left)
    assert isinstance(before, Scan)
    (plan,) = before.stream.of
    earlier = operator_of(plan)
    assert isinstance(earlier, Join)
    found = (_named(join.left, _named(plan, n)) for n in _times(earlier, inputs - 1, span))
    return [*found, last]


def _named(projected: Node, column_: str | None) -> str | None:
    """What a projection calls a column of what it is over."""
    if not isinstance(projected, Project):
        return column_
    same = (
        name for name, made in projected.columns if made.is_column and made.inputs[0] == column_
    )
    return next(same, None)


def _scanned(leaf: Node) -> Node:
    while isinstance(leaf, Filter | Project):
        leaf = leaf.input
    return leaf


def _frame(source: ast.From, span: Span) -> int | None:
    """How long a row stays; None: for ever."""
    spec = source.window
    if spec is None:
        return None
    window = of_spec(spec) if isinstance(spec, ast.Spec) else None
    if window is None or window.frame is None or window.counts:
        message = "RSTREAM of a join whose windows are not [NOW] and [RANGE r]"
        raise QueryError(message, span, legal=BOUNDED)
    return window.frame.preceding


def _time(leaf: Node, span: Span) -> str | None:
    """The event time of an input, by its name in the join; None of a static table."""
    assert isinstance(leaf, Project)
    below = _scanned(leaf)
    if isinstance(below, StaticScan):
        return None
    assert isinstance(below, Scan)
    for name, made in leaf.columns:
        if made.is_column and made.inputs[0] == below.stream.ts:
            return name
    message = f"RSTREAM of a join goes by event time, which {below.stream.name} lacks"
    raise QueryError(message, span, legal="its event-time column in the select list")


def _end(name: str, length: int) -> Expr:
    """The first instant at which a row is not there any more."""
    return exp.Add(this=_micros(column(name)), expression=exp.Literal.number(length + 1))


def _micros(tree: Expr) -> Expr:
    return exp.Anonymous(this="UNIX_MICROS", expressions=[tree])


def _of(trees: list[Expr], extreme: type[exp.Greatest] | type[exp.Least]) -> Expr:
    first, *others = trees
    return extreme(this=first, expressions=others) if others else first
