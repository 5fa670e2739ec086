"""What the hints behind SELECT, or AGGREGATE of a pipe, say of the query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lark import Token

from sqlwin.sql.syntax.hints.calls import calls, large
from sqlwin.sql.syntax.hints.ttl import hinted
from sqlwin.sql.syntax.leaves import named
from sqlwin.sql.text import ast


def of_select(tokens: Iterable[Token]) -> dict[str, Any]:
    """By the names of a Select's fields; a hint that is none of ours is refused by its name."""
    hints = [call for token in tokens for call in calls(named(token))]
    lengths, sizes = [hinted(hint) for hint in hints], [large(hint) for hint in hints]
    read = zip(hints, lengths, sizes, strict=True)
    others = [hint for hint, length, size in read if length is None and size is None]
    return {
        "refused": tuple(ast.Name(f"the hint {h.text}", h.span) for h in others),
        "ttl": tuple(pair for found in lengths for pair in found or ()),
        "large": next((size for size in sizes if size is not None), None),
    }
