"""Hints, cut into their calls: `/*+ STATE_TTL('o' = '3 days'), JOIN_WINDOW('small') */`.

>>> hint = ast.Name("/*+ STATE_TTL('o' = '3 d'), JOIN_WINDOW('small') */", Span(1, 8))
>>> [call.text for call in calls(hint)]
["/*+ STATE_TTL('o' = '3 d') */", "/*+ JOIN_WINDOW('small') */"]
>>> large(calls(hint)[1])
False
"""

from __future__ import annotations

import re

from sqlwin.errors import QueryError, Span
from sqlwin.sql.text import ast

JOIN_WINDOW = "join.window"
LEGAL = "small, large"
_CALL = re.compile(r"""\s*,?\s*(\w+\s*\((?:'[^']*'|"[^"]*"|[^()'"])*\))\s*""")
_SIZED = re.compile(r"""/\*\+\s*JOIN_WINDOW\s*\(\s*['"]?(\w*)['"]?\s*\)\s*\*/""", re.IGNORECASE)


def calls(hint: ast.Name) -> list[ast.Name]:
    """Each call as a hint of its own; what is not made of calls is left whole."""
    inner, found, at = hint.text.removeprefix("/*+").removesuffix("*/"), [], 0
    while at < len(inner):
        call = _CALL.match(inner, at)
        if call is None:
            return [hint]
        found.append(ast.Name(f"/*+ {call[1]} */", hint.span))
        at = call.end()
    return found or [hint]


def large(hint: ast.Name) -> bool | None:
    """What JOIN_WINDOW says of the query's joins; None: it is another hint."""
    written = _SIZED.match(hint.text)
    return None if written is None else sized(written[1], hint.span, "JOIN_WINDOW")


def sized(text: str, span: Span, what: str) -> bool:
    """Whether `small` or `large` is large."""
    if text.lower() not in ("small", "large"):
        raise QueryError(f"{what} cannot be {text!r}", span, legal=LEGAL)
    return text.lower() == "large"
