"""What follows from a window operator's plan, for EXPLAIN and for lowering alike."""

from __future__ import annotations

import hashlib

from sqlwin.aggregates import signature
from sqlwin.plan.nodes import (
    Aggregate,
    Filter,
    Join,
    Node,
    OverAggregate,
    Project,
    Query,
    Scan,
    StaticScan,
    Stream,
    TopN,
    WindowAggregate,
    WindowRank,
)
from sqlwin.policies import Policy
from sqlwin.windows import JoinWindow, Session, Unit

Unranked = WindowAggregate | OverAggregate | TopN
Window = Unranked | WindowRank
Stateful = Window | Join


def operator_of(plan: Node) -> Stateful | None:
    """What keeps state in a plan, the topmost one; None where nothing does."""
    while isinstance(plan, Filter | Project):
        plan = plan.input
    return None if isinstance(plan, Scan | StaticScan) else plan


def window_of(plan: Node) -> Window | None:
    """The window operator of a plan, None where it has none or is a join."""
    found = operator_of(plan)
    return None if isinstance(found, Join) else found


def join_of(plan: Node) -> Join | None:
    """The topmost join of a plan, None where it has none."""
    found = operator_of(plan)
    return found if isinstance(found, Join) else None


def scans(plan: Node) -> tuple[Scan | StaticScan, ...]:
    """What a plan reads, from the left."""
    while not isinstance(plan, Scan | StaticScan | Join):
        plan = plan.input
    return (*scans(plan.left), *scans(plan.right)) if isinstance(plan, Join) else (plan,)


def streams_of(plan: Node) -> tuple[Stream, ...]:
    """The streams and static tables that a plan reads, each once, from the left."""
    return tuple(dict.fromkeys(scan.stream for scan in scans(plan)))


def unranked(window: Window) -> Unranked:
    """The operator that has the state and the policy: what a WindowRank ranks."""
    return window.input if isinstance(window, WindowRank) else window


def window_policy(plan: Node) -> Policy | None:
    """The policy of a plan's window or join, None where it has none."""
    found = operator_of(plan)
    if found is None or isinstance(found, Join):
        return None if found is None else found.policy
    return unranked(found).policy


def counts(window: Stateful) -> bool:
    """Whether the window is measured in messages."""
    if isinstance(window, Join):
        return isinstance(window.match, JoinWindow) and window.match.unit is Unit.ROWS
    window = unranked(window)
    if isinstance(window, WindowAggregate):
        return window.window.unit is Unit.ROWS
    return isinstance(window, OverAggregate) and window.by_arrival


def bucket_keys(window: Stateful) -> tuple[str, ...]:
    """Keys whose equal values must meet in one place; none: all rows must. Of a join its left's.

    With grouping sets a row goes to several groups, which have only the keys of every
    set in common; a rank has all groups of its partition meet. A session in ROWS counts
    the messages of all keys, as does a join in ROWS.
    """
    if isinstance(window, Join):
        return window.buckets[0]
    if isinstance(window, TopN):
        return window.partition
    if isinstance(window, WindowRank):
        return tuple(key for key in bucket_keys(window.input) if key in window.partition)
    if isinstance(window, WindowAggregate):
        by_session = isinstance(window.window, Session)
        if by_session and counts(window):
            return ()
        keys = window.partition if by_session or counts(window) else window.keys
        return tuple(key for key in keys if all(key in some for some in window.sets))
    first, *others = [call.partition for call in window.calls]
    return tuple(key for key in first if all(key in other for other in others))


def full_state(aggregate: Aggregate) -> bool:
    """Whether the aggregate keeps the values themselves; one from Python never does."""
    known = signature(aggregate.function)
    return known is not None and known.keeps_values(aggregate.distinct)


def keeps_messages(window: WindowAggregate) -> bool:
    """Whether rows are kept as they are, not only what they sum up to."""
    if any(full_state(aggregate) for aggregate in window.aggregates):
        return True
    session = window.window
    return isinstance(session, Session) and (session.cut or window.keys != window.partition)


def functions_of(plan: Node) -> frozenset[str]:
    """The names of the aggregate functions that a plan calls."""
    window = window_of(plan)
    own = None if window is None else unranked(window)
    if own is None or isinstance(own, TopN):
        return frozenset()
    if isinstance(own, OverAggregate):
        return frozenset(call.aggregate.function for call in own.calls)
    return frozenset(aggregate.function for aggregate in own.aggregates)


def fingerprint(*queries: Query) -> str:
    """Tells plans apart: a checkpoint belongs to one. Sinks may change."""
    return hashlib.sha256(repr([query.plan for query in queries]).encode()).hexdigest()[:16]
