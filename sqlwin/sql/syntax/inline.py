"""Rows in FROM that the text has itself, and the names that stand behind an alias.

    FROM (VALUES (1, 'a'), (2, 'b')) AS t(id, name)        FROM GENERATE_SERIES(1, 3) AS g(n)

`AS t(a, b)` behind anything else is a query of it in FROM whose columns are called so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlwin.sql.syntax.clauses import Clause
from sqlwin.sql.syntax.leaves import Children
from sqlwin.sql.text import ast


def renamed(source: Any, rest: Children) -> Any:
    """What FROM reads, with the names of its columns. rest: what stands behind it."""
    source = _values(source)
    alias = next((c for c in rest if isinstance(c, Clause) and c.word == "alias"), None)
    if alias is None or not alias.columns:
        series = isinstance(source, ast.Inline) and not source.values
        return replace(source, columns=(alias.value,)) if series and alias else source
    if isinstance(source, ast.Inline):
        return replace(source, columns=alias.columns)
    if isinstance(source, ast.Select) and not source.called:
        return replace(source, called=alias.columns)
    star = ast.Run("*", "*", alias.span)
    return ast.Select((star,), ast.From(source), alias.span, called=alias.columns)


def _values(source: Any) -> Any:
    """VALUES in brackets, which is a query that reads it."""
    if not isinstance(source, ast.Select) or not isinstance(source.relation.source, ast.Inline):
        return source
    inline = source.relation.source
    star = ast.Run("*", "*", inline.span)
    return inline if source == ast.Select((star,), ast.From(inline), inline.span) else source
