"""ISTREAM, DSTREAM and RSTREAM: from a relation to a stream, as in CQL.

    ISTREAM(q)    what comes into the results of q: `+I`, and the new values of `+U`
    DSTREAM(q)    what leaves them: `-D`, and the old values of `+U`
    RSTREAM(q)    all that is there: of [NOW] the rows of each instant, of [RANGE r SLIDE s] those
                  of each slide, of any other window those of each instant at which one enters or
                  leaves (`instants`)

Each is a stream whose rows do not change: a derived stream of some changes of q.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlwin.errors import QueryError
from sqlwin.plan.ir.nodes import Scan
from sqlwin.plan.properties.changelog import changing
from sqlwin.plan.properties.times import delay_in
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.select.instants import at_slides
from sqlwin.sql.sources.derived import result, timed_by_itself
from sqlwin.sql.sources.known import Known
from sqlwin.sql.text import ast

Bind = Callable[[ast.Select, Known], Relation]


def as_stream(select: ast.Select, name: ast.Name, known: Known, bind: Bind) -> Relation:
    """The stream that an operator makes of a query, which is without it."""
    word = name.text.upper()
    if word == "RSTREAM":
        word = "ISTREAM"
        select = select if at_slides(select) else replace(select, instants=name)
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
