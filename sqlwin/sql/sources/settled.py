"""What a query makes of static tables alone, as a static table itself.

A group or a top-n of rows that are all there before the first row of any stream is there then,
too, so that a join looks it up: of neither side of the join anything is awaited.

    FROM o JOIN (SELECT k, MAX(v) AS v FROM t GROUP BY k) g ON g.k = o.k

Invariant: each change of its results comes with the rows of the table that make it. So EMIT FINAL,
an EARLY period and windows, which are emitted later, leave it the stream that it was; so does a
join that keeps rows. One that looks a table up emits with the rows of the first, before which come
those of the second.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlwin.plan.ir.nodes import (
    Filter,
    Join,
    Node,
    OverAggregate,
    Project,
    Scan,
    StaticScan,
    Stream,
    TopN,
    Unnest,
    WindowAggregate,
)
from sqlwin.plan.options.tuning import RELOAD
from sqlwin.plan.properties.facts import sources_of
from sqlwin.policies import Early, Late, Policy
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.text import ast
from sqlwin.windows.group import Whole

if TYPE_CHECKING:
    from sqlwin.sql.sources.known import Known

_OTHERS = frozenset(("RIGHT", "FULL", "ASOF"))
"""Words of joins that look nothing up."""


def settled(relation: Relation, join: ast.Join, known: Known) -> Relation:
    """The relation over a StaticScan, where it is of static tables alone and the join looks it up.
    A table that is read again in another place would have to be made anew here."""
    scan, given = relation.base, join.right.window is not None or join.within is not None
    if given or not _OTHERS.isdisjoint(join.word.text.split()) or not isinstance(scan, Scan):
        return relation
    tables = known.tables.values()
    reloaded = frozenset(table.name for table in tables if RELOAD in dict(table.options))
    stream = _stream(scan.stream, reloaded)
    return relation if stream is None else replace(relation, base=StaticScan(stream))


def _stream(stream: Stream, reloaded: frozenset[str]) -> Stream | None:
    if not stream.of:
        known = stream.bounded and RELOAD not in dict(stream.options)
        return replace(stream, whole=True) if known and stream.name not in reloaded else None
    plans = [_plan(plan, reloaded) for plan in stream.of]
    if stream.change is not None or any(plan is None for plan in plans):
        return None
    made = tuple(plan for plan in plans if plan is not None)
    return replace(stream, of=made, ts=None, delay=0)


def _plan(node: Node, reloaded: frozenset[str]) -> Node | None:
    if isinstance(node, Scan):
        stream = _stream(node.stream, reloaded)
        return None if stream is None else Scan(stream)
    if isinstance(node, Filter | Project | Unnest):
        below = _plan(node.input, reloaded)
        return None if below is None else replace(node, input=below)
    if isinstance(node, Join):
        return _joined(node, reloaded)
    if not _at_once(node):
        return None
    assert isinstance(node, WindowAggregate | TopN)
    below = _plan(node.input, reloaded)
    return None if below is None else replace(node, input=below, policy=_lasting(node.policy))


def _joined(node: Join, reloaded: frozenset[str]) -> Node | None:
    """The table that it looks up is one already, and must not be read again."""
    at_once = node.policy.early in (None, Early.ON_UPDATE) and node.policy.hold == 0
    if not (node.static and at_once) or any(
        stream.name in reloaded for stream in sources_of(node.right)
    ):
        return None
    below = _plan(node.left, reloaded)
    return None if below is None else replace(node, left=below, policy=_lasting(node.policy))


def _at_once(node: Node) -> bool:
    """Whether its results go out with the rows that change them."""
    if isinstance(node, OverAggregate) or not isinstance(node, WindowAggregate | TopN):
        return False
    unwindowed = isinstance(node, TopN) or isinstance(node.window, Whole)
    return unwindowed and node.policy.early is Early.ON_UPDATE and node.policy.hold == 0


def _lasting(policy: Policy) -> Policy:
    """A static table has no TTL, for its rows would never come again."""
    return replace(policy, ttl=None, late=Late.ON_UPDATE)
