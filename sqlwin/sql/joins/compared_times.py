"""Which event time each input of a join goes by: the one that conditions compare.

A derived stream may have several, and a declared one has its processing time beside its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.plan.ir.nodes import Scan
from sqlwin.plan.properties.processing_time import is_clock
from sqlwin.plan.properties.times import preferred
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.relations.event_times import candidates, timed_as_clock
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.sources.derived import timed_as
from sqlwin.sql.text import ast

_COMPARISONS = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)


def time_column(relation: Relation) -> str | None:
    stream = relation.stream
    for name, tree, _ in relation.columns:
        if stream is not None and isinstance(tree, exp.Column) and tree.name == stream.ts:
            return name
    return None


def as_compared(relation: Relation, compared: Sequence[exp.Column]) -> Relation:
    """A stream by the event time that conditions compare, where they do: any of a derived one, and
    processing time of one that is declared."""
    stream = relation.stream
    if stream is None or relation.versions is not None:
        return relation
    found = [tree.name for tree in _columns(relation, compared)]
    if not stream.of:
        clock = next((name for name in found if is_clock(stream, name)), None)
        if clock is None or stream.ts in found:
            return relation
        return replace(relation, base=Scan(timed_as_clock(stream, clock)))
    timed = [name for name in found if name in candidates(stream)]
    best = preferred(stream, timed) if timed else None
    return relation if best is None else replace(relation, base=Scan(timed_as(stream, best)))


def _columns(relation: Relation, compared: Sequence[exp.Column]) -> Iterator[exp.Column]:
    """Those of its stream that are compared."""
    lower = [name.lower() for name in relation.names]
    for node in compared:
        table, called = node.table.lower(), relation.find(node.name)
        if relation.sides:
            found = relation.candidates(node.name)
            called = next((its for side, its in found if table in ("", side.name.lower())), None)
        name = called if table in ("", *lower) else None
        tree = None if name is None else relation.expression(name)
        if isinstance(tree, exp.Column):
            yield tree


def compared_columns(conditions: Sequence[ast.Run]) -> list[exp.Column]:
    trees = (parsed(run) for run in conditions)
    nodes = (node for tree in trees for node in tree.find_all(*_COMPARISONS))
    return [column for node in nodes for column in node.find_all(exp.Column)]
