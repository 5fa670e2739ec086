"""ISTREAM, DSTREAM and RSTREAM: from a relation to a stream, as in CQL.

    ISTREAM(q)    what comes into the results of q: `+I`, and the new values of `+U`
    DSTREAM(q)    what leaves them: `-D`, and the old values of `+U`
    RSTREAM(q)    all that is there: of [NOW] the rows of each instant, of [RANGE r SLIDE s] those
                  of each slide

Each is a stream whose rows do not change: a derived stream of some changes of q.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import Scan
from sqlwin.plan.properties.changelog import changing
from sqlwin.plan.properties.times import delay_in
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.sources.derived import result, timed_by_itself
from sqlwin.sql.sources.from_clause import Known
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window, of_spec
from sqlwin.windows import Hop

Bind = Callable[[ast.Select, Known], Relation]


def as_stream(select: ast.Select, name: ast.Name, known: Known, bind: Bind) -> Relation:
    """The stream that an operator makes of a query, which is without it."""
    word = name.text.upper()
    if word == "RSTREAM":
        select, word = _at_instants(select, name.span), "ISTREAM"
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


def _at_instants(select: ast.Select, span: Span) -> ast.Select:
    """A query whose insertions are its relation at each instant at which that is emitted."""
    window = _window(select)
    if window is None or window.length is None:
        message = "RSTREAM of a relation without bound is all rows so far, at every instant"
        raise QueryError(message, span, legal="RSTREAM of [NOW], of [RANGE r SLIDE s]")
    if isinstance(window.group, Hop) and not window.counts:
        return select
    if window.frame is None or window.counts or window.frame.preceding != 0:
        message = "RSTREAM is emitted at the instants of [NOW] or of a SLIDE, and here is neither"
        raise QueryError(message, span, legal="RSTREAM of [NOW], of [RANGE r SLIDE s]")
    return select


def _window(select: ast.Select) -> Window | None:
    given = select.relation.window
    if select.relation.joins or not isinstance(given, ast.Spec):
        return None
    return of_spec(given)
