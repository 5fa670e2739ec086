"""Results of an operator as the rows of the next one: derived streams, chained.

A view or subquery that is filtered and projected alone stays merged by substitution.
Where its rows are needed, for a window, a GROUP BY, OVER, a join or a UNION, what is
bound so far becomes a plan of its own, and the relation a Scan of its results.

Its event time is the column that the query above names, or else the one that
`plan.times.preferred` finds. Of its policies only those hold that are written beside it:
else full and late results go up at once, for nothing is gained by holding them back, and
early ones where a query around it asks for early results, or where it is never full.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlwin.plan.ir.nodes import (
    Join,
    MatchRecognize,
    Node,
    OverAggregate,
    Scan,
    StaticScan,
    Stream,
    WindowedRelation,
)
from sqlwin.plan.properties.facts import Stateful, arriving, with_policy
from sqlwin.plan.properties.times import delay_in, join_times, preferred
from sqlwin.plan.rules.optimizer import optimize
from sqlwin.policies import Early, Late, Policy
from sqlwin.sql.expressions.scalars import column, conjoined, parsed
from sqlwin.sql.relations.event_times import INSTANT, JOIN_TIME
from sqlwin.sql.relations.rank_bounds import OpenTop, conjuncts
from sqlwin.sql.relations.relation import NOWHERE, Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.text import ast
from sqlwin.sql.windows.ttl import with_ttl
from sqlwin.windows.joins import AsOf

if TYPE_CHECKING:
    from sqlwin.sql.sources.known import Known


def derived(relation: Relation, known: Known) -> Relation:
    """The relation over a Scan: of a derived stream, where it is not one of a stream already."""
    return relation if isinstance(relation.base, Scan | StaticScan) else result(relation, known)


def result(relation: Relation, known: Known) -> Relation:
    """The relation over a Scan of what it gives."""
    timed = _with_instant(_with_join_time(relation))
    schema = timed.schema()
    plan = stage(timed, known)
    stream = timed_by_itself(Stream(_name(relation), schema, None, of=(plan,)))
    base = timed.base
    if isinstance(base, WindowedRelation) and base.instant is not None and base.timed:
        stream = timed_as(stream, base.instant)
    columns = tuple((name, column(name), run) for name, _, run in relation.columns)
    return replace(
        relation,
        base=Scan(stream),
        columns=columns,
        predicate=None,
        predicate_run=NOWHERE,
        ttl=None,
        emits=False,
        view="",
    )


def _with_join_time(relation: Relation) -> Relation:
    """Of a join that gives the event times of both sides, with the later one, as in ksqlDB."""
    base = relation.base
    if not isinstance(base, Join):
        return relation
    given = [tree for _, tree, _ in relation.columns if isinstance(tree, exp.Column)]
    times = join_times(base, [tree.name for tree in given])
    if not times:
        return relation
    later = exp.Greatest(this=column(times[0]), expressions=[column(name) for name in times[1:]])
    name = relation.free(JOIN_TIME)
    return replace(relation, columns=(*relation.columns, (name, later, NOWHERE)))


def _with_instant(relation: Relation) -> Relation:
    """Of all rows at each instant, with the instant, which is the time of CQL's RSTREAM."""
    base = relation.base
    if not isinstance(base, WindowedRelation) or not base.instants or not base.timed:
        return relation
    name = relation.free(INSTANT)
    columns = (*relation.columns, (name, column(name), NOWHERE))
    return replace(relation, base=replace(base, instant=name), columns=columns)


def limited(relation: Relation, where: ast.Run | None) -> Relation:
    """With the bound of its rank, where the WHERE of the query around has it.

    It stands there, too, and may name other inputs: only what names this one is taken.
    """
    if not isinstance(relation.base, OpenTop) or where is None:
        return relation
    lower = [name.lower() for name in relation.names]
    scope, predicate = Scope(relation), relation.predicate
    for part in conjuncts(parsed(where)):
        nodes = list(part.find_all(exp.Column))
        if nodes and all(
            node.table.lower() in ("", *lower) and relation.find(node.name) for node in nodes
        ):
            predicate = conjoined(predicate, relation.below(scope.resolved(part, where)))
    return replace(relation, predicate=predicate, predicate_run=where)


def stage(relation: Relation, known: Known) -> Node:
    """The plan of a query whose results another one reads."""

    def predicate(node: Stateful, policy: Policy) -> Policy:
        emitting = policy if relation.emits else _inner(node, policy, known.early)
        return emitting if relation.retains else _as_long(emitting, known.retain)

    return with_ttl(optimize(with_policy(relation.plan(), predicate)), relation.ttl, known.ttl)


def timed_by_itself(stream: Stream) -> Stream:
    """A derived stream with the event time that it has if nothing names one."""
    name = preferred(stream)
    return stream if name is None else timed_as(stream, name)


def timed_as(stream: Stream, name: str) -> Stream:
    """name: a column that `delay_in` knows."""
    delay = delay_in(stream, name)
    assert delay is not None
    return replace(stream, ts=name, delay=delay)


def _name(relation: Relation) -> str:
    """Of a view its own, by which all who read it share it."""
    return relation.view or "_".join(relation.names) or "query"


UNION = "union"


def entitled(relation: Relation, name: str) -> Relation:
    """As the view of a name; a union that had none has its name, too."""
    base = relation.base
    if isinstance(base, Scan) and base.stream.of and base.stream.name == UNION:
        return replace(relation, base=Scan(replace(base.stream, name=name)))
    return relation if relation.view else replace(relation, view=name)


def _inner(node: Stateful, policy: Policy, early: bool) -> Policy:
    if arriving(node):
        return policy
    at_once = replace(policy, late=Late.ON_UPDATE)
    if policy.early is not None or not ((early and _may_be_early(node)) or _never_full(node)):
        return at_once
    return replace(at_once, early=Early.ON_UPDATE)


def _as_long(policy: Policy, retain: int) -> Policy:
    """Rows as late as the query around it takes them are to come through."""
    if policy.retain is None or policy.retain_rows is not None:
        return policy
    return replace(policy, retain=max(policy.retain, retain))


def _may_be_early(node: Stateful) -> bool:
    """Pairs of an inner join go as they are found in any case, and matches when they are known."""
    if not isinstance(node, Join):
        return not isinstance(node, MatchRecognize)
    return isinstance(node.match, AsOf) or node.kind not in ("inner", "semi")


def _never_full(node: Stateful) -> bool:
    """Whether a frame is never full; GROUP BY alone and top-n are early in any case."""
    return isinstance(node, OverAggregate) and node.endless
