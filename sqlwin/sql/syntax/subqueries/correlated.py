"""Queries within queries: which of their conditions name the rows around them.

A name is of the query around only behind a qualifier that is no input of its own.

>>> from sqlwin.errors import Span
>>> text = "b.w = a.w"
>>> own, outer = equality(ast.Run(text, text, Span(1, 1)), frozenset("b"))
>>> own.text, outer.text
('b.w', 'a.w')
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.schema import TIMESTAMP, Schema
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import outside
from sqlwin.sql.text.runs import part

LEGAL = "(SELECT MAX(b.p) FROM b WHERE b.window_end = a.window_end)"
WITHIN = f"{LEGAL}; … WHERE b.k = a.k AND b.ts BETWEEN a.ts - INTERVAL '1' HOUR AND a.ts"


def names(source: ast.From) -> Iterator[str]:
    """By which columns of its own are qualified."""
    for each in (source, *(join.right for join in source.joins)):
        if each.alias is not None:
            yield each.alias.text
        elif isinstance(each.source, ast.Name):
            yield each.source.text
        elif each.open and isinstance(each.source, ast.Select):
            yield from names(each.source.relation)


def names_outer(tree: Expr, own: frozenset[str]) -> bool:
    """Whether it names a column of the query around."""
    return any(node.table and node.table.lower() not in own for node in tree.find_all(exp.Column))


def names_one_of(run: ast.Run, inputs: frozenset[str]) -> bool:
    """Whether it names a column of one of the inputs, in lower case."""
    return any(node.table.lower() in inputs for node in parsed(run).find_all(exp.Column))


def refuse_outer(run: ast.Run, own: frozenset[str]) -> None:
    if names_outer(parsed(run), own):
        raise _unequal(run)


def _unequal(run: ast.Run) -> QueryError:
    message = (
        "a query in an expression names the rows around it in equalities of its WHERE, and as"
        " bounds of its event time by theirs, from above at least"
    )
    return QueryError(message, run.span, legal=WITHIN)


def refuse_untimed(schema: Schema, column: ast.Name, run: ast.Run) -> None:
    """QueryError where a condition bounds no TIMESTAMP. column: of the rows of both, in order."""
    types = {each.name.lower(): each.type for each in schema}
    if types[column.text.lower()] != TIMESTAMP:
        raise _unequal(run)


def equality(run: ast.Run, own: frozenset[str]) -> tuple[ast.Run, ast.Run]:
    """Its own side, and that of the query around."""
    if not isinstance(parsed(run), exp.EQ):
        raise _unequal(run)
    at = next(at for at, token in outside(run.text) if token == "=")
    sides = part(run, 0, at), part(run, at + 1, len(run.text))
    for one, other in (sides, sides[::-1]):
        columns = list(parsed(other).find_all(exp.Column))
        whole = all(node.table and node.table.lower() not in own for node in columns)
        if columns and whole and not names_outer(parsed(one), own):
            return one, other
    raise _unequal(run)
