"""Joins while they are bound: a tree of inputs, left deep, and where each condition goes.

A join below another is a stage of its own, whose rows have one of their event times.

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
window; in WHERE only of an inner join. Where sessions are joined, or the last rows of an input, all
else stays, and is tested of pairs: rows that it leaves out are of their windows all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.joins import HALVES
from sqlwin.sql.expressions.scalars import Expr, inputs
from sqlwin.sql.expressions.trees import copied
from sqlwin.sql.joins.inputs import Input
from sqlwin.sql.joins.time_bounds import Near, greatest, least, near
from sqlwin.sql.text import ast
from sqlwin.windows import Unit
from sqlwin.windows.joins import SteppedWindow

LEGAL_ASOF = "ON a.id = b.id AND b.price > 10; a condition of both in WHERE, of what was found"


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


@dataclass
class Pair:
    """One join. op: of an ASOF join. low, high: of the right row's position, less the left's.

    stepped: of windows in ROWS that advance. times: bounds of two event times; the Term is what
    to test where the left one is not that of its row, None where a key says it already. above:
    what is left of WHERE. ts: the event time of left rows, once that is known; event_time: the one
    that an ASOF join compares. scalar: its right row is the value of a query in an
    expression. single: a left row that finds two right ones is an error.
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
            self.low = greatest(self.low, _plus(bound.low, least_))
            self.high = least(self.high, _plus(bound.high, most))
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
        return _plus(tree.low, inner[0]), _plus(tree.high, inner[1])
    inner = apart(tree.left, name, tree.ts)
    back = (None if end is None else -end for end in (tree.high, tree.low))
    low, high = (_plus(one, other) for one, other in zip(inner, back, strict=True))
    return low, high


def absent(tree: Tree) -> frozenset[str]:
    """The columns that are NULL where a row is padded."""
    if isinstance(tree, Leaf):
        return frozenset()
    null_padded = {"left": tree.right.names, "right": tree.left.names, "full": tree.names}
    return absent(tree.left) | null_padded.get(tree.kind, frozenset())


def _plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def take(tree: Tree, term: Term) -> None:
    """A condition of the rows that `tree` gives."""
    if isinstance(tree, Leaf):
        tree.filters.append(term)
        return
    read = frozenset(inputs(term.tree))
    if tree.whole:
        if tree.kind != "inner" or not _keyed(tree, term):
            tree.above.append(term)
    elif read and read <= tree.left.names and tree.kind in ("inner", "left", "semi", "anti"):
        take(tree.left, term)
    elif read and read <= tree.right.names and tree.kind in ("inner", "right") and not tree.op:
        take(tree.right, term)
    elif tree.kind != "inner" or tree.op:
        if not _by_last(tree, term):
            tree.above.append(term)
    else:
        tree.above += [part for part in _parts(tree, term) if not _paired(tree, part)]


def on(pair: Pair, term: Term) -> None:
    """A condition of which rows make a pair. QueryError for what an ASOF join cannot test."""
    read = frozenset(inputs(term.tree))
    if pair.right.input.last is not None and pair.kind == "inner":
        take(pair, term)
    elif pair.op is not None:
        if not _keyed(pair, term) and not _of_one_side(pair, term, read):
            raise _untested(pair, term)
    elif pair.whole:
        if not _keyed(pair, term) and not is_true(term.tree):
            pair.residual.append(term)
    elif read and read <= pair.left.names and pair.kind in ("inner", "right", "semi"):
        take(pair.left, term)
    elif read and read <= pair.right.names and pair.kind not in ("right", "full"):
        take(pair.right, term)
    elif not is_true(term.tree):
        pair.residual += [part for part in _parts(pair, term) if not _paired(pair, part)]


def _untested(pair: Pair, term: Term) -> QueryError:
    if _of_versions(pair):
        message = "the last row of a key is that of equal columns, and tests nothing else"
        legal = "ON a.id = b.id; a condition in WHERE, or a query in FROM that filters"
        return QueryError(message, term.span, legal=legal)
    message = "an ASOF join tests rows of one side, or columns that are equal, and no pairs"
    return QueryError(message, term.span, legal=LEGAL_ASOF)


def _of_versions(pair: Pair) -> bool:
    return pair.right.input.as_of is not None or pair.right.input.last is not None


def _of_one_side(pair: Pair, term: Term, read: frozenset[str]) -> bool:
    """Whether it says which rows of one side an ASOF join takes the nearest of.

    A left row that is to be padded has a key that nothing has. Versions of a key are what they are.
    """
    if _of_versions(pair) or not read:
        return False
    if read <= pair.right.names:
        take(pair.right, term)
    elif read <= pair.left.names and pair.kind == "inner":
        take(pair.left, term)
    elif read <= pair.left.names:
        only = exp.Case(ifs=[exp.If(this=copied(term.tree), true=exp.true())])
        pair.keys.append((only, exp.true(), term.run))
    else:
        return False
    return True


def is_true(tree: Expr) -> bool:
    tree = tree.unnest()
    return isinstance(tree, exp.Boolean) and bool(tree.this)


def _parts(pair: Pair, term: Term) -> list[Term]:
    """`a BETWEEN b AND c` in two, where only one of b and c says how near the rows are."""
    tree = term.tree.unnest()
    if not isinstance(tree, exp.Between) or near(tree, *_both_times(pair)) is not None:
        return [term]
    low = exp.GTE(this=copied(tree.this), expression=copied(tree.args["low"]))
    high = exp.LTE(this=copied(tree.this), expression=copied(tree.args["high"]))
    halves: list[Expr] = [low, high]
    if all(near(half, *_both_times(pair)) is None for half in halves):
        return [term]
    return [replace(term, tree=half) for half in halves]


def _both_times(pair: Pair) -> tuple[list[str], list[str]]:
    return _times(pair.left), _times(pair.right)


def _paired(pair: Pair, term: Term) -> bool:
    """Whether the condition became a key, or a part of the window."""
    keyed = _keyed(pair, term)
    if pair.unit is Unit.ROWS or pair.right.input.static or pair.stays:
        return keyed
    bound = near(term.tree, *_both_times(pair))
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


def _by_last(pair: Pair, term: Term) -> bool:
    """Whether it is an equality by which the last row of its key is looked up."""
    last = pair.right.input.last
    if last is None or pair.kind != "inner" or not _keyed(pair, term):
        return False
    right = pair.keys[-1][1]
    before = [tree for _, tree, _ in pair.keys[:-1]]
    if isinstance(right, exp.Column) and right.name in last.key and right not in before:
        return True
    pair.keys.pop()
    return False


def _either_way(tree: exp.EQ) -> Iterator[tuple[Expr, Expr]]:
    yield tree.this, tree.expression
    yield tree.expression, tree.this
