"""Conditions as text, cut where AND joins them, outside of brackets and quotes.

>>> from sqlwin.errors import Span
>>> text = "a BETWEEN 1 AND 2 AND (b AND c) AND d = ' AND '"
>>> [each.text for each in conjuncts(ast.Run(text, text, Span(1, 1)))]
['a BETWEEN 1 AND 2', '(b AND c)', "d = ' AND '"]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import QUOTED
from sqlwin.sql.text.runs import part

TOKEN = re.compile(rf"{QUOTED}|\w+|.", re.DOTALL)


def conjuncts(run: ast.Run) -> Iterator[ast.Run]:
    """What AND joins, but that of BETWEEN; all of it where there is an OR."""
    begin, between = 0, False
    tokens = [] if either(run.text) else list(outside(run.text))
    for at, token in tokens:
        word = token.upper()
        if word == "AND" and not between:
            yield part(run, begin, at)
            begin = at + len(token)
        between = word == "BETWEEN" or (between and word != "AND")
    yield part(run, begin, len(run.text))


def either(text: str) -> bool:
    """Whether it has an OR outside of brackets."""
    return any(token.upper() == "OR" for _, token in outside(text))


def both(one: ast.Run, other: ast.Run) -> ast.Run:
    """Joined by AND, at the place of the first."""
    texts = [f"({run.text})" if either(run.text) else run.text for run in (one, other)]
    text = " AND ".join(texts)
    return replace(one, text=text, original=text, overs=(*one.overs, *other.overs))


def closing(text: str, opened: int) -> int:
    """Behind the bracket that closes one."""
    depth = 0
    for token in TOKEN.finditer(text, opened):
        depth += (token[0] == "(") - (token[0] == ")")
        if depth == 0:
            return token.end()
    return len(text)


def outside(text: str) -> Iterator[tuple[int, str]]:
    """Tokens outside of brackets."""
    depth = 0
    for found in TOKEN.finditer(text):
        if depth == 0:
            yield found.start(), found[0]
        depth += (found[0] in "([") - (found[0] in ")]")
