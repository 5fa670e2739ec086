"""SELECT with OVER clauses: a window for each row, any number of them.

Columns that the select list reads beside the calls are carried through the
operator; named windows are opened here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.plan.nodes import OverAggregate, OverCall
from sqlwin.sql import ast
from sqlwin.sql.below import Below
from sqlwin.sql.calls import Call, call_at, refuse_calls
from sqlwin.sql.grouped import DONE, unmarked
from sqlwin.sql.items import Item
from sqlwin.sql.policies import policy
from sqlwin.sql.relation import Relation, nearest
from sqlwin.sql.scalars import Expr, column, parsed, place
from sqlwin.sql.scope import Scope
from sqlwin.sql.sources import event_time, ordered, refuse_chained
from sqlwin.sql.windows import reach, refuse_parts
from sqlwin.windows import Frame, Unit

LEGAL = "OVER (PARTITION BY product ORDER BY ts RANGE INTERVAL '2' MINUTE PRECEDING)"


def has_over(items: Sequence[Item]) -> bool:
    return any(item.run.overs for item in items)


def over(select: ast.Select, relation: Relation, items: Sequence[Item]) -> Relation:
    """`relation` is already narrowed by WHERE: as in SQL, frames hold what it lets pass."""
    refuse_chained(relation, next(item.run.span for item in items if item.run.overs))
    for item in items:
        for node in item.tree.walk():
            call_at(node, item.run)  # refuses by name before windows are looked at
    relation = _timed(relation, items, dict(_named(select)))
    binding = Binding(Below(relation), Scope(relation), dict(_named(select)))
    columns = tuple(
        (item.name, binding.above(item.tree, item.run, item.alias), item.run) for item in items
    )
    calls = tuple(binding.calls.values())
    reached = [call.frame.preceding for call in calls if call.frame.unit is Unit.RANGE]
    stream = relation.stream
    assert stream is not None
    rules = policy(select.policies, max(reached, default=0), stream, None, counts=False)
    return Relation(OverAggregate(binding.below.project(), calls, rules), columns, ())


def _named(select: ast.Select) -> list[tuple[str, ast.Spec]]:
    names = [name.text.lower() for name, _ in select.windows]
    for at, (name, _) in enumerate(select.windows):
        if name.text.lower() in names[:at]:
            raise QueryError(f"the window {name.text} is given twice", name.span, legal="once")
    return [(name.text.lower(), spec) for name, spec in select.windows]


def _timed(relation: Relation, items: Sequence[Item], named: dict[str, ast.Spec]) -> Relation:
    """All windows of a query are ordered by one event time."""
    for item in items:
        for target in item.run.overs:
            relation = ordered(relation, event_time(opened(target, named).order))
    return relation


def opened(target: ast.Name | ast.Spec, named: dict[str, ast.Spec]) -> ast.Spec:
    """The whole window, with what it takes from a named one; checked for ORDER BY and frame."""
    spec = _based(target, named, ())
    refuse_parts(spec)
    if spec.advance is not None:
        message = "ADVANCE BY belongs to a window of the stream"
        raise QueryError(message, spec.advance.span, legal="FROM orders OVER (… ADVANCE BY …)")
    span = target.span
    if not spec.order:
        raise QueryError("OVER needs ORDER BY the event-time column", span, legal=LEGAL)
    if spec.frame is None:
        message = "OVER without a frame reaches back without bound: not supported yet"
        raise QueryError(message, span, legal=LEGAL)
    return spec


def _based(
    target: ast.Name | ast.Spec, named: dict[str, ast.Spec], seen: tuple[str, ...]
) -> ast.Spec:
    if isinstance(target, ast.Name):
        base = _window_named(target, named, seen)
        return _based(base, named, (*seen, target.text.lower()))
    if target.base is None:
        return target
    base = _based(target.base, named, seen)
    if target.partition or (target.order and base.order) or (target.frame and base.frame):
        message = f"the window {target.base.text} has this already"
        raise QueryError(message, target.span, legal="what the named window leaves open")
    return replace(
        base,
        span=target.span,
        order=target.order or base.order,
        frame=target.frame or base.frame,
        advance=target.advance,
        refused=(*base.refused, *target.refused),
    )


def _window_named(target: ast.Name, named: dict[str, ast.Spec], seen: tuple[str, ...]) -> ast.Spec:
    found = named.get(target.text.lower())
    if found is None or target.text.lower() in seen:
        what = "is made of itself" if found else "is not declared" + nearest(target.text, named)
        legal = ", ".join(named) or f"WINDOW {target.text} AS (…) after FROM and WHERE"
        raise QueryError(f"the window {target.text} {what}", target.span, legal=legal)
    return found


@dataclass
class Binding:
    """calls: by the name of their output column."""

    below: Below
    scope: Scope
    named: dict[str, ast.Spec]
    calls: dict[str, OverCall] = field(default_factory=dict)

    def above(self, tree: Expr, run: ast.Run, wanted: str | None) -> Expr:
        made = tree.transform(
            lambda node: self._above(node, run, wanted if node.parent is None else None)
        )
        return made.transform(unmarked)

    def _above(self, node: Expr, run: ast.Run, wanted: str | None) -> Expr:
        if isinstance(node, exp.Column) and node.table == DONE:
            return node
        call = call_at(node, run)
        if call is not None:
            return column(self._call(call, node, run, wanted), DONE)
        if isinstance(node, exp.Column):
            resolved = self.scope.resolved(node, run)
            name = self.below.add(resolved, run, "column")
            return column(name, DONE)
        return node

    def _call(self, call: Call, node: Expr, run: ast.Run, wanted: str | None) -> str:
        if call.over is None:
            message = "this aggregate needs an OVER clause, as the others here have one"
            raise QueryError(message, place(node, run), legal=LEGAL)
        spec = opened(call.over, self.named)
        assert spec.frame is not None
        frame = Frame(*reach(spec.frame))
        partition = tuple(dict.fromkeys(self._key(key) for key in spec.partition))
        made = OverCall(self.below.aggregate(call, run), partition, frame)
        for name, known in self.calls.items():
            if replace(known, aggregate=replace(known.aggregate, name="")) == made:
                return name
        name = self.below.aggregate_name(wanted)
        self.calls[name] = replace(made, aggregate=replace(made.aggregate, name=name))
        return name

    def _key(self, run: ast.Run) -> str:
        tree = parsed(run)
        refuse_calls(tree, run, "PARTITION BY")
        return self.below.add(self.scope.resolved(tree, run), run, "key")
