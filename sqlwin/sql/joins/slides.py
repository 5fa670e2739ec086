"""Windows of a join that advance by steps: `a [RANGE 10 SECONDS SLIDE 5 SECONDS]`.

Such a window stands still from one slide to the next: a row is there from the first slide after
it, its *entry*, to the first slide after it and the window's length. Two rows match iff there is
an instant at which both are there. With `a [RANGE q]` and `b [RANGE r SLIDE s]`, and `next(t)`
the first multiple of s after t, that is

    next(b.ts) <= a.ts + q    and    a.ts < next(b.ts + r)

Bounds of the two event times that follow from it say what is kept and looked at; the condition
itself is tested of pairs. Worked example, r = 10, s = 5: a row of 12 is there from 15 to 25.

Windows in ROWS do so in message numbers: `a [ROWS 4 SLIDE 2]` holds at number m, a multiple of 2,
the rows m - 3 to m. Both bounds and the condition are then a `SteppedWindow`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.instants import format_duration
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.scalars import Expr, column
from sqlwin.sql.windows.window import Window
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.group import Hop
from sqlwin.windows.joins import Steps

if TYPE_CHECKING:
    from sqlwin.sql.joins.inputs import Input

LEGAL = "[RANGE 10 SECONDS SLIDE 5 SECONDS]"


@dataclass(frozen=True)
class Slides:
    """Of a window that moves at multiples of `slide`, microseconds, or messages in ROWS."""

    frame: Frame
    slide: int

    @property
    def unit(self) -> Unit:
        return self.frame.unit

    @property
    def words(self) -> str:
        """How much that is."""
        if self.unit is Unit.RANGE:
            return format_duration(self.slide)
        return f"{self.slide} message{'s' * (self.slide > 1)}"


def slides(window: Window) -> Slides | None:
    """None for a window of another kind."""
    hop = window.group
    if not isinstance(hop, Hop):
        return None
    before = hop.size - 1 if hop.unit is Unit.ROWS else hop.size
    return Slides(Frame(hop.unit, before), hop.advance)


def refuse_more(slide: Slides, span: Span) -> None:
    message = (
        f"a window that advances by {slide.words} joins two inputs, and static tables after them"
    )
    raise QueryError(message, span, legal=f"a window without SLIDE; {LEGAL} of two inputs")


def refuse_untimed(inputs: Sequence[Input]) -> None:
    for each in inputs:
        if each.ts is None:
            message = f"a window that advances goes by event time, which {each.side.name} lacks"
            raise QueryError(message, each.span, legal="its event-time column in the select list")


def steps(own: Input) -> Steps:
    """Of a window in ROWS, or of none."""
    before = _last(own)
    return Steps(None if before is None else before + 1, own.slide or 1)


def stays(own: Input, other: Input) -> tuple[int, Expr] | None:
    """How much later a row of the other may be, and the condition that it enters while the row
    of `own` is there; None: that is there for ever.

    It is there for its length and at most a slide more.
    """
    length = _last(own)
    if length is None:
        return None
    compared = exp.LTE if own.slide is None else exp.LT
    return length + (own.slide or 0), compared(this=_at(other, 0), expression=_at(own, length))


def _last(each: Input) -> int | None:
    return None if each.frame is None else each.frame.preceding


def _at(each: Input, after: int) -> Expr:
    """In microseconds: the event time and so much, or the first slide after it."""
    assert each.ts is not None
    tree: Expr = exp.Anonymous(this="UNIX_MICROS", expressions=[column(each.ts)])
    if after:
        tree = exp.paren(exp.Add(this=tree, expression=exp.Literal.number(after)))
    if each.slide is None:
        return tree
    step = exp.Literal.number(each.slide)
    rest = exp.Anonymous(this="PMOD", expressions=[tree.copy(), step.copy()])
    return exp.Add(this=exp.Sub(this=tree, expression=rest), expression=step)
