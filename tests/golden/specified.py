"""A query lowered to the reference operator, in place of the fast one.

The plan is cut here anew, not by `lower`, so that what the two share is the front, the
scalars and the back. Admission is the reference's own too: the operator passes over
messages it has taken, and the front sends to the error stream what RETAIN n ROWS has
left behind. Of the results of other queries, which pass no such front, and of joins the task's own
admission does, by the floors that the reference tells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from sqlwin.embedded.host import EmbeddedQuery
from sqlwin.kernels.reference.windows import pane_of
from sqlwin.operators.asof import AsOfJoin
from sqlwin.operators.contract import Operator
from sqlwin.operators.definitions import join_sides
from sqlwin.operators.definitions.asof import ReferenceAsOf
from sqlwin.operators.definitions.groups import Groups
from sqlwin.operators.definitions.joined_lives import (
    ForgettingAsOf,
    ForgettingJoin,
    ForgettingSessions,
)
from sqlwin.operators.definitions.joins import ReferenceJoin
from sqlwin.operators.definitions.lives import Forgetting
from sqlwin.operators.definitions.overs import Overs
from sqlwin.operators.definitions.ranks import Ranked
from sqlwin.operators.definitions.session_joins import ReferenceSessionJoin
from sqlwin.operators.definitions.statics import ReferenceStatic
from sqlwin.operators.definitions.topn import ReferenceTopN, Top
from sqlwin.operators.definitions.values import Value
from sqlwin.operators.definitions.window import Definition, takes_part
from sqlwin.operators.joining import WindowJoin
from sqlwin.operators.living_join import LivingJoin
from sqlwin.operators.numbered_sides import NumberedSide
from sqlwin.operators.reference import ReferenceOperator
from sqlwin.operators.static_join import StaticJoin
from sqlwin.plan.changelogs import (
    changing,
    repeats,
)
from sqlwin.plan.explain import explain
from sqlwin.plan.facts import (
    arriving,
    bucket_keys,
    counts,
    join_of,
    ttl_keys,
)
from sqlwin.plan.keeping import keeps_floors
from sqlwin.plan.nodes import (
    Aggregate,
    Filter,
    Node,
    OverAggregate,
    Project,
    Query,
    Scan,
    Script,
    TopN,
    WindowAggregate,
    WindowRank,
    column_of,
)
from sqlwin.plan.settling import settles
from sqlwin.policies import Expired, Policy
from sqlwin.python_aggregates import PythonAggregate
from sqlwin.runtime.front import Front, Taken
from sqlwin.runtime.inputs import Input
from sqlwin.runtime.lower import lower
from sqlwin.runtime.lowered import Lowered
from sqlwin.runtime.rejects import EXPIRED, rejects
from sqlwin.runtime.scalars import Columns
from sqlwin.runtime.stores import Shape, shapes
from sqlwin.schema import CHANGE, POSITION, WEIGHT, polars_schema
from sqlwin.windows import Cumulate, Hop, JoinSessions, Session, Whole

Window = WindowAggregate | OverAggregate | TopN | WindowRank
Functions = tuple[PythonAggregate, ...]


@shapes.register
def _none(operator: ReferenceOperator) -> list[Shape]:
    return []


@shapes.register(ReferenceAsOf)
@shapes.register(ReferenceJoin)
@shapes.register(ReferenceStatic)
def _nor_of_joins(operator: ReferenceAsOf | ReferenceJoin | ReferenceStatic) -> list[Shape]:
    return []


@shapes.register
def _for_ever(operator: Forgetting) -> list[Shape]:
    return []


@shapes.register
def _nor_of_joins_with_one(operator: ForgettingJoin) -> list[Shape]:
    return []


@shapes.register
def _nor_here(operator: ReferenceTopN) -> list[Shape]:
    return []


def reference(asked: Script) -> EmbeddedQuery:
    """A script's query in this process, on the reference operator."""
    query = EmbeddedQuery(asked, explain, specified)

    def begin() -> None:
        for task in query._task.tasks:
            operator = task.query.operator
            if isinstance(operator, Forgetting):
                operator.begin(query._at.now, task.stores)

    query._fronts = [SpecifiedFront(f.query, begin, at=f.at) for f in query._chain.fronts]
    return query


@dataclass(frozen=True)
class SpecifiedFront(Front):
    """As Front, and late rows that RETAIN n ROWS has left behind are expired.

    begin: has what has outlived its TTL forgotten.
    """

    begin: Callable[[], None]

    def take(
        self,
        raw: pl.DataFrame,
        watermark: int | None,
        lost: pl.DataFrame | None = None,
        now: int = 0,
    ) -> Taken:
        taken = super().take(raw, watermark, lost, now)
        self.begin()
        operator = self.query.operator
        if isinstance(operator, Forgetting):
            operator = operator.inner
        if watermark is None or not isinstance(operator, ReferenceOperator):
            return taken
        if operator.policy.expired is Expired.EMIT:
            return taken
        gone = operator.expired(taken.rows)
        if gone.is_empty():
            return taken
        timed, _ = self._timed(raw, watermark)
        on = [name for name in (*POSITION, WEIGHT) if name in gone.columns]
        rows = timed.join(gone.select(on), on=on, how="semi", maintain_order="left")
        stream = self.query.stream.name
        errors = rejects(stream, rows, [EXPIRED] * len(rows), watermark)
        kept = taken.rows.join(gone.select(on), on=on, how="anti", maintain_order="left")
        return Taken(kept, pl.concat([taken.errors, errors]), taken.marks)


def specified(query: Query, derives: bool = False) -> Lowered:
    """As `lower`, with the operator that keeps every row and computes all windows anew."""
    if join_of(query.plan) is not None:
        return _joined(query, derives)
    above, window = _until(query.plan, _is_window)
    below, scan = _until(
        window if isinstance(window, Scan) else _input(window), lambda node: isinstance(node, Scan)
    )
    assert isinstance(scan, Scan)
    if isinstance(window, Scan):
        above, below = [], above
    having = next((node.predicate for node in above if isinstance(node, Filter)), None)
    top = query.plan if isinstance(window, Scan) else window
    read = Input(
        stream=scan.stream,
        where=next((node.predicate for node in below if isinstance(node, Filter)), None),
        columns=_columns(below, scan),
        keys=() if isinstance(window, Scan) else _buckets(window),
        retain=None if isinstance(window, Scan) else _retain(window),
        timed=derives if isinstance(window, Scan) else not _counts(window),
        carried=_carried(scan, isinstance(window, Scan)),
        admission=lower(query, derives).inputs[0].admission if scan.stream.of else None,
    )
    return Lowered(
        query=query,
        inputs=(read,),
        operator=None if isinstance(window, Scan) else _kept(query, window, scan, derives),
        having=having,
        output=_columns(above, top),
        derives=derives,
    )


def _carried(scan: Scan, passes: bool) -> tuple[str, ...]:
    if not scan.stream.of:
        return ()
    return CHANGE if passes else (WEIGHT,) if changing(scan) else ()


def _joined(query: Query, derives: bool) -> Lowered:
    """The inputs and stores' admission of the fast one; the join is by definition."""
    lowered = lower(query, derives)
    fast = lowered.operator
    if isinstance(fast, LivingJoin):
        made = _joined_of(query, replace(lowered, operator=fast.inner))
        if isinstance(made.operator, ReferenceAsOf):
            return replace(made, operator=ForgettingAsOf(made.operator))
        if isinstance(made.operator, ReferenceSessionJoin):
            return replace(made, operator=ForgettingSessions(made.operator))
        assert isinstance(made.operator, ReferenceJoin)
        return replace(made, operator=ForgettingJoin(made.operator))
    return _joined_of(query, lowered)


def _joined_of(query: Query, lowered: Lowered) -> Lowered:
    fast = lowered.operator
    join = join_of(query.plan)
    assert isinstance(fast, WindowJoin | AsOfJoin | StaticJoin) and join is not None
    sides = (fast.left, fast.right)
    left, right = (
        join_sides.Side(
            s.columns,
            s.keys,
            s.window,
            timed=s.timed,
            by_time=isinstance(s, NumberedSide) and s.by_time,
        )
        for s in sides
    )
    rest = (fast.kind, fast.policy, fast.withdraw)
    if isinstance(fast, AsOfJoin):
        return replace(lowered, operator=ReferenceAsOf(left, right, *rest, match=fast.match))
    match = join.match
    if isinstance(match, JoinSessions):
        both = {"sessions": (match.left, match.right), "parted": match.keys}
        made = ReferenceSessionJoin(left, right, *rest, residual=fast.residual, **both)
        return replace(lowered, operator=made)
    made = ReferenceStatic if isinstance(fast, StaticJoin) else ReferenceJoin
    return replace(lowered, operator=made(left, right, *rest, residual=fast.residual))


def _until(node: Node, found: Callable[[Node], bool]) -> tuple[list[Node], Node]:
    """The nodes above the first that is found, and that one."""
    passed: list[Node] = []
    while not found(node):
        passed.append(node)
        node = node.input  # type: ignore[union-attr]
    return passed, node


def _is_window(node: Node) -> bool:
    return isinstance(node, Window | Scan)


def _columns(nodes: list[Node], source: Node) -> Columns:
    projects = [node.columns for node in nodes if isinstance(node, Project)]
    return projects[0] if projects else tuple((c.name, column_of(c)) for c in source.schema)


def _input(window: Window) -> Node:
    return window.input.input if isinstance(window, WindowRank) else window.input


def _inner(window: Window) -> WindowAggregate | OverAggregate | TopN:
    return window.input if isinstance(window, WindowRank) else window


def _policy(window: Window) -> Policy:
    return _inner(window).policy


def _counts(window: Window) -> bool:
    inner = _inner(window)
    return not isinstance(inner, TopN) and arriving(inner)


def _orders(window: Window) -> bool:
    """Whether it numbers rows of a result."""
    inner = _inner(window)
    return not isinstance(inner, TopN) and counts(inner) and not arriving(inner)


def _retain(window: Window) -> int | None:
    """What the front expires rows by; with EXPIRED EMIT the operator takes them all."""
    policy = _policy(window)
    return None if _counts(window) or policy.expired is Expired.EMIT else policy.retain


def _buckets(window: Window) -> tuple[str, ...]:
    inner = _inner(window)
    return inner.partition if isinstance(inner, TopN) else bucket_keys(inner)


def _kept(query: Query, window: Window, scan: Scan, derives: bool) -> Operator:
    """The operator, and what its TTL makes it forget."""
    operator, ttl = _operator(query, window, scan, derives), _policy(window).ttl
    return operator if ttl is None else Forgetting(operator, ttl, ttl_keys(window))


def _operator(
    query: Query, window: Window, scan: Scan, derives: bool
) -> ReferenceOperator | ReferenceTopN:
    carried = polars_schema(_input(window).schema)
    filtered = any(isinstance(node, Filter) for node in _until(query.plan, _is_window)[0])
    withdraw = filtered or (derives and changing(query.plan)) or changing(scan)
    stream = scan.stream
    if isinstance(window, TopN):
        top = _top(window, stream.name, carried, withdraw)
        return ReferenceTopN(replace(top, weighted=changing(scan), settles=settles(window)))
    buckets = _buckets(window)
    return ReferenceOperator(
        Definition(
            windows=_windows(window, stream.name, buckets, query.functions),
            output=polars_schema(window.schema),
            carried=carried,
            policy=_policy(window),
            by_count=_counts(window),
            withdraw=withdraw,
            buckets=buckets,
            floor_of=_floor(_inner(window)),
            once=not stream.trusted and (not stream.of or repeats(stream)),
            weighted=changing(scan) or _orders(window),
            ordered=_orders(window),
            keyed=keeps_floors(_inner(window)) and isinstance(_inner(window), WindowAggregate),
            **_of_all(_inner(window)),
        )
    )


def _of_all(window: WindowAggregate | OverAggregate | TopN) -> dict[str, Any]:
    """Of a gap of messages of others: all are counted."""
    if not isinstance(window, WindowAggregate) or not isinstance(window.window, Session):
        return {}
    if not counts(window):
        return {"sessions": True}
    if not arriving(window):
        return {"sessions": True}
    part = {"counted": True, "part": lambda row: takes_part(row, window.where)}
    return {"sessions": True, **part}


def _top(window: TopN, stream: str, carried: dict[str, pl.DataType], withdraw: bool) -> Top:
    order = (window.function, window.partition, window.order, window.limit)
    return Top(stream, window.name, *order, window.policy, carried, withdraw)


def _windows(
    window: Window, stream: str, buckets: tuple[str, ...], functions: Functions
) -> Groups | Overs | Ranked:
    if isinstance(window, WindowRank):
        groups = _groups(window.input, stream, buckets, functions)
        return Ranked(groups, window.name, window.function, window.partition, window.order)
    if isinstance(window, WindowAggregate):
        return _groups(window, stream, buckets, functions)
    return Overs(
        stream=stream,
        carried=tuple(column.name for column in window.input.schema),
        calls=tuple((_value(c.aggregate, functions), c.partition, c.frame) for c in window.calls),
        by_arrival=window.by_arrival,
        per_instant=window.per_instant,
        where=window.where,
        buckets=buckets,
    )


def _groups(
    window: WindowAggregate, stream: str, buckets: tuple[str, ...], functions: Functions
) -> Groups:
    return Groups(
        stream,
        window.window,
        window.keys,
        tuple(_value(call, functions) for call in window.aggregates),
        window.partition,
        window.where,
        window.sets,
        buckets,
        window.per_row,
        _orders(window),
    )


def _value(call: Aggregate, functions: Functions) -> Value:
    how = (call.where, call.params, call.distinct, call.order)
    python = next((f for f in functions if f.name == call.function), None)
    return Value(call.name, call.function, call.args, call.type, *how, python)


def _floor(window: WindowAggregate | OverAggregate | TopN) -> Callable[[int], int]:
    pieces = window.window if isinstance(window, WindowAggregate) else None
    if isinstance(pieces, Hop | Cumulate | Whole):
        return lambda ts: pane_of(ts, pieces)
    return lambda ts: ts
