"""Joins in ROWS of more than two inputs: each hands the numbers of its messages to the next.

Messages p, q and r are together from the greatest of their numbers on, as long as each is in the
window of its stream. So a result of the first join has a *span* of numbers, and so has one of the
next, which begins later or at the same number and ends earlier or at the same one:

    first = GREATEST(first before, number)    last = LEAST(last before, number + preceding)

A row that is absent has NULL for its number, and both pass over it. Worked example: messages 3 of
`a [ROWS 4]` and 5 of `b [ROWS 2]` have the span 5 to 6, for the first leaves with 7 and so does the
second; message 6 of `c [ROWS 1]` is with them from 6 to 6, and message 4 of `c [ROWS 2]` at 5.

Invariant: no message changes its number, so a join below the last one retracts nothing. Results of
other queries may, so they are refused as inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.plan.ir.joins import HALVES
from sqlwin.plan.ir.nodes import Join
from sqlwin.sql.expressions.scalars import Expr, column
from sqlwin.sql.joins.inputs import Input
from sqlwin.sql.joins.time_bounds import greatest, least
from sqlwin.sql.joins.tree import Leaf, NumberSpan, Pair, Tree
from sqlwin.sql.relations.relation import NOWHERE, Relation
from sqlwin.windows import Unit
from sqlwin.windows.joins import SpannedWindow


def preceding(each: Input) -> int | None:
    """How many messages later one is still in the window of its stream; None: any."""
    return None if each.frame is None else each.frame.preceding


def longest(tree: Tree) -> int | None:
    """How much greater the last number of a span of `tree` is than its first, at most."""
    if isinstance(tree, Leaf):
        return preceding(tree.input)
    left, right = longest(tree.left), preceding(tree.right.input)
    if tree.kind == "inner":
        return least(left, right)
    if tree.kind == "full":
        return None if left is None or right is None else greatest(left, right)
    return right if tree.kind == "right" else left


def window(pair: Pair) -> SpannedWindow:
    assert isinstance(pair.left, Pair) and pair.left.span is not None
    span = pair.left.span
    return SpannedWindow(Unit.ROWS, pair.low, pair.high, span.first, span.last)


def numbered(join: Join, pair: Pair) -> Join:
    """The join with the numbers of its messages; those of a left result are in its span."""
    left = _free("_left_number", join) if isinstance(pair.left, Leaf) else None
    right = None if pair.kind in HALVES else _free("_right_number", join)
    return replace(join, numbers=(left, right))


def spanned(made: Relation, pair: Pair) -> Relation:
    """What a numbered join gives, with spans in place of the numbers."""
    join = made.base
    assert isinstance(join, Join)
    before = pair.left.span if isinstance(pair.left, Pair) else None
    firsts: list[Expr] = [] if before is None else [column(before.first)]
    lasts: list[Expr] = [] if before is None or before.last is None else [column(before.last)]
    for name, each in zip(join.numbers, (pair.left, pair.right), strict=True):
        if name is not None:
            assert isinstance(each, Leaf)
            firsts.append(column(name))
            lasts += _last(name, each.input)
    span = pair.span = NumberSpan(_free("_first", join), _free("_last", join) if lasts else None)
    hidden = {*join.numbers, *(before.columns if before else ())}
    columns = [each for each in made.columns if each[0] not in hidden]
    columns.append((span.first, _call(exp.Greatest, firsts), NOWHERE))
    if span.last is not None:
        columns.append((span.last, _call(exp.Least, lasts), NOWHERE))
    return replace(made, columns=tuple(columns))


def _last(name: str, each: Input) -> Iterator[Expr]:
    more = preceding(each)
    if more is not None:
        yield exp.Add(this=column(name), expression=exp.Literal.number(more))


def _call(of: type[exp.Greatest | exp.Least], trees: list[Expr]) -> Expr:
    return trees[0] if len(trees) == 1 else of(this=trees[0], expressions=trees[1:])


def _free(name: str, join: Join) -> str:
    while name in {each.name for each in join.pairs}:
        name += "_"
    return name


def refuse_nearest(pair: Pair) -> None:
    """QueryError for an ASOF join among joins in ROWS: before it, or behind it."""
    before = isinstance(pair.left, Pair) and pair.left.unit is Unit.ROWS
    frame = pair.right.input.frame
    if before or (frame is not None and frame.preceding is None):
        message = "a nearest row is looked up by event time, and pairs of windows in ROWS have none"
        raise QueryError(message, pair.word.span, legal="JOIN c [ROWS 3]; windows in RANGE")
