"""A query lowered to the reference operator, in place of the fast one.

The plan is cut here anew, not by `sqlwin.runtime.lowering.lower`, so that what the two share is
the plan, the front, the scalars and the back. Admission is the reference's own too: the operator
passes over messages it has taken, and the front sends to the error stream what RETAIN n ROWS has
left behind. Of the results of other queries, which pass no such front, and of joins the task's own
admission does, by rules written here and the horizons that the reference tells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl

from sqlwin.aggregates.python import PythonAggregate
from sqlwin.instants import END
from sqlwin.operators.contract import Operator
from sqlwin.plan.ir.nodes import (
    Aggregate,
    MatchRecognize,
    Node,
    OverAggregate,
    Scan,
    TopN,
    Unnest,
    WindowAggregate,
    WindowedRelation,
    WindowRank,
)
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.changelog import changing, refuse_weighted, repeats, weighted
from sqlwin.plan.properties.facts import (
    arriving,
    bucket_keys,
    counts,
    join_of,
    streams_of,
    ttl_keys,
)
from sqlwin.plan.properties.final_partitions import becomes_final
from sqlwin.plan.properties.stores import keeps_horizons
from sqlwin.polars_frames import polars_schema
from sqlwin.policies import Expired, Policy
from sqlwin.runtime.inputs.admission import Admission
from sqlwin.runtime.inputs.input import Input
from sqlwin.runtime.inputs.retention import RowRetention
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.windows import Unit
from sqlwin.windows.frames import Reach
from sqlwin.windows.group import Ending, Whole
from sqlwin.windows.session import Session
from sqlwin.windows.stays import Stay
from tests.reference.cutting import admission, carried, columns, condition, pairs, until
from tests.reference.definitions.at_once import ReferenceAtOnce
from tests.reference.definitions.forgetting import Forgetting
from tests.reference.definitions.groups import Groups
from tests.reference.definitions.late_frames import LateFrames
from tests.reference.definitions.matches import ReferenceMatches
from tests.reference.definitions.overs import OverCall, Overs
from tests.reference.definitions.ranks import Ranked
from tests.reference.definitions.relations import Last, Moving, ReferenceRelation
from tests.reference.definitions.topn import ReferenceTopN, Top
from tests.reference.definitions.unnests import ReferenceUnnesting
from tests.reference.definitions.values import Value
from tests.reference.definitions.window import Definition, takes_part
from tests.reference.joining import joined
from tests.reference.joins.relations import ReferencePresent, Standing
from tests.reference.kernels.windows import pane_of, windows_holding
from tests.reference.operator import ReferenceOperator

Window = WindowAggregate | OverAggregate | TopN | WindowedRelation | WindowRank | MatchRecognize
Inner = WindowAggregate | OverAggregate | TopN | WindowedRelation | MatchRecognize
Bare = ReferencePresent | ReferenceAtOnce
Functions = tuple[PythonAggregate, ...]


def specified(query: Query, derives: bool = False) -> Lowered:
    """As `lower`, with the operator that keeps every row and computes all windows anew."""
    join = join_of(query.plan)
    if join is not None:
        return joined(query, join, derives)
    above, window = until(query.plan, lambda node: isinstance(node, Window | Unnest | Scan))
    if isinstance(window, Unnest):
        return _unnesting(query, above, window, derives)
    if isinstance(window, Scan):
        return _stateless(query, above, window, derives)
    assert isinstance(window, Window)
    return _windowed(query, above, window, derives)


def _stateless(query: Query, below: list[Node], scan: Scan, derives: bool) -> Lowered:
    read = Input(
        stream=scan.stream,
        where=condition(below),
        columns=columns(below, scan),
        keys=(),
        retention=None,
        timed=derives,
        carried=carried(scan, passes=True),
    )
    output = columns([], query.plan)
    return Lowered(query, (read,), operator=None, having=None, output=output, derives=derives)


def _unnesting(query: Query, above: list[Node], unnest: Unnest, derives: bool) -> Lowered:
    below, scan = until(unnest.input, lambda node: isinstance(node, Scan))
    assert isinstance(scan, Scan)
    rows = _stateless(replace(query, plan=unnest.input), below, scan, derives)
    names = unnest.column, unnest.names, unnest.expands, unnest.ordinal
    return replace(
        rows,
        query=query,
        having=condition(above),
        output=columns(above, unnest),
        unnesting=ReferenceUnnesting(*names, unnest.first, unnest.outer, unnest.schema),
    )


def _windowed(query: Query, above: list[Node], window: Window, derives: bool) -> Lowered:
    below, scan = until(_input(window), lambda node: isinstance(node, Scan))
    assert isinstance(scan, Scan)
    read = Input(
        stream=scan.stream,
        where=condition(below),
        columns=columns(below, scan),
        keys=_buckets(window),
        retention=_retention(window, scan),
        timed=not _counts(window),
        carried=carried(scan, passes=False),
        admission=_admission(window, scan),
    )
    return Lowered(
        query=query,
        inputs=(read,),
        operator=_kept(query, window, scan, derives),
        having=condition(above),
        output=columns(above, window),
        derives=derives,
    )


def _input(window: Window) -> Node:
    return window.input.input if isinstance(window, WindowRank) else window.input


def _inner(window: Window) -> Inner:
    return window.input if isinstance(window, WindowRank) else window


def _policy(window: Window) -> Policy:
    return _inner(window).policy


def _counts(window: Window) -> bool:
    inner = _inner(window)
    return not isinstance(inner, TopN) and arriving(inner)


def _orders(window: Window) -> bool:
    """Whether it numbers rows of a result."""
    inner = _inner(window)
    kept = isinstance(inner, TopN | WindowedRelation)
    return not kept and counts(inner) and not arriving(inner)


def _retention(window: Window, scan: Scan) -> RowRetention | None:
    """What the input pipeline expires rows by. With EXPIRED EMIT the operator takes them all, and
    the host judges those of a declared stream by the windows that hold them."""
    policy = _policy(window)
    if _counts(window) or policy.retain is None or policy.expired is Expired.EMIT:
        return None
    judged = _judged(_inner(window))
    if judged is not None:
        return RowRetention(policy.retain, gap=judged[0]) if scan.stream.of else None
    if _ends(_inner(window)) is None:
        return RowRetention(policy.retain)
    own = getattr(_inner(window), "window", None) or _front_reach(_inner(window))
    return RowRetention(policy.retain, window=own) if scan.stream.of else None


def _admission(window: Window, scan: Scan) -> Admission | None:
    """Of derived rows those that RETAIN n ROWS has left behind; those that come twice the operator
    passes over."""
    if not scan.stream.of or _counts(window):
        return None
    if _policy(window).retain_rows is None:
        return None
    inner = _inner(window)
    types = polars_schema(inner.input.schema)
    by_rows = {key: types[key] for key in _buckets(inner)}
    return admission(scan.stream.name, False, False, by_rows)


def _buckets(window: Window) -> tuple[str, ...]:
    inner = _inner(window)
    return inner.partition if isinstance(inner, TopN | WindowedRelation) else bucket_keys(inner)


def _kept(query: Query, window: Window, scan: Scan, derives: bool) -> Operator:
    """The operator, and what its TTL makes it forget."""
    operator, ttl = _operator(query, window, scan, derives), _policy(window).ttl
    if ttl is None or isinstance(operator, ReferenceRelation | Bare):
        return operator
    return Forgetting(operator, ttl, ttl_keys(window))


def _operator(
    query: Query, window: Window, scan: Scan, derives: bool
) -> ReferenceOperator | ReferenceTopN | ReferenceMatches | ReferenceRelation | Bare:
    if weighted(window):
        refuse_weighted(window)
    carried = polars_schema(_input(window).schema)
    above, _ = until(query.plan, lambda node: node is window)
    filtered = condition(above) is not None
    update_before = filtered or pairs(query, derives) or changing(scan)
    stream = scan.stream
    if isinstance(window, TopN):
        top = _top(window, stream.name, carried, update_before)
        return ReferenceTopN(
            replace(top, weighted=changing(scan), becomes_final=becomes_final(window))
        )
    if isinstance(window, MatchRecognize):
        return ReferenceMatches(window, stream.name, update_before, changing(scan))
    if isinstance(window, WindowedRelation) and window.there is not None:
        stay = Stay(rows=1, partition=window.partition, there=window.there)
        return ReferencePresent(Standing(carried, (), stay), window.instant)
    if isinstance(window, WindowedRelation):
        given = window.instants, window.instant
        return ReferenceRelation(stream.name, carried, _moving(window), *given)
    if isinstance(window, WindowAggregate) and window.at_once:
        values = tuple(_value(call, query.functions) for call in window.aggregates)
        return ReferenceAtOnce(carried, polars_schema(window.schema), window.keys, values)
    buckets, frames = _buckets(window), _frames(_inner(window))
    return ReferenceOperator(
        Definition(
            windows=_windows(window, stream.name, buckets, query.functions),
            output=polars_schema(window.schema),
            carried=carried,
            policy=_policy(window),
            by_count=_counts(window),
            update_before=update_before,
            buckets=buckets,
            floor_of=_floor(_inner(window)),
            once=not stream.trusted and (not stream.of or repeats(stream)),
            weighted=weighted(window),
            ordered=_orders(window),
            keyed=keeps_horizons(_inner(window)) and isinstance(_inner(window), WindowAggregate),
            ends=_ends(_inner(window)),
            varies=not isinstance(window, WindowAggregate) or bool(window.aggregates),
            judged=_judged(_inner(window)),
            frames=None if frames is None else frames.expired,
            mutes=None if frames is None else frames.mute,
            **_of_all(_inner(window)),
        )
    )


def _moving(window: WindowedRelation) -> Moving | Last:
    reach = window.frame.preceding
    assert reach is not None
    if window.frame.unit is Unit.RANGE:
        return Moving(reach, window.slide, window.until)
    return Last(reach + 1, window.partition, not arriving(window))


def _of_all(window: Inner) -> dict[str, Any]:
    """Of a gap of messages of others: all are counted."""
    if not isinstance(window, WindowAggregate) or not isinstance(window.window, Session):
        return {}
    if not counts(window):
        return {"sessions": True}
    if not arriving(window):
        return {"sessions": True}
    part = {"counted": True, "part": lambda row: takes_part(row, window.where)}
    return {"sessions": True, **part}


def _ends(window: Node) -> Callable[[int], list[int]] | None:
    """Of the windows of time that hold an instant, where they are the same whatever rows there
    are."""
    if (
        _frames(window) is not None
    ):  # of its own frame, if it is the last in it; of one that is kept
        return lambda at: [at + 1, END]
    own = window.window if isinstance(window, WindowAggregate) else None
    if not isinstance(own, Ending) or own.unit is not Unit.RANGE:
        return None
    return lambda at: [end for _, end in windows_holding(at, own)]


def _frames(window: Node) -> LateFrames | None:
    """The frames of OVER by which a late row is judged: by time, or by rows before them that are
    known to be there. Of an unbounded frame those are in no order, and none is known."""
    if not isinstance(window, OverAggregate) or window.by_arrival:
        return None
    if window.policy.retain_rows is not None or not all(call.timed for call in window.calls):
        return None
    frames = [call.frame for call in window.calls]
    if any(f.following is None or f.unit in (Unit.GROUPS, Unit.SESSION) for f in frames):
        return None
    if any(f.unit is Unit.ROWS and (f.following or 0) > 0 for f in frames):
        return None
    unbounded = any(f.preceding is None for f in frames)
    counted = any(f.unit is Unit.ROWS and (f.preceding or 0) > 0 for f in frames)
    if (unbounded or counted) and (weighted(window) or window.policy.ttl is not None):
        return None
    unknown = any(call.order for call in window.calls) or any(map(repeats, streams_of(window)))
    if unbounded and unknown:
        return None
    return LateFrames(tuple((call.partition, call.frame, call.order) for call in window.calls))


def _front_reach(window: Node) -> Reach | None:
    """What the input pipeline knows of them: the rest it leaves to the operator."""
    frames = _frames(window)
    if frames is None:
        return None
    every = [frame for _, frame, _ in frames.calls]
    if any(frame.preceding is None for frame in every):
        return Reach(None, frames.after)
    back = max((0, *(f.preceding or 0 for f in every if f.unit is Unit.RANGE)))
    return Reach(
        back, frames.after, max((0, *(f.preceding or 0 for f in every if f.unit is Unit.ROWS)))
    )


def _judged(window: Node) -> tuple[int, tuple[str, ...]] | None:
    """Gap and session key, where only the pause after the last row ends a session."""
    if not isinstance(window, WindowAggregate) or not isinstance(window.window, Session):
        return None
    own, policy = window.window, window.policy
    plain = own.unit is Unit.RANGE and (own.most, own.starts, own.ends) == (None,) * 3
    if own.gap is None or not plain or window.sets or weighted(window) or policy.ttl is not None:
        return None
    return own.gap, window.partition


def _top(window: TopN, stream: str, carried: dict[str, pl.DataType], update_before: bool) -> Top:
    order = (window.function, window.partition, window.order, window.limit)
    return Top(stream, window.name, *order, window.policy, carried, update_before)


def _windows(
    window: Window, stream: str, buckets: tuple[str, ...], functions: Functions
) -> Groups | Overs | Ranked:
    if isinstance(window, WindowRank):
        groups = _groups(window.input, stream, buckets, functions)
        return Ranked(groups, window.name, window.function, window.partition, window.order)
    if isinstance(window, WindowAggregate):
        return _groups(window, stream, buckets, functions)
    assert isinstance(window, OverAggregate)
    return Overs(
        stream=stream,
        carried=tuple(column.name for column in window.input.schema),
        calls=tuple(
            OverCall(_value(c.aggregate, functions), c.partition, c.frame, c.order, c.timed)
            for c in window.calls
        ),
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
    how = (call.where, call.params, call.distinct, call.order, call.limit)
    python = next((f for f in functions if f.name == call.function), None)
    return Value(call.name, call.function, call.args, call.type, *how, python)


def _floor(window: Inner) -> Callable[[int], int]:
    pieces = window.window if isinstance(window, WindowAggregate) else None
    if isinstance(pieces, Ending | Whole):
        return lambda ts: pane_of(ts, pieces)
    return lambda ts: ts
