"""What follows from a window operator's plan, for EXPLAIN and for lowering alike."""

from __future__ import annotations

import hashlib

from sqlwin.aggregates import signature
from sqlwin.plan.nodes import (
    Aggregate,
    Filter,
    Node,
    OverAggregate,
    Project,
    Query,
    Scan,
    TopN,
    WindowAggregate,
    WindowRank,
)
from sqlwin.policies import Policy
from sqlwin.windows import Session, Unit

Unranked = WindowAggregate | OverAggregate | TopN
Window = Unranked | WindowRank


def window_of(plan: Node) -> Window | None:
    """The window operator of a plan, None where it has none."""
    while isinstance(plan, Filter | Project):
        plan = plan.input
    return None if isinstance(plan, Scan) else plan


def unranked(window: Window) -> Unranked:
    """The operator that has the state and the policy: what a WindowRank ranks."""
    return window.input if isinstance(window, WindowRank) else window


def window_policy(plan: Node) -> Policy | None:
    """The policy of a plan's window, None where it has none."""
    window = window_of(plan)
    return None if window is None else unranked(window).policy


def counts(window: Window) -> bool:
    """Whether the window is measured in messages."""
    window = unranked(window)
    if isinstance(window, WindowAggregate):
        return window.window.unit is Unit.ROWS
    return isinstance(window, OverAggregate) and window.by_arrival


def bucket_keys(window: Window) -> tuple[str, ...]:
    """Keys whose equal values must meet in one place; none: all rows must.

    With grouping sets a row goes to several groups, which have only the keys of every
    set in common; a rank has all groups of its partition meet. A session in ROWS counts
    the messages of all keys.
    """
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


def ttl_keys(window: Window) -> tuple[str, ...]:
    """Keys whose state lives and is forgotten together: those of a bucket.

    Sessions in ROWS of all keys share one, for they count the messages of all; each
    session key is forgotten by itself, and the count never.
    """
    below = unranked(window)
    if not isinstance(below, WindowAggregate) or not isinstance(below.window, Session):
        return bucket_keys(window)
    if not counts(window):
        return bucket_keys(window)
    return tuple(key for key in below.partition if all(key in some for some in below.sets))


def full_state(aggregate: Aggregate) -> bool:
    """Whether the aggregate keeps the values themselves; one from Python never does."""
    known = signature(aggregate.function)
    return known is not None and known.keeps_values(aggregate.distinct)


def keeps_messages(window: WindowAggregate) -> bool:
    """Whether rows are kept as they are, not only what they sum up to."""
    if any(full_state(aggregate) for aggregate in window.aggregates):
        return True
    session, counted = window.window, window.policy.retain_rows is not None
    if not isinstance(session, Session):
        return False
    return session.cut or counted or set(window.keys) != set(window.partition)


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
