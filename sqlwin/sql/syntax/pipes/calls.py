"""The expressions of pipe operators: what they are called, and whether they aggregate."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.calls import call_at
from sqlwin.sql.expressions.scalars import NESTED, Expr, parsed
from sqlwin.sql.syntax.pipes.flow import UNNAMED
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import unquoted
from sqlwin.sql.text.runs import ALIAS, part

OF_ROWS = "AGGREGATE SUM(value) AS total GROUP BY product; SUM(value) OVER (…), of each row"
_QUERY = re.compile(rf"\((?={NESTED})", re.IGNORECASE)
_ALIAS = re.compile(r"\bAS\s+(`(?:[^`]|``)+`|\w+)\s*\Z", re.IGNORECASE)
_GENERATOR = re.compile(r"\b(?:POS)?(?:EXPLODE|INLINE|UNNEST)(?:_OUTER)?\s*\(", re.IGNORECASE)
_GROUPING = re.compile(r"\bGROUPING(?:_ID)?\s*\(", re.IGNORECASE)


def generates(run: ast.Run) -> bool:
    """Whether it may make several rows of one."""
    return _GENERATOR.search(run.text) is not None


def name_of(run: ast.Run) -> str:
    """In lower case; UNNAMED where it is called by its text."""
    if _QUERY.search(run.text) or generates(run):
        found = _ALIAS.search(run.text)
        return UNNAMED if found is None else unquoted(found[1]).lower()
    return parsed(run).alias_or_name.lower() or UNNAMED


def is_expression(run: ast.Run) -> bool:
    """Whether it has a value wherever it stands: in another expression, too."""
    query = _QUERY.search(run.text) or generates(run)
    return not query and not run.overs and name_of(run) != UNNAMED and not is_star(run)


def unnamed(run: ast.Run, fitting: ast.Run | None = None) -> ast.Run:
    """Without its alias. fitting: the same over other columns, which is cut then."""
    whole = fitting or run
    if not isinstance(parsed(run), exp.Alias):
        return whole
    named = ALIAS.search(run.text)
    assert named is not None
    return part(whole, 0, named.start())


def is_star(run: ast.Run) -> bool:
    if "*" not in run.text or _QUERY.search(run.text):
        return False
    tree = parsed(run)
    return isinstance(tree, exp.Star) or (
        isinstance(tree, exp.Column) and isinstance(tree.this, exp.Star)
    )


def aggregates(run: ast.Run) -> bool:
    """Whether it has an aggregate without OVER."""
    if _GROUPING.search(run.text):
        return True
    return not _QUERY.search(run.text) and next(_calls(parsed(run), run), None) is not None


def refuse_aggregates(runs: tuple[ast.Run, ...], operator: str) -> None:
    for run in runs:
        if not generates(run) and aggregates(run):
            message = f"{operator} of a pipe is of each row, and aggregates stand in AGGREGATE"
            raise QueryError(message, run.span, legal=OF_ROWS)


def refuse_grouped(condition: ast.Run) -> None:
    """QueryError for what is not of a row alone."""
    if condition.overs:
        message = "WHERE of a pipe is of columns, and OVER makes one before it"
        legal = "|> EXTEND ROW_NUMBER() OVER (…) AS rn |> WHERE rn <= 3"
        raise QueryError(message, condition.span, legal=legal)
    if aggregates(condition):
        message = "WHERE of a pipe is of columns, and AGGREGATE makes one before it"
        legal = "|> AGGREGATE COUNT(*) AS n GROUP BY product |> WHERE n > 3"
        raise QueryError(message, condition.span, legal=legal)


def _calls(tree: Expr, run: ast.Run) -> Iterator[Expr]:
    call = call_at(tree, run)
    if call is not None and call.over is None:
        yield tree
    elif call is None:
        for inner in tree.iter_expressions():
            yield from _calls(inner, run)
