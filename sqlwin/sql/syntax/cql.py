"""CQL's ISTREAM, DSTREAM and RSTREAM around a query, or around its whole select list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlwin.errors import QueryError
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import bracketed, parts

_CALL = re.compile(r"([IDR]STREAM)(?=\s*\()", re.IGNORECASE)


def as_stream(select: ast.Select, name: ast.Name) -> ast.Select:
    """The query with the operator around it."""
    if select.change is not None:
        message = f"{select.change.text} makes a stream, and a stream has no changes"
        raise QueryError(message, name.span, legal=f"{select.change.text}(SELECT …) alone")
    return replace(select, change=name)


def unwrapped(items: Sequence[ast.Run]) -> tuple[tuple[ast.Run, ...], ast.Name | None]:
    """`ISTREAM(a, b)` as a whole select list is the list `a, b`, and the operator's name."""
    item = items[0]
    called = _CALL.match(item.text)
    inner = bracketed(item, called.end()) if called else None
    if called is None or inner is None:
        return tuple(items), None
    name = ast.Name(called[1], item.at(*called.span()))
    if len(items) > 1:
        message = f"{called[1]} is of all columns of a query"
        raise QueryError(message, name.span, legal=f"SELECT {called[1]}(a, b, …) FROM …")
    return tuple(parts(inner)), name
