"""RSTREAM of a window, and of a join: rows, and pairs, at each instant of change.

A pair is there while both its rows are, from the later event time to the earlier end of their
windows; rows of a stream without a window, and of a static table, stay for ever. Other joins give
the changes of their relation, see `sql/joins/changes.py`.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import Filter, Join, Node, Project, Scan, StaticScan, WindowedRelation
from sqlwin.plan.properties.facts import operator_of, streams_of
from sqlwin.sql.expressions.scalars import Expr, column, conjoined
from sqlwin.sql.relations.relation import NOWHERE, Relation
from sqlwin.sql.select.windowed import windowed
from sqlwin.sql.sources.derived import result, timed_as
from sqlwin.sql.sources.known import Known
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window, of_spec
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.stays import JoinStays

BOUNDED = "RSTREAM of [NOW], [RANGE r], [ROWS n], and of joins of such windows"
NOW = Frame(Unit.RANGE, 0)
ENTERS, LEAVES = "enters at", "leaves at"
"""Columns of pairs: since when they are there; when they have left, in microseconds."""


def unbounded(span: Span) -> QueryError:
    message = "RSTREAM of a relation without bound is all rows so far, at every instant"
    return QueryError(message, span, legal=BOUNDED)


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


def pairs(source: ast.From, relation: Relation, known: Known, span: Span) -> Relation:
    """The pairs of a join, each from when both rows are there to when the first has left."""
    if not isinstance(relation.base, Join):
        message = "RSTREAM of a window over a join"
        raise QueryError(message, span, legal=BOUNDED)
    if relation.base.stays is not None:
        return _present(relation, relation.base.stays, known, span)
    from sqlwin.sql.joins.relation import mirrored  # by need, as in `select`

    placed = mirrored(source, known)
    given = [placed, *(join.right for join in placed.joins)]
    windows = [_frame(each, span) for each in given]
    times = _times(relation.base, len(given), span)
    ends = [(name, w) for name, w in zip(times, windows, strict=True) if name and w is not None]
    if not ends:
        raise unbounded(span)
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
        raise unbounded(span)
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
