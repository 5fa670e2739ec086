"""An expression's tree held against the tables of what it may be made of, see `allowed`.

>>> import sqlglot
>>> from sqlwin.sql.dialect import SqlwinSpark
>>> def look(text):
...     found = refused(sqlglot.parse_one(text, read=SqlwinSpark))
...     return None if found is None else found.message
>>> look("UPPER(a) || 'x'")
>>> look("UPER(a)")
'no function is called uper; did you mean upper?'
>>> look("getvariable('x')")
'getvariable depends on more than the row, and cannot stand in an expression'

What nothing bounds when the query runs is bounded here: widths of formats, and sizes within
a lambda, which is computed for each element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from sqlwin.names import nearest
from sqlwin.sql.allowed import (
    CHANGING,
    CHANGING_NAMES,
    FUNCTIONS,
    NAMED,
    NAMES,
    NODES,
    SESSION,
    SESSION_NAMES,
)

Expr = exp.Expr

_CONSTANT = 1000
"""The greatest size that a text may be made to within a lambda."""
_SIZES: dict[type[Expr], str] = {
    exp.Pad: "expression",
    exp.Repeat: "times",
    exp.Space: "this",
    exp.Replace: "replacement",
    exp.RegexpReplace: "replacement",
}
"""Which argument says how long a text is made."""
_WIDTH = re.compile(r"\d{4}|\*")


@dataclass(frozen=True)
class Refusal:
    """Of a node of an expression."""

    node: Expr
    message: str
    legal: str = ""


def refused(tree: Expr) -> Refusal | None:
    """The first node that may not be there, and why; None where all may."""
    return next((found for node in tree.walk() for found in _refusals(node)), None)


def changing(node: Expr) -> bool:
    """Whether it gives another value each time."""
    if isinstance(node, CHANGING):
        return True
    name = node.name if isinstance(node, exp.Anonymous) else ""
    name = node.sql_name() if isinstance(node, exp.Func) and not name else name
    return name.lower() in CHANGING_NAMES


def _refusals(node: Expr) -> Iterator[Refusal]:
    called = _called(node)
    if called is not None:
        yield Refusal(node, called)
    yield from _unbounded(node)


def _called(node: Expr) -> str | None:
    """What is wrong with the node itself."""
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        return None if name in NAMED else _unknown(name)
    if type(node) in FUNCTIONS or type(node) in NODES:
        return None
    if isinstance(node, exp.Func):
        return _unknown(node.sql_name().lower(), type(node) in SESSION)
    if isinstance(node, exp.Query | exp.Table | exp.From):
        return "a query inside an expression is not supported yet"
    return f"{type(node).__name__} cannot stand in an expression"


def _unknown(name: str, session: bool = False) -> str:
    if session or name in SESSION_NAMES:
        return f"{name} depends on more than the row, and cannot stand in an expression"
    return f"no function is called {name}{nearest(name, sorted(NAMES))}"


def _unbounded(node: Expr) -> Iterator[Refusal]:
    """Sizes that nothing bounds when the query runs are bounded here."""
    if _formats(node) and not _narrow(node):
        message = "a format is a constant, with widths of at most three digits"
        yield Refusal(node, message, "FORMAT_STRING('%5d', n)")
    if node.find_ancestor(exp.Lambda) is None:
        return
    size: Expr | None = node.args.get(_SIZES.get(type(node), ""))
    if size is not None and not (isinstance(size, exp.Literal) and _small(size)):
        message = f"within a lambda a text is made to a constant size, at most {_CONSTANT}"
        yield Refusal(node, message, "LPAD(x, 10, '0')")
    if isinstance(node, exp.GenerateSeries | exp.Reduce):
        name = "SEQUENCE" if isinstance(node, exp.GenerateSeries) else "REDUCE"
        yield Refusal(node, f"{name} within a lambda is not supported yet", "a column of a view")
    if isinstance(node, exp.Lambda) and _over_a_column(node):
        message = "a lambda within a lambda goes over what the outer one names, not a column"
        yield Refusal(node, message, "TRANSFORM(a, x -> TRANSFORM(x, y -> y + 1))")


def _formats(node: Expr) -> bool:
    named = isinstance(node, exp.Anonymous) and node.name.lower() == "printf"
    return named or isinstance(node, exp.Format)


def _narrow(node: Expr) -> bool:
    given = next(iter(node.expressions), None) if isinstance(node, exp.Anonymous) else node.this
    return isinstance(given, exp.Literal) and given.is_string and not _WIDTH.search(given.name)


def _small(size: exp.Literal) -> bool:
    return len(size.name) <= _CONSTANT if size.is_string else float(size.name) <= _CONSTANT


def _over_a_column(node: exp.Lambda) -> bool:
    call = node.parent
    return call is not None and isinstance(call.this, Expr) and bool(call.this.find(exp.Column))
