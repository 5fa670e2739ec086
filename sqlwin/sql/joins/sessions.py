"""Sessions of a join's inputs: what each may be, and that the join is on their key.

A join on the session key matches rows of overlapping sessions. Without that key it would
look into every session of the other side, and so be the join without sessions (SAMZA-552).
Conditions stay with the pairs: a row that they leave out is of its session all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import Scalar
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.expressions.trees import rewritten
from sqlwin.sql.relations.relation import Relation, Side
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.text import ast
from sqlwin.sql.windows.sessions import microseconds
from sqlwin.sql.windows.window import Window
from sqlwin.windows import Session, Unit

if TYPE_CHECKING:
    from sqlwin.sql.joins.inputs import Input
    from sqlwin.sql.joins.tree import Pair

LEGAL = "OVER (PARTITION BY user ORDER BY ts SESSION INTERVAL '30' MINUTE GAP)"
Key = tuple[Expr, Expr, ast.Run]


@dataclass(frozen=True)
class Sessioned:
    """key: columns. gap: microseconds, or an expression and where it was written."""

    key: tuple[str, ...]
    gap: int | tuple[Expr, ast.Run]
    span: Span

    @property
    def unit(self) -> Unit:
        return Unit.RANGE

    def of(self, side: Side) -> Sessioned:
        """With the join's names."""
        names = dict(side.columns)

        def named(node: Expr) -> Expr:
            return exp.column(names[node.name]) if isinstance(node, exp.Column) else node

        gap = self.gap
        if not isinstance(gap, int):
            gap = rewritten(gap[0], named), gap[1]
        return Sessioned(tuple(names[name] for name in self.key), gap, self.span)

    def measured(self, relation: Relation) -> Scalar | None:
        """The gap of each row in microseconds, None where all have the same."""
        if isinstance(self.gap, int):
            return None
        tree, run = self.gap
        return microseconds(relation.below(tree), relation.under, run)


def sessioned(relation: Relation, spec: ast.Spec, window: Window) -> Sessioned:
    """QueryError for sessions that no join can have."""
    given, made = spec.session, window.session
    assert given is not None and made is not None
    if made.unit is Unit.ROWS:
        message = "a session of messages is counted in its own stream, and overlaps none of another"
        raise QueryError(message, given.span, legal=LEGAL)
    for what, part in (("MAX", made.most), ("START WHEN", made.starts), ("END WHEN", made.ends)):
        if part is not None:
            message = (
                f"a session with {what} is parted anew by a late row,"
                " for which a join takes no pair back: it has a gap alone"
            )
            raise QueryError(message, given.span, legal=LEGAL)
    if not spec.partition:
        message = "a session of a join has a session key, which the join is on"
        raise QueryError(message, given.span, legal=LEGAL)
    gap = made.gap if isinstance(made.gap, int) else (_resolved(relation, made.gap), made.gap)
    return Sessioned(tuple(_column(relation, run) for run in spec.partition), gap, spec.span)


def _resolved(relation: Relation, run: ast.Run) -> Expr:
    tree = parsed(run)
    refuse_calls(tree, run, "the gap of a session")
    return Scope(relation).resolved(tree, run)


def _column(relation: Relation, run: ast.Run) -> str:
    tree = Scope(relation).resolved(parsed(run), run)
    if not isinstance(tree, exp.Column):
        message = "the session key of a join is made of columns"
        legal = "FROM (SELECT *, LOWER(user) AS u FROM clicks) OVER (PARTITION BY u …)"
        raise QueryError(message, run.span, legal=legal)
    return tree.name


# --- both sides -----------------------------------------------------------------------


def refuse(pair: Pair, within: ast.Within | None) -> None:
    """Sessions that stand with something else than sessions."""
    right, lefts = pair.right.input, [leaf.input for leaf in pair.left.leaves]
    if right.session is not None and pair.left is not pair.left.leaves[0]:
        message = "a session join is of two streams: rows that are joined are in no session"
        raise QueryError(message, right.session.span, legal="a window in RANGE")
    for own, other in ((lefts[0], right), (right, lefts[0])):
        if own.session is not None and other.session is None:
            message = (
                f"{own.side.name} has sessions and {other.side.name} has none:"
                " rows of overlapping sessions match, and its rows are in no session"
            )
            raise QueryError(message, own.session.span, legal=f"{other.side.name} {LEGAL}")
    if within is not None:
        message = "WITHIN says how near rows are, and here they match by their sessions"
        raise QueryError(message, within.span, legal="a condition of both times in ON")


def keys(pair: Pair) -> tuple[list[Key], list[Key]]:
    """The equalities of the session key, and the others. QueryError where some are missing.

    Each column of a session key is in one of the first.
    """
    left, right = pair.left.leaves[0].input, pair.right.input
    _alike(pair, left, right)
    wanted = set(_key(left)), set(_key(right))
    own: list[Key] = []
    rest: list[Key] = []
    for key in pair.keys:
        names = [tree.name if isinstance(tree, exp.Column) else "" for tree in key[:2]]
        both = names[0] in wanted[0] and names[1] in wanted[1]
        (own if both else rest).append(key)
        if both:
            wanted[0].remove(names[0])
            wanted[1].remove(names[1])
    if wanted[0]:
        raise _lacking(pair, left, right, wanted[0])
    return own, rest


def _alike(pair: Pair, left: Input, right: Input) -> None:
    if len(_key(left)) != len(_key(right)):
        names = [f"those of {each.side.name} of {', '.join(_own(each))}" for each in (left, right)]
        message = f"sessions overlap that are of one key, and these are not: {' and '.join(names)}"
        raise QueryError(message, pair.word.span, legal="PARTITION BY as many columns in both")


def _lacking(pair: Pair, left: Input, right: Input, names: set[str]) -> QueryError:
    own_names = [own for own, name in zip(_own(left), _key(left), strict=True) if name in names]
    message = (
        f"the join is not on the session key, {left.side.name}.{own_names[0]}: without it, it would"
        " look into every session of the other side, as the join without sessions does"
    )
    ends = zip(_own(left), _own(right), strict=True)
    legal = (f"{left.side.name}.{one} = {right.side.name}.{other}" for one, other in ends)
    return QueryError(message, pair.word.span, legal=f"ON {' AND '.join(legal)}")


def _own(each: Input) -> list[str]:
    """The columns of its session key, under their own names."""
    names = {called: own for own, called in each.side.columns}
    return [names[name] for name in _key(each)]


def _key(each: Input) -> tuple[str, ...]:
    assert each.session is not None
    return each.session.key


def session(each: Input, gap_by: str | None) -> Session:
    assert each.session is not None
    gap = each.session.gap
    return Session(gap if isinstance(gap, int) else None, gap_by=gap_by)
