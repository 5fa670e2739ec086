"""Queries with UNION, INTERSECT, EXCEPT between them as one: INTERSECT first, then from the left.

    a UNION b INTERSECT ALL c      UNION of a, and the INTERSECT ALL of b and c

>>> from sqlwin.errors import Span
>>> operation(ast.Name("minus  all", Span(1, 1)))
('EXCEPT', True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.sql.text import ast

_SPELLED = {"MINUS": "EXCEPT"}


def combined(rows: Sequence[ast.Select], words: Sequence[ast.Name]) -> ast.Select:
    """What stands behind the last of the queries is that one's, but ORDER BY with LIMIT, and EMIT
    beside it, which are of all. words: between each two of them."""
    for row in rows[:-1]:
        _refuse_ordered(row)
    last = rows[-1]
    if last.order or last.limit is not None:
        plain = replace(last, order=(), limit=None, policies=ast.Policies())
        whole = combined([*rows[:-1], plain], words)
        return replace(whole, order=last.order, limit=last.limit, policies=last.policies)
    made, between = [rows[0]], []
    for row, word in zip(rows[1:], words, strict=True):
        if operation(word)[0] == "INTERSECT":
            made[-1] = _pair([made[-1], row], word)
        else:
            made.append(row)
            between.append(word)
    return _from_the_left(made, between)


def _refuse_ordered(row: ast.Select) -> None:
    if row.order or row.limit is not None:
        span = row.order[0].span if row.limit is None else row.limit.span
        message = "ORDER BY and LIMIT stand behind the last query, and are of all"
        raise QueryError(message, span, legal="(SELECT … ORDER BY … LIMIT 10) UNION ALL SELECT …")


def operation(word: ast.Name) -> tuple[str, bool]:
    """Its first word, and whether it is of ALL."""
    first, *rest = word.text.upper().split()
    return _SPELLED.get(first, first), rest == ["ALL"]


def _from_the_left(rows: Sequence[ast.Select], words: Sequence[ast.Name]) -> ast.Select:
    """UNION ALL of what is one already takes another query in."""
    made, alike = rows[0], list(rows[:1])
    for at, (row, word) in enumerate(zip(rows[1:], words, strict=True)):
        kind, every = operation(word)
        if kind != "UNION":
            made = _pair([made, row], word)
            alike = [made]
            continue
        before = [made] if at and made.distinct is not None else alike
        alike = [*before, row]
        made = _all(ast.Union(tuple(alike), word.span), None if every else word.span)
    return made


def _pair(rows: Sequence[ast.Select], word: ast.Name) -> ast.Select:
    kind, every = operation(word)
    return _all(ast.Union(tuple(rows), word.span, kind, every), None)


def _all(union: ast.Union, distinct: Span | None) -> ast.Select:
    star = ast.Run("*", "*", union.span)
    return ast.Select((star,), ast.From(union), union.span, distinct=distinct)
