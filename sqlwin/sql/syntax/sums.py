"""Arithmetic of durations and counts, as a bound of a frame may be: `INTERVAL '1' MINUTE * 5`.

It is computed as it is read, so no plan knows of it. Counts and durations are added to their like;
a duration is multiplied and divided by a count.

>>> from sqlwin.errors import Span
>>> at = Span(1, 1)
>>> summed([ast.Count(2, at), "+", ast.Count(3, at), "*", ast.Count(4, at)], at).rows
14
>>> summed([ast.Duration(60, at), "/", ast.Count(4, at)], at).micros
15
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlwin.errors import QueryError, Span
from sqlwin.sql.text import ast

LEGAL = "ROWS 2 + 1 PRECEDING, RANGE INTERVAL '1' MINUTE * 5 PRECEDING"
Part = ast.Duration | ast.Count | str


def summed(parts: Sequence[Part], span: Span) -> ast.Amount:
    """Operands with the operators between them; `*` and `/` bind more than `+` and `-`."""
    if len(parts) == 1:
        assert not isinstance(parts[0], str)
        return parts[0]
    for level in ("+-", "*/"):
        at = [n for n in range(1, len(parts), 2) if str(parts[n]) in level]
        if at:
            sides = summed(parts[: at[-1]], span), summed(parts[at[-1] + 1 :], span)
            return _computed(str(parts[at[-1]]), *sides, span)
    raise QueryError("a bound is a sum, a difference, a product or a quotient", span, legal=LEGAL)


def _computed(operator: str, left: ast.Amount, right: ast.Amount, span: Span) -> ast.Amount:
    timed = (isinstance(left, ast.Duration), isinstance(right, ast.Duration))
    if timed[0] == timed[1] and operator in _ALIKE:
        return _made(_ALIKE[operator](_size(left), _size(right)), timed[0], span)
    if operator == "*" and timed != (True, True):
        return _made(_size(left) * _size(right), any(timed), span)
    if operator == "/" and timed == (True, False) and _size(right):
        micros, rest = divmod(_size(left), _size(right))
        if not rest:
            return ast.Duration(micros, span)
        raise QueryError("this duration is no whole number of microseconds", span, legal=LEGAL)
    words = [
        "a duration" if isinstance(side, ast.Duration) else "a count" for side in (left, right)
    ]
    message = f"{words[0]} {operator} {words[1]} is no bound"
    raise QueryError(message, span, legal=LEGAL)


_ALIKE: dict[str, Callable[[int, int], int]] = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
}


def _size(amount: ast.Amount) -> int:
    return amount.micros if isinstance(amount, ast.Duration) else amount.rows


def _made(size: int, timed: bool, span: Span) -> ast.Amount:
    return ast.Duration(size, span) if timed else ast.Count(size, span)
