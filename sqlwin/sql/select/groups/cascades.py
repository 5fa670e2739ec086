"""GROUP BY window_start, window_end over the result of windows: those windows again.

As in Flink, rows of one window below make one window above. It is a tumbling window
over the last instants of theirs, full when they are; their bounds are its keys. Of
windows that nothing aligns, as sessions, the bounds are keys as any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.plan.ir.nodes import Project, Scan, Stream
from sqlwin.plan.properties.edges import Edge, cascade, edge_in, last_instant
from sqlwin.schema import TIMESTAMP, Column
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.relations.items import Item
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.select.groups.grouping_sets import grouping_sets
from sqlwin.sql.select.groups.keys import aliases, listed
from sqlwin.sql.sources.derived import timed_as
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window


def cascaded(
    relation: Relation, window: Window, items: Sequence[Item], group: Sequence[ast.Run]
) -> tuple[Relation, Window]:
    """`window`: none of its own, which it stays where no key is the edge of a window."""
    stream = relation.stream
    if stream is None or not stream.of:
        return relation, window
    found = _edges(relation, stream, items, _in_every_set(group))
    edge = next((edge for _, edge in found if edge.kind != "start"), None)
    edge = edge or next((e for _, e in found if e.fixed), None)
    if edge is None:
        return relation, window
    name = next(name for name, known in found if known == edge)
    timed = _with_last_instant(stream, name, edge)
    again = replace(window, group=cascade(edge.window), again=True)
    return replace(relation, base=Scan(timed)), again


def _in_every_set(group: Sequence[ast.Run]) -> Sequence[ast.Run]:
    sets = grouping_sets(group)
    if sets is None:
        return group
    first, *others = sets
    return [run for run in first if all(run.text in [r.text for r in one] for one in others)]


def _edges(
    relation: Relation, stream: Stream, items: Sequence[Item], runs: Sequence[ast.Run]
) -> list[tuple[str, Edge]]:
    """The stream's columns among the keys that are edges of windows."""
    found = []
    for run in runs:
        tree, run = listed(parsed(run), run, items)
        if not isinstance(tree, exp.Column):
            continue
        scope = Scope(relation)
        scope = replace(scope, aliases=aliases(scope, items, run, tree))
        below = relation.below(scope.resolved(tree, run))
        edge = edge_in(stream, below.name) if isinstance(below, exp.Column) else None
        if edge is not None:
            found.append((below.name, edge))
    return found


def _with_last_instant(stream: Stream, name: str, edge: Edge) -> Stream:
    """The stream by the last instant of its windows, a column of its own if it has none."""
    time = replace(edge, kind="time")
    carried = next((c.name for c in stream.columns if edge_in(stream, c.name) == time), None)
    if carried is not None:
        return timed_as(stream, carried)
    last = "window_time"
    while last.lower() in [column.name.lower() for column in stream.columns]:
        last = f"_{last}"
    plans = []
    for plan in stream.of:
        assert isinstance(plan, Project)
        (below,) = dict(plan.columns)[name].inputs
        made = last_instant(below, edge)
        plans.append(replace(plan, columns=(*plan.columns, (last, made))))
    columns = (*stream.columns, Column(last, TIMESTAMP))
    return timed_as(replace(stream, columns=columns, of=tuple(plans)), last)
