"""The hint STATE_TTL; the options of a TTL are in `sqlwin.plan.options.ttl_options`.

>>> from sqlwin.errors import Span
>>> hint = ast.Name("/*+ STATE_TTL('o' = '3 days', p = '12h') */", Span(1, 1))
>>> [(stream.text, micros) for stream, micros in hinted(hint)]
[('o', 259200000000), ('p', 43200000000)]
"""

from __future__ import annotations

import re

from sqlwin.errors import QueryError
from sqlwin.plan.options.ttl_options import LEGAL_LENGTH, length, valued
from sqlwin.sql.text import ast

LEGAL_HINT = "/*+ STATE_TTL('orders' = '3 days') */"

Hinted = tuple[ast.Name, int]
"""A stream and the length that a hint gives its state, microseconds."""

_HINT = re.compile(r"/\*\+\s*STATE_TTL\s*\((.*)\)\s*\*/", re.IGNORECASE | re.DOTALL)
_PAIR = re.compile(r"""\s*(['"`]?)(\w+)\1\s*=\s*(['"])([^'"]*)\3\s*(?:,|\Z)""")


def hinted(hint: ast.Name) -> tuple[Hinted, ...] | None:
    """Streams and lengths of a STATE_TTL; None: it is another hint."""
    written = _HINT.match(hint.text)
    if written is None:
        return None
    found, at = [], 0
    while at < len(written[1]):
        pair = _PAIR.match(written[1], at)
        if pair is None:
            raise QueryError("STATE_TTL names streams and durations", hint.span, legal=LEGAL_HINT)
        stream = ast.Name(pair[2], hint.span)
        found.append((stream, valued(length, pair[4], hint.span, LEGAL_LENGTH)))
        at = pair.end()
    return tuple(found)
