"""The first rows of each partition in an order that is not event time.

`ROW_NUMBER() OVER (PARTITION BY k ORDER BY price DESC)` bounded by QUALIFY, or by
the WHERE of a query around it, is a TopN. So is one over `ORDER BY ts DESC`, which
keeps the last rows of each key. Only one such rank stands in its query: with other calls
beside it, or without a bound, all rows are ranked (`select`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import OverAggregate, TopN
from sqlwin.plan.properties.changelog import lateness
from sqlwin.plan.properties.edges import edge
from sqlwin.policies import Late, Policy
from sqlwin.schema import Order
from sqlwin.sql.expressions.analytic_functions import RANKS
from sqlwin.sql.expressions.calls import AggregateCall, call_at
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.over.above import Carrying, done, needs_over
from sqlwin.sql.over.clauses import Named, framed, keys, opened, refuse_frame, time_of
from sqlwin.sql.relations.below import Below
from sqlwin.sql.relations.items import Item
from sqlwin.sql.relations.rank_bounds import OpenTop, bounded
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.text import ast
from sqlwin.sql.windows.policies import unending

EXAMPLE = "ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC)"


def wanted(relation: Relation, runs: Sequence[ast.Run], named: Named) -> bool:
    """Whether all calls are one rank that goes by another order than event time, ascending."""
    calls = [
        call
        for run in runs
        if run.overs
        for node in parsed(run).walk()
        if (call := call_at(node, run)) is not None and call.over is not None
    ]
    alike = len({_written(call, named) for call in calls}) == 1
    first = calls[0]
    return alike and first.function.name in RANKS and _other_order(relation, first, named)


def _written(call: AggregateCall, named: Named) -> tuple[object, ...]:
    assert call.over is not None
    spec = opened(call.over, named)
    runs = tuple(tuple(run.text for run in by) for by in (spec.partition, spec.order))
    return (call.function.name, *runs, framed(spec) is None)


def _other_order(relation: Relation, call: AggregateCall, named: Named) -> bool:
    assert call.over is not None
    order = keys(opened(call.over, named))
    time = time_of(relation, order) if order else None
    return bool(order) and (time is None or time.descending)


def top(
    select: ast.Select,
    relation: Relation,
    items: Sequence[Item],
    named: Named,
    unbounded: Callable[[Top], tuple[OverAggregate, Expr]],
) -> Relation:
    """unbounded: as of `OpenTop`, of a rank that is bound."""
    binding = Top(Scope(relation), named, Below(relation))
    columns, predicate = binding.bound(items, select.qualify)
    rank = binding.rank
    assert rank is not None
    limited = predicate is not None and bounded(predicate, binding.name) is not None
    _refuse_counted(select.policies, rank, limited)
    node = TopN(
        binding.below.project(),
        binding.name,
        rank.function,
        rank.partition,
        rank.order,
        limit=1,
        policy=_policy(select.policies, _final_after(binding.below, rank.partition)),
    )
    run = select.qualify or select.items[0]
    base = OpenTop(node, rank.run.span, binding.below.over(), unbounded(binding))
    return Relation(base, columns, (), predicate, run)


def _final_after(below: Below, partition: tuple[str, ...]) -> int | None:
    """How long after a window of its rows the first of a partition may change, where its
    partitions are of windows; None: for ever.
    """
    project, stream = below.project(), below.relation.stream
    edges = (edge(project, name) for name in partition)
    ended = any(found is not None and found.kind != "start" for found in edges)
    return lateness(stream) if ended and stream is not None and stream.ts is not None else None


def _policy(given: ast.Policies, final_after: int | None) -> Policy:
    """Nothing here is ever full before the end: each change is sent at once by default."""
    rules = unending(given)
    if rules.retain is None:
        rules = replace(rules, retain=final_after)
    given_emit = given.late or given.final or given.changes
    return rules if given_emit else replace(rules, late=Late.ON_UPDATE)


def _refuse_counted(given: ast.Policies, rank: Rank, limited: bool) -> None:
    """QueryError for RETAIN n ROWS. limited: whether QUALIFY has the bound of the rank."""
    if given.retain_rows is None:
        return
    legal = "RETAIN INTERVAL '1' HOUR"
    if limited:
        message = "a top-n keeps its first rows, however many come: RETAIN counts no rows here"
    else:
        name = rank.function.upper()
        message = f"{name} is a place among all rows of its partition: RETAIN counts no rows here"
        legal += f"; QUALIFY {name}() OVER (…) <= 3, which keeps the first rows"
    raise QueryError(message, given.retain_rows.span, legal=legal)


@dataclass(frozen=True)
class Rank:
    """run: where it stands first; it may stand in several places."""

    function: str
    partition: tuple[str, ...]
    order: tuple[Order, ...]
    run: ast.Run


@dataclass
class Top(Carrying):
    """ranked: the call and its clause, as they are bound where the rank has no bound."""

    rank: Rank | None = None
    ranked: tuple[AggregateCall, ast.Spec] | None = None
    name: str = ""

    def call(self, call: AggregateCall, node: Expr, run: ast.Run, wanted: str | None) -> Expr:
        if call.over is None:
            raise needs_over(node, run, EXAMPLE)
        spec = opened(call.over, self.named)
        refuse_frame(spec, call, call.function.example)
        if self.rank is None:
            order = tuple(self.below.order(key.ordered, key.run) for key in keys(spec))
            self.rank = Rank(call.function.name, self.partition(spec), order, run)
            self.ranked, self.name = (call, spec), self.below.aggregate_name(wanted)
        return done(self.name)
