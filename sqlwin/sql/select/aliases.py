"""A name that SELECT gives, used in WHERE, which knows the columns of FROM alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.relations.unknown_columns import UnknownColumn
from sqlwin.sql.text import ast


@contextmanager
def aliases_explained(select: ast.Select) -> Iterator[None]:
    """QueryError that says what a name in WHERE was meant to be, where SELECT gives it."""
    try:
        yield
    except UnknownColumn as unknown:
        if select.where is None or not _within(unknown.span, select.where):
            raise
        for run in select.items:
            tree = parsed(run)
            if tree.alias.lower() == unknown.column.lower():
                name = unknown.column
                message = f"{name} is made by SELECT, after WHERE has chosen the rows"
                raise QueryError(message, unknown.span, legal=_legal(run, tree)) from None
        raise


def _legal(run: ast.Run, tree: Expr) -> str:
    if run.overs:
        return f"QUALIFY in place of WHERE: QUALIFY {tree.alias} = …"
    if tree.find(exp.AggFunc):
        return f"HAVING in place of WHERE: HAVING {tree.alias} > …"
    return f"what {tree.alias} stands for, or SELECT * FROM (this query) WHERE …"


def _within(span: Span | None, run: ast.Run) -> bool:
    if span is None:
        return False
    end = run.at(len(run.original), len(run.original))
    begin = (run.span.line, run.span.column)
    return begin <= (span.line, span.column) <= (end.line, end.column)
