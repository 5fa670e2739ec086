"""Column pruning: what no node above reads is neither aggregated nor carried nor computed.

A window operator keeps its keys, which identify its rows, and at least one
call where it needs one.
"""

from __future__ import annotations

from dataclasses import replace

from sqlwin.plan.ir.matches import columns_read
from sqlwin.plan.ir.nodes import (
    Aggregate,
    Filter,
    Join,
    MatchRecognize,
    Node,
    OverAggregate,
    Project,
    Scan,
    StaticScan,
    TopN,
    Unnest,
    WindowAggregate,
    WindowedRelation,
    WindowRank,
)
from sqlwin.windows.group import GroupWindow
from sqlwin.windows.joins import JoinSessions, SpannedWindow
from sqlwin.windows.session import Session


def prune_columns(node: Node) -> Node:
    """Prunes below a Project; any other node is left to the Project above it."""
    if not isinstance(node, Project):
        return node
    return replace(node, input=_needed(node.input, _read(node)))


def _read(project: Project) -> frozenset[str]:
    return frozenset(name for _, scalar in project.columns for name in scalar.inputs)


def _needed(node: Node, read: frozenset[str]) -> Node:
    if isinstance(node, Scan | StaticScan):
        return node
    if isinstance(node, Join):
        return _join(node, read)
    if isinstance(node, Filter):
        return replace(node, input=_needed(node.input, read | {*node.predicate.inputs}))
    if isinstance(node, Project):
        return replace(node, columns=tuple(c for c in node.columns if c[0] in read))
    if isinstance(node, Unnest):
        return _unnest(node, read)
    if isinstance(node, WindowAggregate):
        return _window(node, read)
    if isinstance(node, WindowRank):
        return _rank(node, read)
    if isinstance(node, MatchRecognize):
        return _match(node, read)
    if isinstance(node, TopN | WindowedRelation):
        below = _ranked(node, read) if isinstance(node, TopN) else _relation(node, read)
        return replace(node, input=_needed(node.input, below))
    return _over(node, read)


def _relation(node: WindowedRelation, read: frozenset[str]) -> frozenset[str]:
    more = (*node.partition, *_given(node.until), *_given(node.there))
    return read.difference(_given(node.instant)).union(more)


def _unnest(node: Unnest, read: frozenset[str]) -> Unnest:
    """The columns of its elements stay, for they are of one array; the number of each need not."""
    ordinal = node.ordinal if node.ordinal in read else None
    below = read.difference((*node.names, node.ordinal or "")).union((node.column,))
    return replace(node, ordinal=ordinal, input=_needed(node.input, below))


def _join(node: Join, read: frozenset[str]) -> Join:
    """Each input keeps its keys, what sessions and spans go by and what the residual condition
    reads."""
    residual = () if node.residual is None else node.residual.inputs
    match = node.match
    both = (match.left, match.right) if isinstance(match, JoinSessions) else ()
    gaps = [name for session in both for name in _session(session)]
    staying = () if node.stays is None else (node.stays.left, node.stays.right)
    gone_by = [name for stay in staying for name in stay.columns]
    span = (match.first, *_given(match.last)) if isinstance(match, SpannedWindow) else ()
    below = read.union(residual, node.left_keys, node.right_keys, gaps, gone_by, span)
    return replace(node, left=_needed(node.left, below), right=_needed(node.right, below))


def _window(node: WindowAggregate, read: frozenset[str]) -> WindowAggregate:
    used = tuple(a for a in node.aggregates if a.name in read)
    below = {*node.keys, *_inputs(used), *_given(node.where), *_session(node.window)}
    return replace(node, aggregates=used, input=_needed(node.input, frozenset(below)))


def _session(window: GroupWindow) -> tuple[str, ...]:
    """The columns that a session goes by."""
    if not isinstance(window, Session):
        return ()
    return (*_given(window.gap_by), *_given(window.starts), *_given(window.ends))


def _rank(node: WindowRank, read: frozenset[str]) -> WindowRank | WindowAggregate:
    """A rank that nobody reads changes no row, unlike a TopN, which drops rows by it."""
    if node.name not in read:
        return _window(node.input, read)
    return replace(node, input=_window(node.input, _ranked(node, read)))


def _ranked(node: TopN | WindowRank, read: frozenset[str]) -> frozenset[str]:
    return read.difference((node.name,)).union(node.partition, (o.column for o in node.order))


def _over(node: OverAggregate, read: frozenset[str]) -> OverAggregate:
    used = tuple(c for c in node.calls if c.aggregate.name in read) or node.calls[:1]
    order = {key.column for call in used for key in call.order}
    keys = order.union(*(call.partition for call in used))
    below = {*read, *keys, *_inputs([c.aggregate for c in used]), *_given(node.where)}
    return replace(node, calls=used, input=_needed(node.input, frozenset(below)))


def _match(node: MatchRecognize, read: frozenset[str]) -> MatchRecognize:
    used = tuple(term for term in node.measures if term.name in read)
    conditions = [name for each in node.conditions for name in columns_read(each.terms)]
    kept = tuple(name for name in node.kept if name in read)
    below = frozenset((*node.partition, *kept, *conditions, *columns_read(used)))
    return replace(node, measures=used, kept=kept, input=_needed(node.input, below))


def _inputs(aggregates: tuple[Aggregate, ...] | list[Aggregate]) -> set[str]:
    return {
        name
        for a in aggregates
        for name in (*a.args, *_given(a.where), *(o.column for o in a.order))
    }


def _given(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)
