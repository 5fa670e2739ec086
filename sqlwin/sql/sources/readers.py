"""What views read, counted before anything is bound: which of them are read more than once, and
how much they read in all.

A view's text counts once, however often the view is read: those who read it share it. What it
reads counts for each of its readers, and is bounded: twenty views that each read the one before
twice would be a million relations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from sqlwin.errors import QueryError
from sqlwin.sql.text import ast

RELATIONS, DEEP = 1_000, 100
"""That a view reads, however far below; views that stand over each other."""

if TYPE_CHECKING:
    from sqlwin.sql.sources.from_clause import Known, View


def read_often(statement: ast.Statement, known: Known) -> frozenset[str]:
    """Names in lower case, those of common table expressions among them."""
    counted = Counter(_names(statement))
    seen: set[str] = set()
    while more := [name for name in counted if name in known.views and name not in seen]:
        for name in more:
            counted.update(_names(known.views[name].select))
        seen.update(more)
    return frozenset(name for name, times in counted.items() if times > 1)


def read_below(select: ast.Select, name: ast.Name, views: Mapping[str, View]) -> tuple[int, int]:
    """How many relations a view reads, and how many views stand over each other in it.

    QueryError where that is more than can be bound. name: of the view.
    """
    named = [views.get(each) for each in _names(select)]
    reads = sum(1 if view is None else view.reads for view in named)
    depth = 1 + max((view.depth for view in named if view is not None), default=0)
    if reads > RELATIONS:
        message = f"{name.text} reads over {RELATIONS:,} relations, those of its views included"
        raise QueryError(message, name.span, legal="fewer views that read a view more than once")
    if depth > DEEP:
        message = (
            f"{name.text} stands over {DEEP} views over each other, which is the most there can be"
        )
        raise QueryError(message, name.span, legal="a view that does the work of several")
    return reads, depth


def _names(node: object) -> Iterator[str]:
    """Of all that FROM reads, also as the table of a window function."""
    if isinstance(node, ast.From | ast.Argument):
        source = node.source if isinstance(node, ast.From) else node.value
        if isinstance(source, ast.Name) and not isinstance(source, ast.File):
            yield source.text.lower()
    inner = list(node) if isinstance(node, tuple) else []
    if is_dataclass(node) and not isinstance(node, type):
        inner = [getattr(node, field.name) for field in fields(node)]
    for each in inner:
        yield from _names(each)
