"""Joins while they are bound: a tree of inputs, left deep, and where each condition goes.

A condition goes as far down as every answer stays the same. `take` is for what holds of
joined rows (WHERE), `on` for what makes a pair:

    kind           WHERE of left   WHERE of right   ON of left   ON of right
    inner          down            down             down         down
    left           down            stays            pairs        down
    right          stays           down             down         pairs
    full           stays           stays            pairs        pairs
    semi           down            -                down         down
    anti           down            -                pairs        down

An equality of both sides becomes a key, a bound of both event times a part of the
window; in WHERE only of an inner join. Where sessions are joined all else stays, and is
tested of pairs: rows that it leaves out are of their sessions all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.plan.joins import HALVES
from sqlwin.sql import ast
from sqlwin.sql.join_inputs import Input
from sqlwin.sql.nearness import Near, greatest, least, near
from sqlwin.sql.scalars import Expr, inputs
from sqlwin.windows import Unit

LEGAL_ASOF = "ON a.id = b.id; a condition in WHERE, or a query in FROM that filters"


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
        return {}


@dataclass
class Pair:
    """One join. op: of an ASOF join. low, high: of the right row's position, less the left's.

    times: bounds of two event times; the Term is what to test where the left one is not the
    position of its row, None where a key says it already. above: what is left of WHERE.
    """

    left: Leaf | Pair
    right: Leaf
    kind: str
    word: ast.Name
    unit: Unit = Unit.RANGE
    op: str | None = None
    low: int | None = None
    high: int | None = None
    grace: ast.Duration | None = None
    keys: list[tuple[Expr, Expr, ast.Run]] = field(default_factory=list)
    times: list[tuple[Near, Term | None]] = field(default_factory=list)
    residual: list[Term] = field(default_factory=list)
    above: list[Term] = field(default_factory=list)

    @property
    def names(self) -> frozenset[str]:
        return self.left.names | self.right.names

    @property
    def leaves(self) -> list[Leaf]:
        """Those whose columns are in the joined rows."""
        return [*self.left.leaves, *([] if self.kind in HALVES else [self.right])]

    @property
    def same(self) -> dict[str, str]:
        """Columns that are equal in the joined rows, each with the one that is never padded."""
        found = self.left.same
        for left, right, _ in self.keys:
            if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
                continue
            known = found.get(left.name, left.name)
            if self.kind == "right":
                alike = [name for name, one in found.items() if one == known]
                found |= dict.fromkeys((*alike, known), right.name)
            elif self.kind != "full":
                found[right.name] = known
        return found

    @property
    def sessions(self) -> bool:
        """Whether its rows match by their sessions."""
        return isinstance(self.left, Leaf) and self.left.input.session is not None

    @property
    def follows(self) -> bool:
        """Whether a joined row has the left row's position."""
        return self.kind in HALVES or self.op is not None or self.right.input.static

    def lag(self, ts: str) -> int | None:
        """How far an event time may be behind the joined row's position, 0: it is the position.

        None: any length.
        """
        if ts not in self.left.names:
            return None if self.follows or self.low is None else max(0, -self.low)
        inner = lag(self.left, ts)
        if self.follows or inner is None:
            return inner
        return None if self.high is None else inner + max(0, self.high)

    def settle(self) -> None:
        """Take bounds of two event times into the window; QueryError where nothing is left.

        The left position is that time or later, by its lag at most.
        """
        for bound, term in self.times:
            behind = lag(self.left, bound.left)
            self.high = least(self.high, bound.high)
            if behind is not None and bound.low is not None:
                self.low = greatest(self.low, bound.low - behind)
            if behind != 0 and term is not None:
                self.residual.append(term)
        self.times.clear()
        if self.low is not None and self.high is not None and self.low > self.high:
            message = "no pair of this join can match: its bounds leave no time between them"
            legal = "b.ts BETWEEN a.ts - INTERVAL '4' HOUR AND a.ts"
            raise QueryError(message, self.word.span, legal=legal)


Tree = Leaf | Pair


def lag(tree: Tree, ts: str) -> int | None:
    return 0 if isinstance(tree, Leaf) else tree.lag(ts)


def take(tree: Tree, term: Term) -> None:
    """A condition of the rows that `tree` gives."""
    if isinstance(tree, Leaf):
        tree.filters.append(term)
        return
    read = frozenset(inputs(term.tree))
    if tree.sessions:
        if tree.kind != "inner" or not _keyed(tree, term):
            tree.above.append(term)
    elif read and read <= tree.left.names and tree.kind in ("inner", "left", "semi", "anti"):
        take(tree.left, term)
    elif read and read <= tree.right.names and tree.kind in ("inner", "right") and not tree.op:
        take(tree.right, term)
    elif tree.kind != "inner" or tree.op or not _paired(tree, term):
        tree.above.append(term)


def on(pair: Pair, term: Term) -> None:
    """A condition of which rows make a pair. QueryError for what an ASOF join cannot test."""
    read = frozenset(inputs(term.tree))
    if pair.op is not None:
        if not _keyed(pair, term):
            message = "an ASOF join takes the nearest row of equal columns, and tests nothing else"
            raise QueryError(message, term.span, legal=LEGAL_ASOF)
    elif pair.sessions:
        if not _keyed(pair, term) and not _true(term.tree):
            pair.residual.append(term)
    elif read and read <= pair.left.names and pair.kind in ("inner", "right", "semi"):
        take(pair.left, term)
    elif read and read <= pair.right.names and pair.kind not in ("right", "full"):
        take(pair.right, term)
    elif not _paired(pair, term) and not _true(term.tree):
        pair.residual.append(term)


def _true(tree: Expr) -> bool:
    tree = tree.unnest()
    return isinstance(tree, exp.Boolean) and bool(tree.this)


def _paired(pair: Pair, term: Term) -> bool:
    """Whether the condition became a key, or a part of the window."""
    keyed = _keyed(pair, term)
    if pair.unit is Unit.ROWS or pair.right.input.static:
        return keyed
    lefts, rights = _times(pair.left), _times(pair.right)
    bound = near(term.tree, lefts, rights)
    if bound is not None:
        pair.times.append((bound, None if keyed else term))
    return keyed or bound is not None


def _times(tree: Tree) -> list[str]:
    """Event times that say something of the position."""
    return [leaf.input.ts for leaf in tree.leaves if leaf.input.ts is not None]


def _keyed(pair: Pair, term: Term) -> bool:
    """Whether the condition is an equality of the two sides; if so it is a key."""
    tree = term.tree.unnest()
    if not isinstance(tree, exp.EQ):
        return False
    for left, right in _either_way(tree):
        reads = frozenset(inputs(left)), frozenset(inputs(right))
        if all(reads) and reads[0] <= pair.left.names and reads[1] <= pair.right.names:
            pair.keys.append((left.unnest(), right.unnest(), term.run))
            return True
    return False


def _either_way(tree: exp.EQ) -> Iterator[tuple[Expr, Expr]]:
    yield tree.this, tree.expression
    yield tree.expression, tree.this
