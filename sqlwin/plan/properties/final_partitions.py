"""Partitions of a top-n that become final with time: all their rows are of one instant.

Past its retention no row of that instant is accepted, so the partition's result is final and
its state is evicted.

    PARTITION BY                       final for rows whose event time is
    the event-time column              that column
    window_end, window_time            an edge of the same window
    window_start                       the same, unless the window cumulates
"""

from __future__ import annotations

from sqlwin.plan.ir.nodes import (
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
    WindowRank,
)
from sqlwin.plan.properties.edges import edge_in, source
from sqlwin.windows import Unit
from sqlwin.windows.group import Ending, known_by_start


def becomes_final(top: TopN) -> bool:
    """Whether a partition ever becomes final; it does, where the policy has a RETAIN in time."""
    return top.policy.retain is not None and any(
        _determines(top.input, name) for name in top.partition
    )


def _determines(plan: Node, name: str) -> bool:
    """Whether a column determines the event time of the rows that a plan reads."""
    while isinstance(plan, Filter | Project):
        below = source(plan, name) if isinstance(plan, Project) else name
        if below is None:
            return False
        plan, name = plan.input, below
    return (
        isinstance(plan, Scan) and plan.stream.ts is not None and _same(plan, name, plan.stream.ts)
    )


def _same(plan: Node, one: str, other: str) -> bool:
    """Whether each of two columns determines the other: they are equal, or edges of one window."""
    if one == other:
        return True
    if isinstance(plan, Scan):
        edges = edge_in(plan.stream, one), edge_in(plan.stream, other)
        alike = None not in edges or len(plan.stream.of) == 1  # in all that gives its rows
        return alike and bool(plan.stream.of) and all(_same(p, one, other) for p in plan.stream.of)
    if isinstance(plan, StaticScan):
        return False
    if isinstance(plan, Project):
        below = source(plan, one), source(plan, other)
        return None not in below and _same(plan.input, *below)  # type: ignore[arg-type]
    if isinstance(plan, Join):
        sides = [
            side
            for side in (plan.left, plan.right)
            if {one, other} <= {column.name for column in side.schema}
        ]
        return any(_same(side, one, other) for side in sides)
    if isinstance(plan, WindowAggregate):
        keys = {one, other} <= set(plan.keys) and all({one, other} <= set(s) for s in plan.sets)
        edges_ = {one, other} == {"window_start", "window_end"} and _sized(plan)
        return _same(plan.input, one, other) if keys else edges_
    known = {column.name for column in plan.input.schema}
    if isinstance(plan, MatchRecognize) and not {one, other} <= set(plan.partition):
        return False
    if isinstance(plan, TopN | WindowRank | OverAggregate | Unnest) and not {one, other} <= known:
        return False
    return _same(plan.input, one, other)


def _sized(plan: WindowAggregate) -> bool:
    """Whether the start of a window determines its end."""
    shape = plan.window
    return isinstance(shape, Ending) and shape.unit is Unit.RANGE and known_by_start(shape)
