"""Where nodes of an expression stand in its text, and what functions are called there."""

from __future__ import annotations

import re

from sqlglot import exp

from sqlwin.errors import Span
from sqlwin.sql.text import ast


def place(node: exp.Expr, run: ast.Run) -> Span:
    """Where a node stands in the text; the whole run where that is not known."""
    marks = [n.meta for n in node.walk() if "start" in n.meta]
    if not marks:
        return run.span
    start, end = min(m["start"] for m in marks), max(m["end"] for m in marks)
    return run.at(start, end + 1)


def word(node: exp.Expr, run: ast.Run) -> Span:
    """Where the node's own name stands, such as a function's."""
    found = word_range(node, run)
    return run.at(*found) if found else place(node, run)


def word_range(node: exp.Expr, run: ast.Run) -> tuple[int, int] | None:
    """Characters of the node's name. sqlglot forgets some; those stand before a bracket."""
    if "start" in node.meta:
        return node.meta["start"], node.meta["end"] + 1
    inner = min((n.meta["start"] for n in node.walk() if "start" in n.meta), default=None)
    if inner is None and isinstance(node, exp.Func):  # called without brackets
        bare = re.search(rf"\b{node.sql_name()}\b", run.original, re.I)
        return bare.span() if bare else None
    opened = -1 if inner is None else run.original.rfind("(", 0, inner)
    if opened < 0 or ")" in run.original[opened:inner]:
        return None
    name = re.search(r"\w*\Z", before := run.original[:opened].rstrip())
    return name.span() if name and name[0] and before else None


def function_names(node: exp.Expr) -> tuple[str, ...]:
    """Every name of a function, lower case, none for what is no function."""
    if isinstance(node, exp.Anonymous):
        return (node.name.lower(),)
    if isinstance(node, exp.Any) and isinstance(node.this, exp.Paren) and not _compares(node):
        return ("any",)
    if isinstance(node, exp.Func) and not isinstance(node, exp.Connector | exp.Cast | exp.Case):
        return tuple(name.lower() for name in node.sql_names())
    return ()


def _compares(node: exp.Expr) -> bool:
    """`s LIKE ANY ('a')`, and not the aggregate."""
    parent = node.parent
    return isinstance(parent, exp.Binary) and parent.expression is node


def written_name(node: exp.Expr, run: ast.Run) -> str:
    """As in the text where its place is known, else the function's first name."""
    found = word_range(node, run)
    return run.original[slice(*found)].upper() if found else function_names(node)[0].upper()
