"""Bounds of time in a join's condition: how near two event times must lie.

Any comparison of the two, with durations added on either side, says how far the right
one may be from the left one; a strict one is closer by a microsecond.

>>> from sqlwin.sql.expressions.scalars import column
>>> a, b = column("a"), column("b")
>>> hour = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("HOUR"))
>>> near(exp.LT(this=exp.Sub(this=a, expression=hour), expression=b), ("a",), ("b",))
Near(left='a', right='b', low=-3599999999, high=None)
>>> compared(a >= b, ("a",), ("b",))
Compared(left='a', right='b', op='<=', by=0)
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from sqlwin.durations import micros
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.scalars import Expr

_OPS: dict[type[Expr], str] = {
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.EQ: "=",
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
Terms = tuple[dict[str, int], int]
"""How often each column stands in a sum, and microseconds beside them."""


@dataclass(frozen=True)
class Near:
    """`low <= right - left <= high` of two columns, microseconds; None: no bound."""

    left: str
    right: str
    low: int | None
    high: int | None


@dataclass(frozen=True)
class Compared:
    """`right - left op by`, microseconds."""

    left: str
    right: str
    op: str
    by: int


def near(tree: Expr, lefts: Collection[str], rights: Collection[str]) -> Near | None:
    """What a condition says of an event time of `lefts` and one of `rights`; None: nothing."""
    tree = tree.unnest()
    if isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
        ends = (
            exp.GTE(this=tree.this, expression=tree.args["low"]),
            exp.LTE(this=tree.this, expression=tree.args["high"]),
        )
        one, other = (near(end, lefts, rights) for end in ends)
        return None if one is None or other is None else _both(one, other)
    found = compared(tree, lefts, rights)
    if found is None:
        return None
    low = {">": found.by + 1, ">=": found.by, "=": found.by}.get(found.op)
    high = {"<": found.by - 1, "<=": found.by, "=": found.by}.get(found.op)
    return Near(found.left, found.right, low, high)


def compared(tree: Expr, lefts: Collection[str], rights: Collection[str]) -> Compared | None:
    """A comparison of two event times; None for any other expression."""
    tree = tree.unnest()
    op = _OPS.get(type(tree))
    if op is None:
        return None
    sides = [_terms(side, (*lefts, *rights)) for side in (tree.this, tree.expression)]
    if sides[0] is None or sides[1] is None:
        return None
    counted, constant = _sum(sides[0], sides[1], -1)
    signs = {name: count for name, count in counted.items() if count}
    left = next((name for name in signs if name in lefts), None)
    right = next((name for name in signs if name in rights), None)
    if left is None or right is None or sorted(signs.values()) != [-1, 1]:
        return None
    if signs[right] == 1:
        return Compared(left, right, op, -constant)
    return Compared(left, right, _MIRRORED[op], constant)


def _both(one: Near, other: Near) -> Near | None:
    """Where both hold, if they are of the same columns."""
    if (one.left, one.right) != (other.left, other.right):
        return None
    return Near(one.left, one.right, greatest(one.low, other.low), least(one.high, other.high))


def greatest(one: int | None, other: int | None) -> int | None:
    """Of two lower bounds, the one that says more."""
    return max((bound for bound in (one, other) if bound is not None), default=None)


def least(one: int | None, other: int | None) -> int | None:
    """Of two upper bounds, the one that says more."""
    return min((bound for bound in (one, other) if bound is not None), default=None)


# --- sums of times and durations ------------------------------------------------------


def _terms(tree: Expr, times: Collection[str]) -> Terms | None:
    tree = tree.unnest()
    if isinstance(tree, exp.Column):
        return ({tree.name: 1}, 0) if tree.name in times else None
    if isinstance(tree, exp.Add | exp.Sub):
        left, right = _terms(tree.this, times), _terms(tree.expression, times)
        if left is None or right is None:
            return None
        return _sum(left, right, 1 if isinstance(tree, exp.Add) else -1)
    length = _length(tree)
    return None if length is None else ({}, length)


def _sum(left: Terms, right: Terms, sign: int) -> Terms:
    names = dict.fromkeys((*left[0], *right[0]))
    counted = {name: left[0].get(name, 0) + sign * right[0].get(name, 0) for name in names}
    return counted, left[1] + sign * right[1]


def _length(tree: Expr) -> int | None:
    """Microseconds of an INTERVAL; None for one of months, and for anything else."""
    if isinstance(tree, exp.Neg):
        inner = _length(tree.this.unnest())
        return None if inner is None else -inner
    if isinstance(tree, exp.Mul):
        sides = (tree.this.unnest(), tree.expression.unnest())
        times = next(
            (side for side in sides if isinstance(side, exp.Literal) and side.is_int), None
        )
        length = next((found for found in map(_length, sides) if found is not None), None)
        return None if times is None or length is None else int(times.name) * length
    if not isinstance(tree, exp.Interval) or not isinstance(tree.this, exp.Literal):
        return None
    unit = tree.args.get("unit")
    if unit is not None and not isinstance(unit, exp.Var):
        return None
    try:
        return micros(tree.this.name, None if unit is None else unit.name)
    except ValueError:
        return None
