"""Joins while they are bound: a tree of inputs, left deep.

A join below another is a stage of its own, whose rows have one of their event times. Where its
conditions go: see `conditions`.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.joins import HALVES
from sqlwin.plan.properties.bounds import plus
from sqlwin.sql.expressions.scalars import Expr
from sqlwin.sql.joins.inputs import Input
from sqlwin.sql.joins.time_bounds import Near, greatest, least
from sqlwin.sql.text import ast
from sqlwin.windows import Unit
from sqlwin.windows.joins import SteppedWindow


@dataclass(frozen=True)
class Term:
    """A condition over the join's names, what it is a part of, and its place there."""

    tree: Expr
    run: ast.Run
    span: Span


@dataclass
class Leaf:
    input: Input
    filters: list[Term] = field(default_factory=list)

    @property
    def names(self) -> frozenset[str]:
        return self.input.names

    @property
    def leaves(self) -> list[Leaf]:
        return [self]

    @property
    def same(self) -> dict[str, str]:
        return dict(self.input.same)


@dataclass(frozen=True)
class NumberSpan:
    """The numbers at which all messages of a result are in their windows, by names of columns.
    last: None where no window ends."""

    first: str
    last: str | None

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.first,) if self.last is None else (self.first, self.last)


@dataclass
class Pair:
    """One join. op: of an ASOF join. low, high: of the right row's position, less the left's.

    stepped: of windows in ROWS that advance. times: bounds of two event times; the Term is what
    to test where the left one is not that of its row, None where a key says it already. above:
    what is left of WHERE. ts: the event time of left rows, once that is known; event_time: the one
    that an ASOF join compares. scalar: its right row is the value of a query in an
    expression. single: a left row that finds two right ones is an error. span: the columns in
    which the next join in ROWS finds the span of its results, once these are known.
    """

    left: Leaf | Pair
    right: Leaf
    kind: str
    word: ast.Name
    unit: Unit = Unit.RANGE
    op: str | None = None
    low: int | None = None
    high: int | None = None
    stepped: SteppedWindow | None = None
    grace: ast.Duration | None = None
    keys: list[tuple[Expr, Expr, ast.Run]] = field(default_factory=list)
    times: list[tuple[Near, Term | None]] = field(default_factory=list)
    residual: list[Term] = field(default_factory=list)
    above: list[Term] = field(default_factory=list)
    ts: str | None = None
    event_time: ast.Name | None = None
    scalar: bool = False
    single: bool = False
    span: NumberSpan | None = None

    @cached_property
    def names(self) -> frozenset[str]:
        return self.left.names | self.right.names

    @property
    def leaves(self) -> list[Leaf]:
        """Those whose columns are in the joined rows."""
        return [*self.left.leaves, *([] if self.kind in HALVES else [self.right])]

    @property
    def same(self) -> dict[str, str]:
        """Columns that are equal in the joined rows, each with the one that is never padded."""
        found = self.left.same | self.right.same
        for left, right, _ in self.keys:
            if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
                continue
            known = found.get(left.name, left.name)
            if self.kind == "right":
                alike = [name for name, one in found.items() if one == known]
                found |= dict.fromkeys((*alike, known), right.name)
            elif self.kind != "full":
                alike = [name for name, one in found.items() if one == right.name]
                found |= dict.fromkeys((*alike, right.name), known)
        return found

    @property
    def spans(self) -> bool:
        """Whether its left rows are results of a join in ROWS, with spans of numbers."""
        return self.unit is Unit.ROWS and isinstance(self.left, Pair)

    @property
    def sessions(self) -> bool:
        """Whether its rows match by their sessions, or those of one side."""
        if not isinstance(self.left, Leaf):
            return False
        return any(leaf.input.session is not None for leaf in (self.left, self.right))

    @property
    def stays(self) -> bool:
        """Whether its rows match while both are there."""
        return self.right.input.stay is not None

    @property
    def whole(self) -> bool:
        """Whether its windows are of all rows, those that a condition leaves out, too."""
        stays = (leaf.input.stay for leaf in (self.left, self.right) if isinstance(leaf, Leaf))
        return self.sessions or any(stay is not None and not stay.whole for stay in stays)

    def set_event_time(self, ts: str | None) -> None:
        """Take bounds of two event times into the window; QueryError where nothing is left.

        ts: the one of the left rows. Another may be before or after it, as far as the windows
        of the joins below let it.
        """
        self.ts = ts
        for bound, term in self.times:
            least_, most = (None, None) if ts is None else apart(self.left, bound.left, ts)
            self.low = greatest(self.low, plus(bound.low, least_))
            self.high = least(self.high, plus(bound.high, most))
            if bound.left != ts and term is not None:
                self.residual.append(term)
        self.times.clear()
        if self.low is not None and self.high is not None and self.low > self.high:
            message = "no pair of this join can match: its bounds leave no time between them"
            legal = "b.ts BETWEEN a.ts - INTERVAL '4' HOUR AND a.ts"
            raise QueryError(message, self.word.span, legal=legal)


Tree = Leaf | Pair
Range = tuple[int | None, int | None]


def apart(tree: Tree, name: str, ts: str) -> Range:
    """How much later an event time of a row is than `ts`, at least and at most."""
    if name == ts:
        return 0, 0
    if isinstance(tree, Leaf) or tree.ts is None:
        return None, None
    sides = name in tree.left.names, ts in tree.left.names
    if all(sides):
        return apart(tree.left, name, ts)
    if sides[1]:
        inner = apart(tree.left, tree.ts, ts)
        return plus(tree.low, inner[0]), plus(tree.high, inner[1])
    inner = apart(tree.left, name, tree.ts)
    back = (None if end is None else -end for end in (tree.high, tree.low))
    low, high = (plus(one, other) for one, other in zip(inner, back, strict=True))
    return low, high


def absent(tree: Tree) -> frozenset[str]:
    """The columns that are NULL where a row is padded."""
    if isinstance(tree, Leaf):
        return frozenset()
    null_padded = {"left": tree.right.names, "right": tree.left.names, "full": tree.names}
    return absent(tree.left) | null_padded.get(tree.kind, frozenset())
