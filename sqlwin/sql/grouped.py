"""SELECT over a window: keys, aggregates and the window's columns.

Every group window becomes a WindowAggregate; a sliding window of a stream, one
for each row or instant, an OverAggregate that shows nothing of the row but its
keys. Expressions around aggregates stay in the Project above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.plan.nodes import (
    Aggregate,
    OverAggregate,
    OverCall,
    WindowAggregate,
)
from sqlwin.policies import Policy
from sqlwin.sql import ast
from sqlwin.sql.below import Below
from sqlwin.sql.calls import Call, call_at, refuse_calls
from sqlwin.sql.items import Item
from sqlwin.sql.policies import policy
from sqlwin.sql.relation import Base, Columns, Relation
from sqlwin.sql.scalars import Expr, column, conjoined, parsed, place, spark
from sqlwin.sql.scope import WINDOW, Scope
from sqlwin.sql.windows import Window

_BIGINT = pa.int64()
DONE = "__done"
"""Marks a column of the window operator's output while the select list is rewritten."""


@dataclass
class Grouping:
    """keys: resolved expressions by their names below. aggregates: each with its call's text."""

    below: Below
    scope: Scope
    keys: dict[str, Expr] = field(default_factory=dict)
    aggregates: dict[str, Aggregate] = field(default_factory=dict)

    def key(self, tree: Expr, run: ast.Run) -> str:
        name = self.below.add(tree, run, "key")
        self.keys.setdefault(name, tree)
        return name

    def above(self, tree: Expr, run: ast.Run, wanted: str | None) -> Expr:
        """`tree`, resolved, over the operator's output."""
        made = tree.transform(
            lambda node: self._above(node, run, wanted if node.parent is None else None)
        )
        return made.transform(unmarked)

    def _above(self, node: Expr, run: ast.Run, wanted: str | None) -> Expr:
        if isinstance(node, exp.Column) and node.table in (WINDOW, DONE):
            return node
        for name, key in self.keys.items():
            if key == node:
                return column(name, DONE)
        call = call_at(node, run)
        if call is not None:
            return column(self.aggregate(call, node, run, wanted), DONE)
        if isinstance(node, exp.Column):
            raise self._ungrouped(node, run)
        return node

    def aggregate(self, call: Call, node: Expr, run: ast.Run, wanted: str | None) -> str:
        if call.over is not None:
            message = "OVER and a window of the stream in one query are not supported yet"
            raise QueryError(message, place(node, run), legal="either of them")
        made = self.below.aggregate(call, run)
        for name, known in self.aggregates.items():
            if replace(known, name="") == made:
                return name
        name = self.below.aggregate_name(wanted)
        self.aggregates[name] = replace(made, name=name)
        return name

    def _ungrouped(self, node: exp.Column, run: ast.Run) -> QueryError:
        keys = ", ".join(spark(key) for key in self.keys.values()) or "none"
        message = f"{node.name} is neither grouped nor aggregated; the keys are: {keys}"
        legal = f"GROUP BY {node.name}, or MAX({node.name})"
        return QueryError(message, place(node, run), legal=legal)


def unmarked(node: Expr) -> Expr:
    """Window and key columns by their plain names; `window_time` is the last instant."""
    if not isinstance(node, exp.Column):
        return node
    if node.table == WINDOW and node.name == "window_time":
        last = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("MICROSECOND"))
        return exp.Paren(this=exp.Sub(this=column("window_end"), expression=last))
    return column(node.name)


def grouped(
    select: ast.Select,
    relation: Relation,
    window: Window,
    items: Sequence[Item],
    group: Sequence[ast.Run],
) -> Relation:
    """`group`: the items of GROUP BY that are not the window itself."""
    narrowed, counted = _where(select, relation, window)
    below = Below(narrowed)
    scope = Scope(relation, windowed=True)
    grouping = Grouping(below, scope)
    partition = _keys(grouping, window.partition, items)
    named = _keys(grouping, group, items)
    _check_sliding(window, select, partition, named)
    where = below.condition(counted, select.where) if counted is not None and select.where else None
    columns = _columns(grouping, items)
    having = _having(grouping, select, items)
    stream = relation.stream
    assert stream is not None
    rules = policy(select.policies, window.length, stream, window.grace, window.counts)
    base = _operator(grouping, window, tuple(dict.fromkeys(partition)), rules, where)
    run = select.having or select.items[0]
    return Relation(base, columns, (), having, run)


def _where(select: ast.Select, relation: Relation, window: Window) -> tuple[Relation, Expr | None]:
    """A tuple window counts messages before WHERE, so there it stays out of the Filter."""
    if select.where is None:
        return relation, None
    tree = parsed(select.where)
    refuse_calls(tree, select.where, "WHERE; use HAVING")
    resolved = Scope(relation).resolved(tree, select.where)
    if window.counts:
        return relation, resolved
    both = conjoined(relation.predicate, relation.below(resolved))
    return replace(relation, predicate=both, predicate_run=select.where), None


def _keys(grouping: Grouping, runs: Sequence[ast.Run], items: Sequence[Item]) -> list[str]:
    made = (_key(grouping, run, items) for run in runs)
    return [name for name in made if name is not None]


def _key(grouping: Grouping, run: ast.Run, items: Sequence[Item]) -> str | None:
    """The key's name; None for a column of the window, which is a key in any case."""
    tree = parsed(run)
    if isinstance(tree, exp.Literal) and tree.is_int:
        tree, run = _ordinal(int(tree.name), run, items)
    scope = replace(grouping.scope, aliases=aliases(grouping.scope, items, run, tree))
    resolved = scope.resolved(tree, run)
    refuse_calls(resolved, run, "GROUP BY")
    if isinstance(resolved, exp.Column) and resolved.table == WINDOW:
        return None
    if any(node.table == WINDOW for node in resolved.find_all(exp.Column)):
        message = "a key computed from the window's columns is not supported yet"
        raise QueryError(message, run.span, legal="GROUP BY window_start, window_end and columns")
    return grouping.key(resolved, run)


def _ordinal(at: int, run: ast.Run, items: Sequence[Item]) -> tuple[Expr, ast.Run]:
    if not 1 <= at <= len(items):
        message = f"GROUP BY {at}: the select list has {len(items)} columns"
        raise QueryError(message, run.span, legal=f"1 to {len(items)}")
    return items[at - 1].tree, items[at - 1].run


def aliases(scope: Scope, items: Sequence[Item], run: ast.Run, tree: Expr) -> dict[str, Expr]:
    """The select items that `tree` names by alias, resolved; a column of that name wins."""
    used = {node.name.lower() for node in tree.find_all(exp.Column)}
    named = [item for item in items if item.alias and item.alias.lower() in used]
    return {item.name.lower(): scope.resolved(item.tree, item.run) for item in named}


def _columns(grouping: Grouping, items: Sequence[Item]) -> Columns:
    made = []
    for item in items:
        tree = grouping.scope.resolved(item.tree, item.run)
        made.append((item.name, grouping.above(tree, item.run, item.alias), item.run))
    return tuple(made)


def _having(grouping: Grouping, select: ast.Select, items: Sequence[Item]) -> Expr | None:
    if select.having is None:
        return None
    tree = parsed(select.having)
    scope = replace(grouping.scope, aliases=aliases(grouping.scope, items, select.having, tree))
    return grouping.above(scope.resolved(tree, select.having), select.having, None)


def _check_sliding(
    window: Window, select: ast.Select, partition: list[str], named: list[str]
) -> None:
    """A sliding tuple window belongs to one partition; other keys would cut it."""
    if window.hop is None and window.counts and set(partition) != set(named) and named:
        message = "a sliding window in ROWS is grouped by its PARTITION BY and nothing else"
        keys = ", ".join(partition) or "nothing"
        span = select.group[-1].span
        raise QueryError(message, span, legal=f"PARTITION BY what GROUP BY names; it has {keys}")


def _operator(
    grouping: Grouping, window: Window, partition: tuple[str, ...], rules: Policy, where: str | None
) -> Base:
    keys = tuple(dict.fromkeys((*partition, *grouping.keys)))
    aggregates = tuple(grouping.aggregates.values())
    if window.hop is not None:
        within = partition if window.counts else ()
        return WindowAggregate(
            grouping.below.project(), window.hop, keys, aggregates, rules, within, where
        )
    return _sliding(grouping, window, keys, aggregates, rules, where)


def _sliding(
    grouping: Grouping,
    window: Window,
    keys: tuple[str, ...],
    aggregates: tuple[Aggregate, ...],
    rules: Policy,
    where: str | None,
) -> OverAggregate:
    assert window.frame is not None
    frame = window.frame
    if not aggregates:
        rows = Aggregate(grouping.below.free("agg"), "count", (), _BIGINT)
        aggregates = (rows,)
    return OverAggregate(
        grouping.below.project(),
        tuple(OverCall(aggregate, keys, frame) for aggregate in aggregates),
        rules,
        by_arrival=window.counts,
        per_instant=not window.counts,
        window_columns=True,
        where=where,
    )
