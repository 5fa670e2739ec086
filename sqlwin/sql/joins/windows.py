"""The window of a join: of its inputs' windows, and of WITHIN.

At the later of two rows each must lie in its own stream's window, so the window of the
left one says how far the right one may be ahead, and that of the right one how far it may
be behind.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.instants import format_duration
from sqlwin.sql.expressions.scalars import Expr, column
from sqlwin.sql.joins.inputs import Input
from sqlwin.sql.joins.sessions import refuse
from sqlwin.sql.joins.slides import refuse_untimed, stays, steps
from sqlwin.sql.joins.spans import longest, refuse_nearest
from sqlwin.sql.joins.time_bounds import Near, greatest, least
from sqlwin.sql.joins.tree import Leaf, Pair, Term, absent
from sqlwin.sql.text import ast
from sqlwin.windows import Unit
from sqlwin.windows.joins import SteppedWindow


def windowed(pair: Pair, within: ast.Within | None) -> None:
    right = pair.right.input
    if right.last is not None:
        return
    if pair.op is not None or right.static:
        _refuse(pair)
        return
    if right.session is not None or pair.sessions:
        refuse(pair, within)
        return
    lefts = [leaf.input for leaf in pair.left.leaves]
    frames = [each.frame for each in (*lefts, right) if each.frame is not None]
    pair.unit = Unit.ROWS if any(frame.unit is Unit.ROWS for frame in frames) else Unit.RANGE
    if right.frame is not None and right.frame.preceding is not None:
        pair.low = -right.frame.preceding
    _of_lefts(pair, lefts)
    _slid(pair)
    if within is not None:
        _within(pair, within)


def _of_lefts(pair: Pair, lefts: Sequence[Input]) -> None:
    """How far the right row may be ahead of the left one."""
    if isinstance(pair.left, Leaf) or pair.spans:
        pair.high = longest(pair.left)
        return
    for left in lefts:
        if left.frame is not None and left.frame.preceding is not None:
            _ahead(pair, left, left.frame.preceding)


def _slid(pair: Pair) -> None:
    """Of windows that advance by steps: bounds as wide as they need, and their conditions."""
    left, right = pair.left.leaves[0].input, pair.right.input
    if left.slide is None and right.slide is None:
        return
    if pair.unit is Unit.ROWS:
        pair.stepped = SteppedWindow.of(steps(left), steps(right))
        return
    refuse_untimed((left, right))
    for own, other in ((left, right), (right, left)):
        found = stays(own, other)
        if found is None:
            continue
        if own is left:
            pair.high = found[0]
        else:
            pair.low = -found[0]
        run = ast.Run("", "", own.span)
        pair.residual.append(Term(found[1], run, own.span))


def _refuse(pair: Pair) -> None:
    """An ASOF join goes back however far, and a table has no time: a stream's window lets every row
    of it pair as it comes, and a session needs two streams."""
    if pair.op is not None:
        refuse_nearest(pair)
    inputs = [pair.right.input, *([pair.left.input] if isinstance(pair.left, Leaf) else [])]
    for each in inputs:
        passes = pair.right.input.static and each.session is None
        if not passes and (each.frame is not None or each.session is not None):
            nearest = "an ASOF join takes the nearest row, however far"
            message = "a static table has no time" if pair.right.input.static else nearest
            raise QueryError(f"{message}: no window here", each.span, legal="no OVER (…)")


def _ahead(pair: Pair, left: Input, most: int) -> None:
    """Of a stream in a join on the left: how far the right row may be ahead of its row.

    A row that is absent lets it be anywhere.
    """
    right = pair.right.input
    if left.ts is None or right.ts is None:
        without = left if left.ts is None else right
        message = f"the window of {left.side.name} needs the event time of {without.side.name}"
        raise QueryError(message, without.span, legal="its event-time column in the select list")
    length = exp.Interval(this=exp.Literal.string(format_duration(most)))
    tree: Expr = exp.LTE(
        this=column(right.ts), expression=exp.Add(this=column(left.ts), expression=length)
    )
    run = ast.Run("", "", left.span)
    if left.ts in absent(pair.left):
        nothing = exp.Is(this=column(left.ts), expression=exp.Null())
        pair.residual.append(Term(exp.or_(nothing, tree), run, left.span))
        return
    pair.times.append((Near(left.ts, right.ts, None, most), Term(tree, run, left.span)))


def _within(pair: Pair, within: ast.Within) -> None:
    if pair.unit is Unit.ROWS:
        message = "WITHIN is a length of time, and a window of this join counts messages"
        raise QueryError(message, within.span, legal="WITHIN alone, or windows in ROWS alone")
    for each in (within.before, within.after):
        if each.micros < 0:
            raise QueryError("WITHIN takes durations of at least 0", each.span, legal="0 SECONDS")
    pair.low = greatest(pair.low, -within.before.micros)
    pair.high = least(pair.high, within.after.micros)
    pair.grace = within.grace
