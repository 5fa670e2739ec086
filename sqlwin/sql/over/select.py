"""SELECT with OVER clauses: a window for each row, any number of them.

Columns that the select list reads beside the calls are carried through the
operator. A rank in an order that is not event time is a `TopN` instead where it has a bound and no
other call stands beside it, and a rank over windows a `WindowRank`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import partial

import pyarrow as pa
from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import OverAggregate, OverCall, WindowAggregate
from sqlwin.plan.properties.changelog import lateness
from sqlwin.plan.properties.instants import pins_time
from sqlwin.policies import Late, Policy
from sqlwin.schema import Order
from sqlwin.sql.expressions.analytic_functions import ANALYTIC
from sqlwin.sql.expressions.calls import AggregateCall, call_at
from sqlwin.sql.expressions.places import word
from sqlwin.sql.expressions.scalars import Expr, conjoined, parsed
from sqlwin.sql.over import ranks, top_n
from sqlwin.sql.over.above import Carrying, done, needs_over, no_over, plain
from sqlwin.sql.over.analytic import rewritten
from sqlwin.sql.over.clauses import (
    Key,
    Named,
    framed,
    keys,
    named_windows,
    opened,
    time_of,
    timed_by,
)
from sqlwin.sql.relations.below import Below
from sqlwin.sql.relations.items import Item
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.sources.event_time import stream_time
from sqlwin.sql.text import ast
from sqlwin.sql.windows.frames import LEGAL, Time, frame_of, measured_along
from sqlwin.sql.windows.policies import extent_of, final, unending
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame

Keys = tuple[Key, ...]


def has_over(items: Sequence[Item], qualify: ast.Run | None = None) -> bool:
    """Whether the query is one over rows; QUALIFY makes no sense in any other."""
    return qualify is not None or any(item.run.overs for item in items)


def over(select: ast.Select, relation: Relation, items: Sequence[Item]) -> Relation:
    """`relation` is already narrowed by WHERE: as in SQL, frames hold what it lets pass."""
    runs = [item.run for item in items] + ([select.qualify] if select.qualify else [])
    targets = list(dict.fromkeys(target for run in runs for target in run.overs))
    if not targets:
        raise no_over(runs[-1])
    if isinstance(relation.base, WindowAggregate):
        return ranks.over_windows(select, relation, items)
    _refuse_by_name(items, select.qualify)
    named = named_windows(select)
    if top_n.wanted(relation, runs, named):
        return top_n.top(select, relation, items, named, partial(_unbounded, select))
    return _framed(select, _timed(relation, targets, named), items, named)


def _refuse_by_name(items: Sequence[Item], qualify: ast.Run | None) -> None:
    """What no window could help is reported before windows are looked at."""
    trees = [(item.tree, item.run) for item in items]
    for tree, run in [*trees, *([(parsed(qualify), qualify)] if qualify else [])]:
        for node in tree.walk():
            call_at(node, run)


def _timed(relation: Relation, targets: list[ast.Name | ast.Spec], named: Named) -> Relation:
    """With the event time that the first order begins with that begins with any; what another one
    begins with is a key like others, though a derived stream may have it as its event time."""
    orders = [(target, keys(opened(target, named))) for target in targets]
    fixed = False
    for target, order in orders:
        if not order:
            relation = stream_time(relation, target.span)
        elif not fixed:
            relation = timed_by(relation, order)
            fixed = time_of(relation, order) is not None
    return relation


def _framed(
    select: ast.Select, relation: Relation, items: Sequence[Item], named: Named
) -> Relation:
    binding = Framed(Scope(relation), named, Below(relation), fixed=True)
    columns, predicate = binding.bound(items, select.qualify)
    calls = tuple(binding.calls.values())
    base = OverAggregate(binding.below.project(), calls, _rules(select.policies, calls, relation))
    return Relation(base, columns, (), predicate, select.qualify or select.items[0])


def _rules(given: ast.Policies, calls: Sequence[OverCall], relation: Relation) -> Policy:
    """In an order that does not begin with event time each row may change all others for ever."""
    stream = relation.stream
    assert stream is not None
    if all(call.timed for call in calls):
        made = final(given, extent_of(c.frame for c in calls), lateness(stream))
        # a late row counts in the frames that are open; a result of its own would be a correction
        return replace(made, ignores=made.late is Late.NEVER)
    if given.retain_rows is not None:
        message = "an order that does not begin with event time keeps all rows: RETAIN counts none"
        raise QueryError(message, given.retain_rows.span, legal="RETAIN INTERVAL '1' HOUR")
    return unending(given)


def _unbounded(select: ast.Select, top: top_n.Top) -> tuple[OverAggregate, Expr]:
    """A rank without a bound: the operator that ranks all rows, and the rank over its columns."""
    assert top.ranked is not None
    call, spec = top.ranked
    below = top.below.copied()
    binding = Framed(top.scope, top.named, below)
    value = rewritten(call, Window(binding, spec, select.items[0], None))
    calls = tuple(binding.calls.values())
    rules = _rules(select.policies, calls, below.relation)
    return OverAggregate(below.project(), calls, rules), plain(value)


@dataclass
class Framed(Carrying):
    """calls: by the name of their output column. called: those names, by calls without one. fixed:
    as of `time_of`."""

    calls: dict[str, OverCall] = field(default_factory=dict)
    called: dict[OverCall, str] = field(default_factory=dict)
    fixed: bool = False

    def call(self, call: AggregateCall, node: Expr, run: ast.Run, wanted: str | None) -> Expr:
        if call.over is None:
            raise needs_over(node, run, LEGAL)
        window = Window(self, opened(call.over, self.named), run, wanted)
        if call.function.name not in ANALYTIC:
            return window.aggregate(call, node)
        window.check(call, node)
        return rewritten(call, window)

    def at_instant(self, partition: tuple[str, ...]) -> bool:
        """Whether all rows of a partition have one event time, as they are of one window."""
        stream = self.below.relation.stream
        return stream is not None and pins_time(self.below.project(), stream, partition)

    def framed(self, call: OverCall, wanted: str | None) -> str:
        """The name of a call, which is that of an equal one where there is one."""
        name = self.called.get(call)
        if name is None:
            name = self.called[call] = self.below.aggregate_name(wanted)
            self.calls[name] = replace(call, aggregate=replace(call.aggregate, name=name))
        return name


class Window:
    """One OVER clause of one item. time: None without ORDER BY."""

    def __init__(self, binding: Framed, spec: ast.Spec, run: ast.Run, wanted: str | None) -> None:
        self.binding, self.spec, self.run, self.wanted = binding, spec, run, wanted
        order = keys(spec)
        self.keys = tuple(key.ordered.this for key in order)
        self.partition = binding.partition(spec)
        timed = time_of(binding.scope.relation, order, binding.fixed) if order else None
        self.instant = binding.at_instant(self.partition)
        if order and timed is None and self.instant and not measured_along(spec.frame):
            self.order, timed = self._each(order), Time(keyed=True)
        elif order and timed is None:
            self.order = self._each(order)
            timed = self._other(self.order)
        else:
            self.order = self._each(order[1:], timed) if timed and timed.keyed else ()
        self.ordered, self.time = timed, timed or Time()

    def _each(self, order: Keys, time: Time | None = None) -> tuple[Order, ...]:
        """Each column once. time: of the keys behind event time."""
        made: dict[str, Order] = {}
        for key in order:
            ordered = self.binding.below.order(key.ordered, key.run)
            made.setdefault(ordered.column, time.behind(ordered) if time else ordered)
        return tuple(made.values())

    def _other(self, order: tuple[Order, ...]) -> Time:
        """An order that does not begin with event time."""
        if len(order) > 1:
            return Time(timed=False, keyed=True)
        return Time(timed=False, key=self.binding.below.columns[order[0].column].type)

    def check(self, call: AggregateCall, node: Expr) -> None:
        """An analytic function goes by the order of all rows of the partition."""
        name = call.function.name.upper()
        if self.ordered is None:
            message = f"{name} needs ORDER BY in its OVER clause"
            raise QueryError(message, word(node, self.run), legal=call.function.example)
        frame = framed(self.spec)
        if frame is not None:
            message = f"{name} takes no frame: it goes by all rows of the partition"
            raise QueryError(message, frame.span, legal=call.function.example)

    def aggregate(self, call: AggregateCall, node: Expr) -> Expr:
        frame = frame_of(self.spec, self.ordered)
        if frame is None:  # as that of the row alone, of which no row counts
            frame, none = Frame(Unit.ROWS, 0, 0), conjoined(call.where, exp.false())
            call = replace(call, where=none)
        if self.time.descending:
            from sqlwin.sql.over.mirrors import mirrored  # by need

            return mirrored(call, frame, node, self)
        return self.column(call, frame, named=True)

    def column(self, call: AggregateCall, frame: Frame, named: bool = False) -> Expr:
        aggregate = self.binding.below.aggregate(replace(call, over=None), self.run)
        frame = replace(frame, instant=self.instant and self.time.timed)
        made = OverCall(aggregate, self.partition, frame, self.order, self.time.timed)
        return done(self.binding.framed(made, self.wanted if named else None))

    def value(self, tree: Expr) -> Expr:
        return self.binding.over(tree, self.run)

    def type_of(self, column: Expr) -> pa.DataType:
        return self.binding.calls[column.name].aggregate.type
