"""CQL's ISTREAM, DSTREAM and RSTREAM: from a relation back to a stream.

A result here is a changelog already, each row with its change in `op`. ISTREAM,
what comes into a relation, is the query itself; the others would be streams of
something else, and are refused with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlwin.errors import QueryError
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import bracketed, parts

_CALL = re.compile(r"([IDR]STREAM)(?=\s*\()", re.IGNORECASE)
_WHY = {
    "DSTREAM": "DSTREAM sends what leaves a relation, and a row that leaves a window is no change "
    "of a result here",
    "RSTREAM": "RSTREAM sends a whole relation again at every instant, and here only what changed "
    "is sent",
}


def inserted(name: ast.Name) -> None:
    """Refuses what is not ISTREAM."""
    why = _WHY.get(name.text.upper())
    if why is not None:
        legal = "ISTREAM(SELECT …), or the SELECT alone; its rows carry their change in op"
        raise QueryError(why, name.span, legal=legal)


def unwrapped(items: Sequence[ast.Run]) -> tuple[ast.Run, ...]:
    """`ISTREAM(a, b)` as a whole select list is the list `a, b`."""
    made = []
    for item in items:
        called = _CALL.match(item.text)
        inner = bracketed(item, called.end()) if called else None
        if called is None or inner is None:
            made.append(item)
            continue
        inserted(ast.Name(called[1], item.at(*called.span())))
        made += parts(inner)
    return tuple(made)
