"""Which views a statement reads more than once, counted before anything is bound.

A view's text counts once, however often the view is read: those who read it share it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from sqlwin.sql import ast

if TYPE_CHECKING:
    from sqlwin.sql.sources import Known


def read_often(statement: ast.Statement, known: Known) -> frozenset[str]:
    """Names in lower case, those of common table expressions among them."""
    counted = Counter(_names(statement))
    seen: set[str] = set()
    while more := [name for name in counted if name in known.views and name not in seen]:
        for name in more:
            counted.update(_names(known.views[name].select))
        seen.update(more)
    return frozenset(name for name, times in counted.items() if times > 1)


def _names(node: object) -> Iterator[str]:
    """Of all that FROM reads, also as the table of a window function."""
    if isinstance(node, ast.From | ast.Argument):
        source = node.source if isinstance(node, ast.From) else node.value
        if isinstance(source, ast.Name):
            yield source.text.lower()
    inner = list(node) if isinstance(node, tuple) else []
    if is_dataclass(node) and not isinstance(node, type):
        inner = [getattr(node, field.name) for field in fields(node)]
    for each in inner:
        yield from _names(each)
