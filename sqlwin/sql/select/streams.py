"""ISTREAM, DSTREAM and RSTREAM: from a relation to a stream, as in CQL.

    ISTREAM(q)    what comes into the results of q: `+I`, and the new values of `+U`
    DSTREAM(q)    what leaves them: `-D`, and the old values of `+U`
    RSTREAM(q)    all that is there: of [NOW] the rows of each instant, of [RANGE r SLIDE s] those
                  of each slide, of any other window those of each instant at which one enters or
                  leaves

Each is a stream whose rows do not change: a derived stream of some changes of q.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import Scan, WindowedRelation
from sqlwin.plan.properties.changelog import changing
from sqlwin.plan.properties.facts import streams_of
from sqlwin.plan.properties.times import delay_in
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.sources.derived import result, timed_by_itself
from sqlwin.sql.sources.from_clause import Known
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window, of_spec
from sqlwin.windows import Unit

Bind = Callable[[ast.Select, Known], Relation]


def as_stream(select: ast.Select, name: ast.Name, known: Known, bind: Bind) -> Relation:
    """The stream that an operator makes of a query, which is without it."""
    word = name.text.upper()
    if word == "RSTREAM":
        sliding, word = _at_slides(select, name.span), "ISTREAM"
        if not sliding:
            return _at_changes(bind(select, known), name.span)
    relation = bind(select, known)
    if not changing(relation.plan()):
        if word == "ISTREAM":
            return relation
        message = "nothing leaves the results of this query"
        raise QueryError(message, name.span, legal="DSTREAM of a window by itself, of aggregates")
    return changes_of(replace(relation, emits=True), word, known)


def changes_of(relation: Relation, word: str, known: Known) -> Relation:
    made = result(relation, known)
    assert isinstance(made.base, Scan)
    stream = replace(made.base.stream, name=word.lower(), change=word)
    timed = stream.ts is not None and delay_in(stream, stream.ts) is None
    stream = timed_by_itself(replace(stream, ts=None, delay=0) if timed else stream)
    return replace(made, base=Scan(stream))


def _at_slides(select: ast.Select, span: Span) -> bool:
    """Whether what a query inserts is its relation at each instant: of [NOW], or at each slide."""
    if select.relation.joins:
        message = "RSTREAM is of the rows of one window, and a join has those of two"
        raise QueryError(message, span, legal="ISTREAM(SELECT … JOIN …), RSTREAM of a window")
    window = _window(select)
    if window is None or window.length is None:
        message = "RSTREAM of a relation without bound is all rows so far, at every instant"
        raise QueryError(message, span, legal="RSTREAM of [NOW], [RANGE r], [ROWS n]")
    if window.session is not None:
        message = "RSTREAM of sessions, which are there when they are over: none is there at once"
        raise QueryError(message, span, legal="RSTREAM of [NOW], [RANGE r], [ROWS n]")
    return window.frame is None or (not window.counts and window.frame.preceding == 0)


def _at_changes(relation: Relation, span: Span) -> Relation:
    """The rows of a window by itself, whenever one enters or leaves."""
    node = relation.base
    if not isinstance(node, WindowedRelation):
        message = "RSTREAM of aggregates over a window that does not slide is not supported yet"
        legal = "RSTREAM of [RANGE r SLIDE s]; aggregates over RSTREAM(SELECT * FROM s [RANGE r])"
        raise QueryError(message, span, legal=legal)
    (stream,) = streams_of(node)
    partitions = dict(stream.options).get("partitions", "1")
    if int(partitions) > 1 and node.frame.unit is Unit.ROWS:
        message = f"{stream.name} has {partitions} partitions, whose messages have no order"
        raise QueryError(message, span, legal="RSTREAM of [RANGE r]")
    return replace(relation, base=replace(node, instants=True))


def _window(select: ast.Select) -> Window | None:
    given = select.relation.window
    if select.relation.joins or not isinstance(given, ast.Spec):
        return None
    return of_spec(given)
