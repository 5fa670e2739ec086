"""A keyword that is misspelt within an expression, or behind one: BETWEN, HAVIGN.

Of an expression, all of it must be readable with the word that was meant; of a clause, what stands
before it, for what follows belongs to another. So nothing is guessed from a word alone.

>>> from sqlwin.errors import Span
>>> text = "COUNT(*) > 1 ORDR BY product"
>>> print(misspelt(ast.Run(text, text, Span(1, 1)), len(text)).message)
ORDR: did you mean ORDER?
"""

from __future__ import annotations

import re
from difflib import get_close_matches

import sqlglot
from sqlglot.errors import ParseError, TokenError

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
from sqlwin.sql.text import ast

WITHIN = (
    *("AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "ILIKE", "RLIKE", "BETWEEN", "DISTINCT"),
    *("CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "INTERVAL", "ESCAPE"),
)
BEHIND = (
    *("FROM", "WHERE", "GROUP", "HAVING", "QUALIFY", "ORDER", "WINDOW", "LIMIT"),
    *("JOIN", "UNION", "EMIT", "RETAIN"),
)
NEAR = 0.66
SHORTEST = 3
"""AS and BY are near to much."""
_WORD = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|(?P<word>[^\W\d]\w*)")


def misspelt(run: ast.Run, stop: int) -> QueryError | None:
    """stop: where sqlglot stopped. The nearest word before it that was meant to be another."""
    found = [each for each in _WORD.finditer(run.text) if each["word"] and each.start() <= stop]
    for each in reversed(found):
        word = each["word"]
        if len(word) < SHORTEST or word.upper() in (*WITHIN, *BEHIND):
            continue
        near = get_close_matches(word.upper(), (*WITHIN, *BEHIND), 2, NEAR)
        meant = next((key for key in near if _reads(run, each.span("word"), key)), None)
        if meant is not None:
            return QueryError(f"{word}: did you mean {meant}?", run.at(*each.span("word")))
    return None


def _reads(run: ast.Run, at: tuple[int, int], meant: str) -> bool:
    start, end = at
    if meant in BEHIND:
        return _readable(run.text[:start])
    return _readable(run.text[:start] + meant + run.text[end:])


def _readable(text: str) -> bool:
    try:
        sqlglot.parse_one(text, read=SqlwinSpark)
    except (ParseError, TokenError, LookupError, AttributeError, TypeError, ValueError):
        return False
    return True
