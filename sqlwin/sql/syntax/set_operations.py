"""Queries with UNION, INTERSECT, EXCEPT between them as one: INTERSECT first, then from the left.

    a UNION b INTERSECT ALL c      UNION of a, and the INTERSECT ALL of b and c
    a UNION BY NAME b UNION c      UNION, by places, of c and of the first two

>>> from sqlwin.errors import Span
>>> minus = Operator(ast.Name("minus  all", Span(1, 1)))
>>> minus.kind, minus.every
('EXCEPT', True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lark import Token

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.syntax.leaves import named
from sqlwin.sql.text import ast

_SPELLED = {"MINUS": "EXCEPT"}


@dataclass(frozen=True)
class Operator:
    """What stands between two queries. matching: behind its words."""

    word: ast.Name
    matching: ast.Matching | None = None

    @property
    def span(self) -> Span:
        return self.word.span

    @property
    def kind(self) -> str:
        first = self.word.text.upper().split()[0]
        return _SPELLED.get(first, first)

    @property
    def every(self) -> bool:
        """Whether it is of ALL."""
        return self.word.text.upper().split()[1:] == ["ALL"]


def operators(tokens: Sequence[Token | ast.Matching]) -> list[Operator]:
    """Each with what stands behind its words."""
    made: list[Operator] = []
    for each in tokens:
        if isinstance(each, ast.Matching):
            made[-1] = replace(made[-1], matching=each)
        else:
            made.append(Operator(named(each)))
    return made


def combined(rows: Sequence[ast.Select], words: Sequence[Operator]) -> ast.Select:
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
        if word.kind == "INTERSECT":
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


def _from_the_left(rows: Sequence[ast.Select], words: Sequence[Operator]) -> ast.Select:
    """UNION ALL of what is one already takes another query in."""
    made, alike = rows[0], list(rows[:1])
    for at, (row, word) in enumerate(zip(rows[1:], words, strict=True)):
        if word.kind != "UNION":
            made = _pair([made, row], word)
            alike = [made]
            continue
        other = at and words[at - 1].matching != word.matching
        before = [made] if at and (made.distinct is not None or other) else alike
        alike = [*before, row]
        union = ast.Union(tuple(alike), word.span, matching=word.matching)
        made = _all(union, None if word.every else word.span)
    return made


def _pair(rows: Sequence[ast.Select], word: Operator) -> ast.Select:
    union = ast.Union(tuple(rows), word.span, word.kind, word.every, word.matching)
    return _all(union, None)


def _all(union: ast.Union, distinct: Span | None) -> ast.Select:
    star = ast.Run("*", "*", union.span)
    return ast.Select((star,), ast.From(union), union.span, distinct=distinct)
