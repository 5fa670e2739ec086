"""Trees of joins to plans: each Join with its inputs' Projects, from the left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.functions.core.widening import widest
from sqlwin.plan.ir.nodes import Join, Project, Scalar, Scan
from sqlwin.plan.properties.facts import streams_of
from sqlwin.schema import type_name
from sqlwin.sql.expressions.scalars import Expr, column, conjoined, scalar, spark
from sqlwin.sql.joins import changes, spans
from sqlwin.sql.joins import sessions as join_sessions
from sqlwin.sql.joins.inputs import Input
from sqlwin.sql.joins.join_policies import policy_of
from sqlwin.sql.joins.last_rows import check_key
from sqlwin.sql.joins.policies import Match
from sqlwin.sql.joins.tree import Leaf, Pair, Term, Tree
from sqlwin.sql.relations.event_times import candidates
from sqlwin.sql.relations.rank_bounds import OpenTop
from sqlwin.sql.relations.relation import NOWHERE, Relation, condition
from sqlwin.sql.sources.derived import derived, timed_as
from sqlwin.sql.text import ast
from sqlwin.sql.windows.policies import passing
from sqlwin.sql.windows.ttl import lengths
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinSessions, JoinWindow
from sqlwin.windows.session import Session

if TYPE_CHECKING:
    from sqlwin.sql.sources.known import Known
    from sqlwin.sql.syntax.hints.ttl import Hinted

SMALL = {Unit.RANGE: 600_000_000, Unit.ROWS: 10_000}
"""The widest window that is small if nothing is said: 10 minutes."""


class Plans:
    """given: the policies of the query, ttl: what hints say of the state of its inputs; large:
    of its windows, None: nothing.
    """

    def __init__(
        self, given: ast.Policies, large: bool | None, known: Known, ttl: Sequence[Hinted]
    ) -> None:
        self.given = given
        self.large = large
        self.known = known
        self.ttl = ttl
        self.keys = 0

    def of(self, tree: Tree, given: ast.Policies | None = None, numbers: bool = False) -> Relation:
        """given: None for the last join, which the query's policies are for. numbers: whether the
        next one goes by those of its messages."""
        if isinstance(tree, Leaf):
            return _narrowed(tree.input.relation, tree.filters)
        policies = self.given if given is None else given
        left, right = self._left(tree, policies), self.of(tree.right, policies)
        base = self._join(tree, left, right, policies)
        base = spans.numbered(base, tree) if numbers else base
        columns = tuple((c.name, column(c.name), NOWHERE) for c in base.schema)
        reads = _names(tree.left), _names(tree.right)
        made = Relation(base, columns, (), ttl=lengths(self.ttl, reads))
        if numbers:
            made = spans.spanned(made, tree)
        return _narrowed(
            replace(made, reads=tuple(dict.fromkeys((*reads[0], *reads[1])))), tree.above
        )

    def _left(self, pair: Pair, given: ast.Policies) -> Relation:
        """What joins before this one gave is a stream by the event time that it goes by."""
        made = self.of(pair.left, passing(given), pair.spans)
        if isinstance(pair.left, Leaf):
            pair.set_event_time(pair.left.input.ts)
            return made
        names = tuple(leaf.input.side.name for leaf in pair.left.leaves)
        made = derived(replace(made, names=names), self.known)
        assert made.stream is not None
        before = changes.changes_of(made)
        if before is not None:
            return replace(made, base=Scan(timed_as(made.stream, before.instant)))
        timed = [bound.left for bound, _ in pair.times]
        known = candidates(made.stream)
        ts = next((name for name in timed if name in known), made.stream.ts)
        if pair.event_time is not None:
            ts = pair.event_time.text
            if ts not in known:
                raise _untimed(pair.event_time, known)
        pair.set_event_time(ts)
        return made if ts is None else replace(made, base=Scan(timed_as(made.stream, ts)))

    def _join(self, pair: Pair, left: Relation, right: Relation, given: ast.Policies) -> Join:
        sides = _Side(left), _Side(right)
        match = self._match(pair, sides)
        below = sides[0].project(), sides[1].project()
        static = pair.right.input.static
        policy = (
            changes.policy_of(given, below, pair.word.span)
            if pair.stays
            else policy_of(pair, given, below, match, static)
        )
        join = Join(
            *below,
            tuple(sides[0].keys),
            tuple(sides[1].keys),
            pair.kind,
            match,
            None,
            policy,
            large=_large(match) if self.large is None else self.large,
        )
        if pair.single:
            if not join.static:
                raise _several(pair)
            join = replace(join, single=True)
        if pair.scalar and join.unbounded and policy.retain is None:
            raise _endless(pair)
        condition_ = conjoined(*(term.tree for term in pair.residual))
        if condition_ is None:
            return join
        return replace(join, residual=condition(condition_, join.pairs, pair.residual[0].run))

    def _match(self, pair: Pair, sides: tuple[_Side, _Side]) -> Match:
        """Which rows lie near enough; puts the keys into both sides."""
        check_key(pair)
        first, rest = join_sessions.keys(pair) if pair.sessions else ([], pair.keys)
        for one, other, run in first:
            self._key(sides, one, other, run)
        keys = len(sides[0].keys)
        for one, other, run in rest:
            self._key(sides, one, other, run)
        if pair.stays:
            return changes.match_of(pair, sides[0].relation, sides[1].relation)
        if pair.sessions:
            left = self._session(pair.left.leaves[0].input, sides[0])
            return JoinSessions(left, self._session(pair.right.input, sides[1]), keys)
        if pair.right.input.relation.versions is not None:
            _of_versions(pair, sides[1])
        if pair.op:
            return AsOf(pair.op)
        if pair.spans:
            return spans.window(pair)
        return pair.stepped or JoinWindow(pair.unit, pair.low, pair.high)

    def _session(self, each: Input, side: _Side) -> Session:
        gap = None if each.session is None else each.session.measured(side.relation)
        by = None if gap is None else side.named(gap) or self._add(side, gap, "gap")
        return join_sessions.session(each, by)

    def _key(self, sides: tuple[_Side, _Side], left: Expr, right: Expr, run: ast.Run) -> None:
        """Add an equality, both sides of the type that `=` compares them in, unless it is there."""
        made = [side.scalar(tree, run) for side, tree in zip(sides, (left, right), strict=True)]
        one, other = made[0].type, made[1].type
        if one != other:
            wider = widest(one, other)
            if wider is None:
                types = f"{type_name(one)} and {type_name(other)}"
                legal = f"CAST(… AS {type_name(one)})"
                raise QueryError(f"{types} are never equal", run.span, legal=legal)
            trees = [
                tree if scalar_.type == wider else exp.cast(tree, type_name(wider), dialect="spark")
                for tree, scalar_ in zip((left, right), made, strict=True)
            ]
            made = [side.scalar(tree, run) for side, tree in zip(sides, trees, strict=True)]
        names = [side.named(scalar_) for side, scalar_ in zip(sides, made, strict=True)]
        if (names[0], names[1]) in list(zip(sides[0].keys, sides[1].keys, strict=True)):
            return
        for name, side, scalar_ in zip(names, sides, made, strict=True):
            if name is None or name in side.keys:  # each equality has a column of its own
                name = self._add(side, scalar_)
            side.keys.append(name)

    def _add(self, side: _Side, made: Scalar, purpose: str = "key") -> str:
        self.keys += 1
        name = f"_{purpose}{self.keys}"
        side.columns[name] = made
        return name


class _Side:
    """The Project of one input as it grows."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self.columns = dict(relation.scalars)
        self.keys: list[str] = []

    def scalar(self, tree: Expr, run: ast.Run) -> Scalar:
        return scalar(self.relation.below(tree), self.relation.under, run)

    def named(self, made: Scalar) -> str | None:
        """The column that holds it, where there is one."""
        return next((name for name, s in self.columns.items() if s.duckdb == made.duckdb), None)

    def project(self) -> Project:
        return Project(self.relation.filtered(), tuple(self.columns.items()))


def _of_versions(pair: Pair, right: _Side) -> None:
    """QueryError where a row is not of the key that it is the version of."""
    relation = pair.right.input.relation
    assert relation.versions is not None
    trees = relation.versions
    above = {scalar(tree, relation.under, NOWHERE).duckdb for tree in trees}
    if {right.columns[key].duckdb for key in right.keys} != above:
        by = ", ".join(spark(tree) for tree in trees)
        message = "the versions of a key are joined by this key, no more and no less"
        raise QueryError(message, pair.right.input.span, legal=f"an equality for each of {by}")


def _names(tree: Tree) -> list[str]:
    """What hints may call the inputs of a tree, all that it reads among them."""
    if isinstance(tree, Pair):
        return [*_names(tree.left), *_names(tree.right)]
    read = tree.input.relation
    streams = [] if isinstance(read.base, OpenTop) else [s.name for s in streams_of(read.base)]
    return [tree.input.side.name, *read.names, *read.reads, *streams]


def _endless(pair: Pair) -> QueryError:
    message = "this query in an expression may give rows another value for ever: no time bounds it"
    legal = (
        "an equality of window_end or the event time in its WHERE; a RETAIN; a static table alone"
    )
    return QueryError(message, pair.word.span, legal=legal)


def _several(pair: Pair) -> QueryError:
    message = "a query in an expression gives one value: an aggregate of its rows, without GROUP BY"
    legal = "(SELECT MAX(b.p) FROM b WHERE b.window_end = a.window_end); a static table, b"
    return QueryError(message, pair.word.span, legal=legal)


def _untimed(event_time: ast.Name, known: Sequence[str]) -> QueryError:
    message = f"{event_time.text} may be however far behind what its row was joined with"
    legal = ", ".join(known) or "a RETAIN, or bounds of both event times in the join before it"
    return QueryError(message, event_time.span, legal=legal)


def _narrowed(relation: Relation, terms: list[Term]) -> Relation:
    if not terms:
        return relation
    both = conjoined(relation.predicate, *(relation.below(term.tree) for term in terms))
    return replace(relation, predicate=both, predicate_run=terms[0].run)


def _large(match: Match) -> bool:
    if not isinstance(match, JoinWindow) or match.low is None or match.high is None:
        return True
    return match.high - match.low > SMALL[match.unit]
