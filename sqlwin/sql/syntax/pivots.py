"""What stands in the brackets of PIVOT, cut: aggregates, the column behind FOR, its values.

>>> from sqlwin.errors import Span
>>> text = "SUM(value) AS total FOR product IN ('tea', 'milk' AS white)"
>>> made = turned([ast.Run(text, text, Span(1, 1))], Span(1, 1))
>>> made.calls[0].text, made.column.text, [value.text for value in made.values]
('SUM(value) AS total', 'product', ["'tea'", "'milk' AS white"])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlwin.errors import QueryError, Span
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import outside
from sqlwin.sql.text.runs import bracketed, part, parts

LEGAL = "PIVOT (SUM(value) FOR product IN ('tea', 'milk' AS white))"


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
    words = [(at, token.upper()) for at, token in outside(last.text)]
    begins = next((at for at, word in words if word == "FOR"), None)
    listed = next((at for at, word in words if word == "IN" and at > (begins or 0)), None)
    if begins is None or listed is None:
        raise QueryError("PIVOT needs FOR a column IN its values", span, legal=LEGAL)
    inside = bracketed(last, listed + len("IN"))
    values = () if inside is None else tuple(parts(inside))
    if not values:
        raise QueryError("PIVOT lists the values that become columns", last.span, legal=LEGAL)
    column = part(last, begins + len("FOR"), listed)
    return Turned((*calls, part(last, 0, begins)), column, values, span)
