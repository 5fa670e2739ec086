"""How many ranks a query asks for, from the filter above: `rn <= 3`, `rn = 1`.

The bound may stand far from the rank, in QUALIFY or in the WHERE of a query around
it, so that a rank waits as an `OpenTop` until the filters above it are known. Where they have none,
all rows are ranked: the rank is a value over frames that hold whole partitions.

>>> rank = exp.Column(this=exp.Identifier(this="rn", quoted=True))
>>> limit, rest = bounded(exp.and_(rank <= 3, exp.column("a") > 1), "rn")
>>> limit, rest.sql()
(3, 'a > 1')
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import OverAggregate, TopN
from sqlwin.schema import Schema
from sqlwin.sql.expressions.scalars import Expr
from sqlwin.sql.expressions.trees import copied

if TYPE_CHECKING:
    from sqlwin.sql.relations.relation import Relation

_MIRRORED = {exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE, exp.EQ: exp.EQ}
Interval = tuple[int, int | None]
"""Least and greatest, both inclusive; None: no greatest."""


@dataclass(frozen=True)
class OpenTop:
    """A TopN whose limit is not known yet. span: where the rank stands. ranked: what it ranks.
    unbounded: the operator that ranks all rows, and the rank as an expression over its columns.
    """

    top: TopN
    span: Span
    ranked: Relation
    unbounded: tuple[OverAggregate, Expr]

    @property
    def schema(self) -> Schema:
        return self.top.schema

    def closed(self, predicate: Expr | None) -> tuple[TopN, Expr | None] | None:
        """With its limit, and what of the filter is left to do; None where that has no bound."""
        found = None if predicate is None else bounded(predicate, self.top.name)
        if found is None:
            return None
        limit, rest = found
        if limit < 1:
            message = f"no row has a rank of {limit} or less"
            raise QueryError(message, self.span, legal="a bound of 1 or more")
        return replace(self.top, limit=limit), rest


def bounded(predicate: Expr, rank: str) -> tuple[int, Expr | None] | None:
    """The greatest rank that passes, and what of the filter that does not say already."""
    parts = [(part, _interval(part, rank)) for part in conjuncts(predicate)]
    ends = [interval[1] for _, interval in parts if interval and interval[1] is not None]
    if not ends:
        return None
    limit = min(ends)
    rest = [copied(part) for part, interval in parts if not _implied(interval, limit)]
    return limit, exp.and_(*rest) if rest else None


def conjuncts(tree: Expr) -> Iterator[Expr]:
    """What must all be true, in the order of the text."""
    if isinstance(tree, exp.Paren):
        yield from conjuncts(tree.this)
    elif isinstance(tree, exp.And):
        yield from conjuncts(tree.left)
        yield from conjuncts(tree.right)
    else:
        yield tree


def _implied(interval: Interval | None, limit: int) -> bool:
    """Whether all ranks from 1 to `limit` pass."""
    if interval is None:
        return False
    least, greatest = interval
    return least <= 1 and (greatest is None or greatest >= limit)


def _interval(part: Expr, rank: str) -> Interval | None:
    """The ranks that a comparison with whole numbers lets pass, None for anything else."""
    if isinstance(part, exp.Between) and _is_rank(part.this, rank):
        low, high = _whole(part.args["low"]), _whole(part.args["high"])
        return None if low is None or high is None else (low, high)
    kind = type(part)
    if kind not in _MIRRORED:
        return None
    left, right = part.this, part.expression
    if not _is_rank(left, rank):
        left, right, kind = right, left, _MIRRORED[kind]
    number = _whole(right)
    if not _is_rank(left, rank) or number is None:
        return None
    return {
        exp.LT: (1, number - 1),
        exp.LTE: (1, number),
        exp.EQ: (number, number),
        exp.GT: (number + 1, None),
        exp.GTE: (number, None),
    }[kind]


def _is_rank(tree: Expr, rank: str) -> bool:
    tree = tree.unnest()
    return isinstance(tree, exp.Column) and tree.name == rank


def _whole(tree: Expr) -> int | None:
    tree = tree.unnest()
    if isinstance(tree, exp.Neg):
        inner = _whole(tree.this)
        return None if inner is None else -inner
    return int(tree.name) if isinstance(tree, exp.Literal) and tree.is_int else None
