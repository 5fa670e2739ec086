"""Where each condition of a join goes: to one input, into the keys, into the window, or onto pairs.

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
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.scalars import Expr, inputs
from sqlwin.sql.expressions.trees import copied
from sqlwin.sql.joins.time_bounds import near
from sqlwin.sql.joins.tree import Leaf, Pair, Term, Tree
from sqlwin.windows import Unit

LEGAL_ASOF = "ON a.id = b.id AND b.price > 10; a condition of both in WHERE, of what was found"


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
