"""Arithmetic of constants where a number is wanted: `LAG(v, 1 + 1)`, `NTILE(2 * 2)`.

>>> import sqlglot
>>> [number_of(sqlglot.parse_one(text)) for text in ("2 * (1 + 1)", "-(0.5 - 0.25)", "v + 1", "7")]
[Decimal('4'), Decimal('-0.25'), None, None]
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from sqlglot import exp

_OPERATORS: dict[type[exp.Expr], Callable[[Decimal, Decimal], Decimal]] = {
    exp.Add: Decimal.__add__,
    exp.Sub: Decimal.__sub__,
    exp.Mul: Decimal.__mul__,
}


def number_of(tree: exp.Expr) -> Decimal | None:
    """What a sum, a difference or a product of numbers is; None for anything else, and for a number
    by itself."""
    bare = tree.unnest()
    inner = bare.this.unnest() if isinstance(bare, exp.Neg) else bare
    return None if isinstance(inner, exp.Literal) and bare is tree else _value(bare)


def _value(tree: exp.Expr) -> Decimal | None:
    tree = tree.unnest()
    if isinstance(tree, exp.Neg):
        value = _value(tree.this)
        return None if value is None else -value
    if isinstance(tree, exp.Literal) and not tree.is_string:
        return _written(tree.name)
    operator = _OPERATORS.get(type(tree))
    if operator is None:
        return None
    left, right = _value(tree.this), _value(tree.expression)
    return None if left is None or right is None else operator(left, right)


def _written(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:  # it has a suffix of its type
        return None
