"""Flink's hint OPTIONS behind the name of a stream, table or sink, for this use of it alone.

>>> from sqlwin.errors import Span
>>> hint = ast.Name("/*+ OPTIONS('scan.startup.mode' = 'latest-offset') */", Span(1, 8))
>>> optioned(ast.Name("orders", Span(1, 1)), hint, reads=True).options
(('start', 'latest'),)
"""

from __future__ import annotations

import re

from sqlwin.errors import QueryError
from sqlwin.plan.options.spellings import put_here, spelt_here
from sqlwin.sql.syntax.hints.calls import calls
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import QUOTED, unquoted

LEGAL = "orders /*+ OPTIONS('path' = 'old/*.jsonl') */"
_HINT = re.compile(r"/\*\+\s*OPTIONS\s*\((.*)\)\s*\*/", re.IGNORECASE | re.DOTALL)
_PAIR = re.compile(rf"\s*({QUOTED}|[\w.-]+)\s*=\s*({QUOTED}|[\w.-]+)\s*(?:,|\Z)", re.DOTALL)


def optioned(name: ast.Name, hint: ast.Name, reads: bool) -> ast.Optioned:
    """reads: whether rows of it are read. QueryError for any other hint."""
    given: dict[str, str] = {}
    places = []
    for call in calls(hint):
        written = _HINT.fullmatch(call.text)
        if written is None:
            message = f"{call.text} does not stand behind {name.text}"
            legal = f"{LEGAL}; STATE_TTL and JOIN_WINDOW behind SELECT"
            raise QueryError(message, hint.span, legal=legal)
        for key, value in _pairs(written[1], hint):
            if key in given:
                raise QueryError(f"the option {key} is given twice", hint.span, legal="once")
            given[key] = value
            places += [(each, hint.span) for each in {key, spelt_here(key)}]
    options = tuple(sorted(put_here(given, reads).items()))
    return ast.Optioned(name.text, name.span, options, tuple(places))


def _pairs(text: str, hint: ast.Name) -> list[tuple[str, str]]:
    found, at = [], 0
    while text[at:].strip():
        pair = _PAIR.match(text, at)
        if pair is None:
            raise QueryError("OPTIONS has names with their values", hint.span, legal=LEGAL)
        found.append((unquoted(pair[1]), unquoted(pair[2])))
        at = pair.end()
    return found
