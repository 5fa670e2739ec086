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
    from sqlwin.sql.sources.known import Known, View


def read_often(statement: ast.Statement, known: Known) -> frozenset[str]:
    """Names in lower case, those of common table expressions among them."""
    counted = Counter(map(str.lower, read_names(statement)))
    seen: set[str] = set()
    while more := [name for name in counted if name in known.views and name not in seen]:
        for name in more:
            counted.update(map(str.lower, read_names(known.views[name].select)))
        seen.update(more)
    return frozenset(name for name, times in counted.items() if times > 1)


def read_below(select: ast.Select, name: ast.Name, views: Mapping[str, View]) -> tuple[int, int]:
    """How many relations a view reads, and how many views stand over each other in it.

    QueryError where that is more than can be bound. name: of the view.
    """
    named = [views.get(each.lower()) for each in read_names(select)]
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


def read_names(node: object) -> Iterator[str]:
    """Of all that FROM reads, also as the table of a window function; as they are written."""
    if isinstance(node, ast.From | ast.WindowCall):
        source = node.source if isinstance(node, ast.From) else _table(node)
        if isinstance(source, ast.Name) and not isinstance(source, ast.File | ast.Inline):
            yield source.text
    yield from (name for each in _inner(node) for name in read_names(each))


def made_names(node: object) -> Iterator[str]:
    """Of the streams, views and common table expressions that are made in it."""
    if isinstance(node, ast.CreateStream | ast.CreateView):
        yield node.name.text
    if isinstance(node, ast.Select):
        yield from (name.text for name, _ in node.ctes)
    yield from (name for each in _inner(node) for name in made_names(each))


def _table(call: ast.WindowCall) -> object:
    named = ((each.label or "data").lower() for each in call.arguments)
    tables = (a.value for name, a in zip(named, call.arguments, strict=True) if name == "data")
    return next(tables, None)


def _inner(node: object) -> list[object]:
    if is_dataclass(node) and not isinstance(node, type):
        return [getattr(node, field.name) for field in fields(node)]
    return list(node) if isinstance(node, tuple) else []
