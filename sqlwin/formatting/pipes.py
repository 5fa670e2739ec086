"""Where the lines of a pipe operator may end: each begins one, and its clauses where they must."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlwin.formatting.document import LINE, Doc, Group, Line, Nest
from sqlwin.sql.syntax.parsing.concrete import Branch, Leaf

if TYPE_CHECKING:
    from sqlwin.formatting.layout import Layout

_CLAUSES = ("group", "named_windows")


def pipe(layout: Layout, children: Sequence[Leaf | Branch], before: Line | str | None) -> Doc:
    sign, operator = children
    return [layout.of(sign, before), Nest(layout.of(operator, " "))]


def operator(layout: Layout, children: Sequence[Leaf | Branch], before: Line | str | None) -> Doc:
    """One with a list of columns, and maybe clauses behind it."""
    made: list[Doc] = []
    for at, each in enumerate(children):
        rule = each.rule if isinstance(each, Branch) else ""
        line = LINE if rule in _CLAUSES and at > 1 else " "
        doc = layout.of(each, line if at else before)
        made.append(Group(Nest(doc)) if rule == "columns" else doc)
    return Group(made)
