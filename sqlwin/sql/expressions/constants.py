"""Texts in an expression that can never be what they are taken for.

`SUM(v) > 'abc'` reads the text as a number, and fails for whatever row comes. So the cast of a
constant is tried before anything runs, and refused where it fails. `TRY_CAST` fails for none.

>>> reason_text('The value cannot be cast to "INT" because it is malformed.')
'an INT'
"""

from __future__ import annotations

import re

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.resolve import signatures
from sqlwin.functions.table import find
from sqlwin.schema import with_article
from sqlwin.sql.expressions.engine import failure
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import quoted, unquoted

_DURATION = re.compile(r"\s*\d+\s*(?:second|minute|hour|day|week|month|year)s?\s*", re.IGNORECASE)
_TO = re.compile(r'cannot be cast to "([^"]+)"')


def refuse_unread(casts: list[tuple[str, Typed]], tree: exp.Expr, run: ast.Run) -> None:
    """casts: of constants of `tree`, whose texts the table of functions has not read."""
    for text, made in casts:
        reason = failure(made.sql, ())
        if reason:
            message = f"{quoted(text)} is not {reason_text(reason)}"
            node = _written(text, tree, run)
            interval = f"INTERVAL {quoted(text)}; " if _DURATION.fullmatch(text) else ""
            legal = f"{_taken(node)}{interval}a constant of that type; TRY_CAST, which gives NULL"
            at = run.span if node is None else run.at(node.meta["start"], node.meta["end"] + 1)
            raise QueryError(message, at, legal=legal)


def reason_text(reason: str) -> str:
    """The type that the engine wanted, with its article."""
    found = _TO.search(reason)
    if found is None:
        return f"what it is taken for: {reason}"
    return with_article(found[1])


def _written(text: str, tree: exp.Expr, run: ast.Run) -> exp.Expr | None:
    """The constant, if it was written in this run and not in a view's."""
    for node in tree.find_all(exp.Literal):
        start, end = node.meta.get("start", 0), node.meta.get("end", -1) + 1
        if node.is_string and node.name == text and unquoted(run.original[start:end]) == text:
            return node
    return None


def _taken(node: exp.Expr | None) -> str:
    """What the function takes that has the constant among its arguments: their order, too."""
    call = None if node is None else node.parent
    found = find(call.name) if isinstance(call, exp.Anonymous) else None
    taken = [] if found is None else [s for s in signatures(found) if "(T" not in s]
    return "".join(f"{signature}; " for signature in taken[:2])
