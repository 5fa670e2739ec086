"""A run of scalar text, cut at its brackets and commas.

Texts in quotes are passed over, and places hold, since a part of a run knows where
it stands.

>>> from sqlwin.errors import Span
>>> whole = ast.Run("ROLLUP((a, b), 'c)')", "ROLLUP((a, b), 'c)')", Span(1, 10))
>>> [part.text for part in parts(bracketed(whole, len("ROLLUP")))]
['(a, b)', "'c)'"]
>>> parts(bracketed(whole, len("ROLLUP")))[1].span
Span(line=1, column=25, length=4)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import QUOTED

ALIAS = re.compile(r"(\s+AS)?\s+\S+\s*\Z", re.IGNORECASE)
"""Of an expression that has one."""
_TOKEN = re.compile(rf"{QUOTED}|.", re.DOTALL)


def quoted(name: str, span: Span) -> ast.Run:
    """A column of that name, whatever is in it."""
    text = "`" + name.replace("`", "``") + "`"
    return ast.Run(text, text, span)


def part(run: ast.Run, start: int, end: int) -> ast.Run:
    """Characters `start` to `end`, without the blanks around them."""
    text = run.text[start:end]
    start += len(text) - len(text.lstrip())
    end = start + len(text.strip())
    at = run.at(start, end)
    return replace(run, text=run.text[start:end], original=run.original[start:end], span=at)


def bracketed(run: ast.Run, start: int = 0) -> ast.Run | None:
    """What stands between a bracket at `start`, after blanks, and one that ends the run."""
    depth, opened = 0, None
    for at, token in _tokens(run.text, start):
        if opened is None and token == "(":
            opened = at
        elif opened is None and not token.isspace():
            return None
        depth += (token == "(") - (token == ")")
        if opened is not None and depth == 0:
            return None if run.text[at + 1 :].strip() else part(run, opened + 1, at)
    return None


def parts(run: ast.Run) -> list[ast.Run]:
    """The run cut at its commas; none of an empty one. QueryError where one is missing."""
    if not run.text.strip():
        return []
    depth, begin, made = 0, 0, []
    for at, token in _tokens(run.text):
        depth += (token in "([") - (token in ")]")
        if token == "," and depth == 0:
            made.append(part(run, begin, at))
            begin = at + 1
    made.append(part(run, begin, len(run.text)))
    for missing in (each for each in made if not each.text):
        raise QueryError("something is missing beside this comma", missing.span, legal="a, b")
    return made


def _tokens(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    return ((found.start(), found[0]) for found in _TOKEN.finditer(text, start))
