"""Sessions of a join's inputs: what each may be, and that the join is on their key.

A join on the session key matches rows of overlapping sessions. Without that key it would
look into every session of the other side, and so be the join without sessions (SAMZA-552).
Rows of one side may be in no session, `views` or `views [NOW]`: each is at its instant, and its
session key is whatever the join makes equal to that of the other side.
Conditions stay with the pairs: a row that they leave out is of its session all the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Scalar
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.expressions.trees import rewritten
from sqlwin.sql.relations.relation import JoinSide, Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.text import ast
from sqlwin.sql.windows.sessions import microseconds
from sqlwin.sql.windows.window import Window
from sqlwin.windows import Unit
from sqlwin.windows.session import Session

if TYPE_CHECKING:
    from sqlwin.sql.joins.inputs import Input
    from sqlwin.sql.joins.tree import Pair

LEGAL = "OVER (PARTITION BY user ORDER BY ts SESSION INTERVAL '30' MINUTE GAP)"
Key = tuple[Expr, Expr, ast.Run]


@dataclass(frozen=True)
class Sessioned:
    """key: columns. gap: microseconds, or messages, or an expression and where it was written."""

    key: tuple[str, ...]
    gap: int | tuple[Expr, ast.Run]
    span: Span
    unit: Unit = Unit.RANGE

    def of(self, side: JoinSide) -> Sessioned:
        """With the join's names."""
        names = dict(side.columns)

        def named(node: Expr) -> Expr:
            return exp.column(names[node.name]) if isinstance(node, exp.Column) else node

        gap = self.gap
        if not isinstance(gap, int):
            gap = rewritten(gap[0], named), gap[1]
        return replace(self, key=tuple(names[name] for name in self.key), gap=gap)

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
    for what, part in (("MAX", made.most), ("START WHEN", made.starts), ("END WHEN", made.ends)):
        if part is not None:
            message = (
                f"a session with {what} is split anew by a late row,"
                " for which a join takes no pair back: it has a gap alone"
            )
            raise QueryError(message, given.span, legal=LEGAL)
    if not spec.partition:
        message = "a session of a join has a session key, which the join is on"
        raise QueryError(message, given.span, legal=LEGAL)
    gap = made.gap if isinstance(made.gap, int) else (_resolved(relation, made.gap), made.gap)
    key = tuple(_column(relation, run) for run in spec.partition)
    return Sessioned(key, gap, spec.span, made.unit)


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
        if own.session is not None and own.session.unit is Unit.ROWS:
            _refuse_result(own)
        if own.session is not None and other.session is None:
            _refuse_beside(own, other)
    if within is not None:
        message = "WITHIN says how near rows are, and here they match by their sessions"
        raise QueryError(message, within.span, legal="a condition of both times in ON")


def _refuse_result(own: Input) -> None:
    """QueryError where what a session counts are no messages."""
    assert own.session is not None
    stream = own.relation.stream
    if stream is None or stream.of:
        message = (
            f"a join counts the messages of sessions in ROWS as they come, and {own.side.name} is a"
            " result, whose rows have other numbers when a late one comes"
        )
        raise QueryError(message, own.session.span, legal=f"{own.side.name} {LEGAL}")


def _refuse_beside(own: Input, other: Input) -> None:
    """QueryError where rows without sessions are not at their instants."""
    name = other.side.name
    if other.frame is not None and (other.frame.preceding != 0 or other.slide is not None):
        message = (
            f"a row of {name} meets the session of {own.side.name} that holds its instant,"
            " and stays for no longer"
        )
        raise QueryError(message, other.span, legal=f"{name}, {name} [NOW], {name} {LEGAL}")
    stream = other.relation.stream
    assert own.session is not None
    if own.session.unit is Unit.ROWS:
        if stream is None or stream.of:
            message = f"messages are counted as they come, and {name} is a result"
            raise QueryError(message, other.span, legal="a declared stream; sessions of time")
        return
    if stream is None or stream.ts is None:
        message = f"a session holds rows by their event time, which {name} lacks"
        raise QueryError(message, other.span, legal="its event-time column in the select list")


def unbounded(name: str, spec: ast.Spec) -> QueryError:
    message = f"{name} without bound would meet every session that goes on after its rows"
    return QueryError(message, spec.span, legal=f"{name}, {name} [NOW], {name} {LEGAL}")


def keys(pair: Pair) -> tuple[list[Key], list[Key]]:
    """The equalities of the session key, and the others. QueryError where some are missing.

    Each column of a session key is in one of the first.
    """
    both = pair.left.leaves[0].input, pair.right.input
    _alike(pair, *both)
    wanted = [(at, set(_key(each))) for at, each in enumerate(both) if each.session is not None]
    own: list[Key] = []
    rest: list[Key] = []
    for key in pair.keys:
        found = [(_name(key[at]), names) for at, names in wanted]
        meant = all(name in names for name, names in found)
        (own if meant else rest).append(key)
        for name, names in found if meant else ():
            names.remove(name)
    at, names = wanted[0]
    if names:
        raise _lacking(pair, both[at], both[1 - at], names)
    return own, rest


def _name(tree: object) -> str:
    return tree.name if isinstance(tree, exp.Column) else ""


def _alike(pair: Pair, left: Input, right: Input) -> None:
    if left.session is None or right.session is None:
        return
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
    others = own_names if right.session is None else _own(right)
    ends = zip(own_names if right.session is None else _own(left), others, strict=True)
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
    if each.session is None:
        return Session(0)
    gap = each.session.gap
    return Session(gap if isinstance(gap, int) else None, each.session.unit, gap_by=gap_by)
