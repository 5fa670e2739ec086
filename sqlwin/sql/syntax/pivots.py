"""What stands in the brackets of PIVOT, cut: aggregates, the column behind FOR, its values. And in
those of UNPIVOT: what is made, and the columns that it is made of.

>>> from sqlwin.errors import Span
>>> text = "SUM(value) AS total FOR product IN ('tea', 'milk' AS white)"
>>> made = turned([ast.Run(text, text, Span(1, 1))], Span(1, 1))
>>> made.calls[0].text, made.column.text, [value.text for value in made.values]
('SUM(value) AS total', 'product', ["'tea'", "'milk' AS white"])
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import outside
from sqlwin.sql.text.prepared import unquoted
from sqlwin.sql.text.runs import bracketed, part, parts

LEGAL = "PIVOT (SUM(value) FOR product IN ('tea', 'milk' AS white))"


_LABEL = re.compile(r"""\s+(?:AS\s+)?((?<!\w)'(?:[^'\\]|\\.|'')*'|`[^`]+`|[^\W\d]\w*)\s*\Z""", re.I)
LONG = "UNPIVOT (amount FOR kind IN (net, tax AS 'vat'))"


@dataclass(frozen=True)
class Turned:
    """A PIVOT without what it is of."""

    calls: tuple[ast.Run, ...]
    column: ast.Run
    values: tuple[ast.Run, ...]
    span: Span

    def of(self, source: ast.From) -> ast.Pivot:
        return ast.Pivot(source, self.calls, self.column, self.values, self.span)


def turned(runs: Sequence[ast.Run], span: Span) -> Turned:
    """QueryError where it lacks FOR and IN, or a list of values."""
    *calls, last = runs
    before, column, values = _cut(last, "PIVOT needs FOR a column IN its values", span, LEGAL)
    if not values:
        raise QueryError("PIVOT lists the values that become columns", last.span, legal=LEGAL)
    return Turned((*calls, before), column, values, span)


@dataclass(frozen=True)
class Lengthened:
    """An UNPIVOT without what it is of."""

    values: tuple[ast.Name, ...]
    name: ast.Name
    columns: tuple[tuple[tuple[ast.Run, ...], str], ...]
    nulls: bool
    span: Span

    def of(self, source: ast.From) -> ast.Unpivot:
        return ast.Unpivot(source, self.values, self.name, self.columns, self.nulls, self.span)


def lengthened(runs: Sequence[ast.Run], span: Span, nulls: bool) -> Lengthened:
    """QueryError where it lacks FOR and IN, or names."""
    message = "UNPIVOT needs values FOR a name IN the columns that they are of"
    before, name, listed = _cut(runs[-1], message, span, LONG)
    values = _columns(before)
    columns = tuple(_labelled(run) for run in listed)
    if len(runs) > 1 or not columns:
        raise QueryError(message, span, legal=LONG)
    for part_, (given, _) in zip(listed, columns, strict=True):
        if len(given) != len(values):
            many = f"{len(values)} column{'s' * (len(values) > 1)}"
            raise QueryError(f"UNPIVOT takes {many} here at a time", part_.span, legal=LONG)
    names = tuple(ast.Name(parsed(run).name, run.span) for run in values)
    return Lengthened(names, ast.Name(parsed(name).name, name.span), columns, nulls, span)


def _labelled(run: ast.Run) -> tuple[tuple[ast.Run, ...], str]:
    """Columns, and what they are called: an alias, a text, or their names as in Spark."""
    found = _LABEL.search(run.text)
    given = _columns(run if found is None else part(run, 0, found.start()))
    if found is None:
        return given, "_".join(parsed(each).name for each in given)
    return given, unquoted(found[1])


def _columns(run: ast.Run) -> tuple[ast.Run, ...]:
    """Those of a list in brackets, or one."""
    inner = bracketed(run)
    columns = (run,) if inner is None else tuple(parts(inner))
    for each in columns:
        if not each.text or not isinstance(parsed(each), exp.Column):
            raise QueryError("UNPIVOT is of columns", each.span, legal=LONG)
    return columns


def _cut(
    run: ast.Run, message: str, span: Span, legal: str
) -> tuple[ast.Run, ast.Run, tuple[ast.Run, ...]]:
    """What stands before FOR, between it and IN, and the parts of the list behind IN."""
    words = [(at, token.upper()) for at, token in outside(run.text)]
    begins = next((at for at, word in words if word == "FOR"), None)
    listed = next((at for at, word in words if word == "IN" and at > (begins or 0)), None)
    if begins is None or listed is None:
        raise QueryError(message, span, legal=legal)
    inside = bracketed(run, listed + len("IN"))
    values = () if inside is None else tuple(parts(inside))
    return part(run, 0, begins), part(run, begins + len("FOR"), listed), values
