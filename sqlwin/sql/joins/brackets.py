"""A join in brackets behind JOIN: a result of its own, whose inputs have their names outside.

    FROM a LEFT JOIN (b JOIN c ON b.id = c.id) ON a.id = b.id

It is joined as a query in FROM would be, by one of its event times, and has a JoinSide for each of
its inputs, so that `b.id` and `c.id` mean what they mean within. Of inner joins the answer is that
of joins from the left, and these it becomes where they do better: static tables are looked up one
after the other, and of a CROSS JOIN each condition goes to the first join that has its columns.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from sqlwin.errors import QueryError
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.sources.derived import derived
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import both
from sqlwin.sql.windows.policies import passing

if TYPE_CHECKING:
    from sqlwin.sql.sources.known import Bind, Known

INNER = ("JOIN", "INNER JOIN", "CROSS JOIN", ",")


def flat(source: ast.From, known: Known) -> ast.From:
    """With the joins of brackets among its own, where they are inner ones of static tables, or have
    no conditions."""
    joins: list[ast.Join] = []
    for join in source.joins:
        joins += _flat(join, known)
    return replace(source, joins=tuple(joins))


def _flat(join: ast.Join, known: Known) -> tuple[ast.Join, ...]:
    inner = join.right.source
    if not join.right.open or not isinstance(inner, ast.Select) or not _plain(join):
        return (join,)
    first, joins = replace(inner.relation, joins=()), inner.relation.joins
    if join.right.window is not None or not all(map(_plain, joins)):
        return (join,)
    if any(each.on is not None for each in joins) and not _tables(inner.relation, known):
        return (join,)
    conditions = [run for run in (joins[-1].on, join.on) if run is not None]
    word = replace(joins[-1].word, text="JOIN" if conditions else ",")
    last = replace(joins[-1], word=word, on=reduce(both, conditions) if conditions else None)
    return (ast.Join(replace(join.word, text=","), first), *joins[:-1], last)


def _plain(join: ast.Join) -> bool:
    more = (join.using, join.within, join.match, join.right.as_of)
    return join.word.text in INNER and not any(more)


def _tables(source: ast.From, known: Known) -> bool:
    from sqlwin.sql.joins.relation import is_static

    return all(is_static(each, known) for each in _inputs(source))


def _inputs(source: ast.From) -> tuple[ast.From, ...]:
    return source, *(join.right for join in source.joins)


def opened(inner: ast.Select, around: ast.Select, known: Known, bind: Bind) -> Relation:
    """inner: the join in brackets; around: the query whose FROM has it, with what it says of its
    joins."""
    from sqlwin.sql.joins.relation import joined

    if around.instants is not None:
        message = f"{around.instants.text} is of windows, and a join in brackets has none"
        legal = "joins without brackets; a query in FROM with the join"
        raise QueryError(message, inner.span, legal=legal)
    given = passing(around.policies)
    select = replace(inner, policies=given, ttl=around.ttl, large=around.large)
    return derived(joined(select, known, bind), known)
