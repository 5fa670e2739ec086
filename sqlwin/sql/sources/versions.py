"""FOR SYSTEM_TIME AS OF over the last row of each key: every row that it ranks is a version.

    SELECT … FROM orders o JOIN rates_now FOR SYSTEM_TIME AS OF o.ts AS r ON r.currency = o.currency
    -- rates_now: SELECT * FROM rates QUALIFY ROW_NUMBER() OVER (PARTITION BY currency
    --            ORDER BY at DESC) = 1

What was the last row of a key at a time is the newest that is not newer, which is what the
join looks for by itself. So the rank is left out, and the join reads what it ranks; of equal
instants it takes the greatest position, as any ASOF join does. A rank of any other kind is
refused: what it leaves out is gone when an earlier time is asked for.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import Scan
from sqlwin.sql.expressions.scalars import Expr, instead_of
from sqlwin.sql.expressions.trees import rewritten
from sqlwin.sql.relations.event_times import candidates
from sqlwin.sql.relations.rank_bounds import OpenTop
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.sources.derived import timed_as

LEGAL = "the stream itself, or ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts DESC) = 1 of it"


def versions(relation: Relation, span: Span) -> Relation:
    """What FOR SYSTEM_TIME AS OF reads of an input. span: of its name."""
    if not isinstance(relation.base, OpenTop):
        return relation
    found = relation.base.closed(relation.predicate)
    if found is None:
        message = "FOR SYSTEM_TIME AS OF reads the versions of a key, and this rank has no bound"
        raise QueryError(message, span, legal=LEGAL)
    top, rest = found
    ranked = relation.base.ranked
    scan = None if len(top.order) != 1 else _by(ranked, top.order[0].column)
    last = top.function == "row_number" and top.limit == 1 and top.order[0].descending
    if rest is not None or not last or scan is None:
        message = "FOR SYSTEM_TIME AS OF reads older versions too, and this rank leaves some out"
        raise QueryError(message, span, legal=LEGAL)
    if relation.emits or relation.retains or relation.ttl is not None:
        message = "the versions of a key are kept, and what they make is sent, as the join says"
        raise QueryError(message, span, legal="EMIT, RETAIN and STATE_TTL in the query around it")

    def below(node: Expr) -> Expr:
        if not isinstance(node, exp.Column):
            return node
        one = exp.cast(exp.Literal.number(1), "BIGINT")
        return instead_of(node, one if node.name == top.name else ranked.expression(node.name))

    return replace(
        relation,
        base=scan,
        columns=tuple((name, rewritten(tree, below), run) for name, tree, run in relation.columns),
        predicate=ranked.predicate,
        predicate_run=ranked.predicate_run,
        versions=tuple(ranked.expression(key) for key in top.partition),
        view="",
    )


def _by(ranked: Relation, column: str) -> Scan | None:
    """What is ranked, by the event time that orders it; None where nothing such does."""
    tree, stream = ranked.expression(column), ranked.stream
    if stream is None or not isinstance(tree, exp.Column):
        return None
    if stream.of and tree.name in candidates(stream):
        return Scan(timed_as(stream, tree.name))
    return Scan(stream) if tree.name == stream.ts else None
