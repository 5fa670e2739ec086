"""From a plan in normal form to what a host runs: input pipelines, an operator, a projection.

Both hosts run the same lowered query. A node that is not listed is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.operators.contract import JoinOperator, Operator
from sqlwin.plan.ir.nodes import (
    Filter,
    Join,
    Node,
    OverAggregate,
    Project,
    Scalar,
    Scan,
    StaticScan,
    Unnest,
    WindowAggregate,
    column_of,
)
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.changelog import carries_weights, changing, reappears, repeats, weighted
from sqlwin.plan.properties.facts import (
    Window,
    arriving,
    bucket_keys,
    counts,
    join_of,
    ttl_keys,
    unranked,
    window_policy,
)
from sqlwin.plan.properties.frame_reach import reach_of
from sqlwin.plan.properties.stores import keeps_positions
from sqlwin.polars_frames import polars_schema
from sqlwin.runtime.inputs.admission import Admission
from sqlwin.runtime.inputs.input import Input
from sqlwin.runtime.inputs.retention import RowRetention
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.lowering.windows import Assembly
from sqlwin.runtime.rows.scalars import Columns
from sqlwin.schema import CHANGE, WEIGHT
from sqlwin.state.slices import ENDLESS, slice_width
from sqlwin.windows import Unit
from sqlwin.windows.group import Ending, Session


@dataclass(frozen=True)
class Cut:
    """A plan cut at its window operator."""

    scan: Scan
    where: Scalar | None
    columns: Columns
    window: Window | Unnest | None
    having: Scalar | None
    output: Columns


def lower(query: Query, derives: bool = False) -> Lowered:
    """derives: see `Lowered`."""
    join = join_of(query.plan)
    return _windowed(query, derives) if join is None else _joined(query, join, derives)


def _windowed(query: Query, derives: bool) -> Lowered:
    cut = _cut(query.plan)
    if isinstance(cut.window, Unnest):
        return _unnesting(query, cut, cut.window, derives)
    window, stream = cut.window, cut.scan.stream
    by_arrival = window is not None and arriving(window)
    timed = (window is not None or derives) and not by_arrival and stream.ts is not None
    functions = {function.name: function for function in query.functions}
    update_before = _both_sides(query, derives) or cut.having is not None or changing(cut.scan)
    assembly = Assembly(
        stream.name, update_before, functions, window is not None and weighted(window)
    )
    read = Input(
        stream=stream,
        where=cut.where,
        columns=cut.columns,
        keys=() if window is None else bucket_keys(window),
        retention=row_retention(window) if timed else None,
        timed=timed,
        admission=None if window is None else _admission(window, cut.scan),
        carried=_carried(cut.scan, window is None),
    )
    return Lowered(
        query=query,
        inputs=(read,),
        operator=None
        if window is None
        else _with_ttl(_with_changelog_normalizer(assembly, window), window),
        having=cut.having,
        output=cut.output,
        derives=derives,
    )


def _unnesting(query: Query, cut: Cut, unnest: Unnest, derives: bool) -> Lowered:
    """It keeps nothing: rows pass, each as often as it has elements."""
    from sqlwin.operators.unnesting import Unnesting

    stream = cut.scan.stream
    read = Input(
        stream=stream,
        where=cut.where,
        columns=cut.columns,
        keys=(),
        retention=None,
        timed=derives and stream.ts is not None,
        carried=_carried(cut.scan, passes=True),
    )
    return Lowered(
        query=query,
        inputs=(read,),
        operator=None,
        having=cut.having,
        output=cut.output,
        derives=derives,
        unnesting=Unnesting(
            unnest.column, unnest.names, unnest.expands, unnest.ordinal, unnest.first, unnest.outer
        ),
    )


def _both_sides(query: Query, derives: bool) -> bool:
    """Whether the next stage, or a sink, needs the row that a change replaces."""
    return (derives or query.retracts) and changing(query.plan)


def _carried(scan: Scan | StaticScan, passes: bool) -> tuple[str, ...]:
    """Columns of a derived row besides its plan's. passes: the row is a result as it is."""
    if not scan.stream.of:
        return ()
    return CHANGE if passes else (WEIGHT,) if carries_weights(scan) else ()


def _with_changelog_normalizer(assembly: Assembly, window: Window) -> Operator:
    """The operator, behind a changelog normalizer where rows may be retracted and a TTL evicts."""
    operator, below = assembly.operator(window), unranked(window)
    again = reappears(window)
    if not assembly.weighted or (below.policy.ttl is None and not again):
        return operator
    from sqlwin.operators.over.base_sums import ROWS
    from sqlwin.operators.stages.changelog_normalizer import POSITIONS, ChangelogNormalizer

    carried, keys = polars_schema(below.input.schema), ttl_keys(window)
    store = POSITIONS if keeps_positions(below) else ROWS
    return ChangelogNormalizer(operator, carried, keys, store, again, below.policy.retain)


def _with_ttl(operator: Operator, window: Window) -> Operator:
    """With the TTL of its keys, where they have one."""
    ttl = unranked(window).policy.ttl
    if ttl is None:
        return operator
    from sqlwin.operators.stages.ttl import OperatorTtl

    types = polars_schema(unranked(window).input.schema)
    return OperatorTtl(operator, ttl, {key: types[key] for key in ttl_keys(window)})


def _cut(plan: Node) -> Cut:
    above, node = _above(plan)
    if isinstance(node, Scan):
        return Cut(node, *_filter_and_project(above, node), None, None, _identity(plan))
    assert not isinstance(node, Join | StaticScan | Filter | Project)
    below, inner = _above(node.input if isinstance(node, Unnest) else unranked(node).input)
    if not isinstance(inner, Scan):
        raise TypeError(f"not in normal form: {type(inner).__name__} below {type(node).__name__}")
    where, columns = _filter_and_project(below, inner)
    having, output = _filter_and_project(above, node)
    return Cut(inner, where, columns, node, having, output)


def _joined(query: Query, join: Join, derives: bool) -> Lowered:
    from sqlwin.runtime.lowering.joins import joined, with_ttls

    above, _ = _above(query.plan)
    having, output = _filter_and_project(above, join)
    operator: JoinOperator = joined(
        join, update_before=_both_sides(query, derives) or having is not None
    )
    if join.policy.ttls:
        operator = with_ttls(operator)
    return Lowered(
        query=query,
        inputs=(_side(join, 0), _side(join, 1)),
        operator=operator,
        having=having,
        output=output,
        derives=derives,
    )


def _side(join: Join, at: int) -> Input:
    """The input on the left (0) or on the right (1)."""
    below, scan = _above((join.left, join.right)[at])
    assert isinstance(scan, Scan | StaticScan)
    where, columns = _filter_and_project(below, scan)
    static, stream = isinstance(scan, StaticScan), scan.stream
    by_arrival = counts(join) and not stream.of
    expires = stream.ts is not None and not (by_arrival or static)
    retention = _of_join(join) if expires else None
    replays = _replays(scan) and not static
    by_rows = _counted_of_side(join, at)
    width = slice_width((retention and retention.retain) or ENDLESS)
    return Input(
        stream=stream,
        where=where,
        columns=columns,
        keys=join.buckets[at],
        retention=retention,
        timed=not by_arrival and stream.ts is not None,
        admission=Admission(
            stream.name,
            replays,
            by_arrival,
            by_rows,
            retention,
            width,
            at=at,
            retain_rows=join.policy.retain_rows,
        )
        if replays or by_rows is not None
        else None,
        carried=_carried(scan, passes=False),
        numbered=by_arrival,
        ordered=counts(join) and not by_arrival,
        static=static,
    )


def _counted_of_side(join: Join, at: int) -> tuple[tuple[str, pl.DataType], ...] | None:
    """The keys within which RETAIN n ROWS counts, None without it."""
    if join.policy.retain_rows is None:
        return None
    types = polars_schema((join.left, join.right)[at].schema)
    return tuple((key, types[key]) for key in (join.left_keys, join.right_keys)[at])


def _above(plan: Node) -> tuple[list[Node], Node]:
    """The filters and projections on top of a plan, and what they stand on."""
    passed: list[Node] = []
    while isinstance(plan, Filter | Project):
        passed.append(plan)
        plan = plan.input
    return passed, plan


def _filter_and_project(nodes: list[Node], source: Node) -> tuple[Scalar | None, Columns]:
    """The one Filter and the one Project of normal form above `source`."""
    where: Scalar | None = None
    columns: Columns | None = None
    for node in nodes:
        if isinstance(node, Filter) and where is None:
            where = node.predicate
        elif isinstance(node, Project) and columns is None:
            columns = node.columns
        else:
            raise TypeError(f"not in normal form: a second {type(node).__name__}")
    return where, columns if columns is not None else _identity(source)


def _identity(node: Node) -> Columns:
    return tuple((column.name, column_of(column)) for column in node.schema)


def _replays(scan: Scan | StaticScan) -> bool:
    """Whether repeated messages are dropped by their positions; where rows may be retracted the
    operator deduplicates."""
    return repeats(scan.stream) and not changing(scan)


def _admission(window: Window, scan: Scan) -> Admission | None:
    policy, rising = window_policy(window), arriving(window)
    assert policy is not None
    stream, replays = scan.stream, _replays(scan)
    counted = policy.retain_rows is not None and not rising
    if not replays and not counted:
        return None
    keys = _counted_within(window) if counted else None
    width = slice_width(policy.retain or ENDLESS)
    nameless = policy.ttl is not None
    rest = (row_retention(window), width, nameless)
    rows = policy.retain_rows
    return Admission(stream.name, replays, rising, keys, *rest, retain_rows=rows)


def row_retention(window: Window | None) -> RowRetention | None:
    """Of the rows that a window operator reads; None where none can expire."""
    if window is None:
        return None
    bare, policy = unranked(window), window_policy(window)
    if policy is None or policy.retain is None:
        return None
    own = bare.window if isinstance(bare, WindowAggregate) else None
    aligned = own if isinstance(own, Ending) and own.unit is Unit.RANGE else None
    frames = reach_of(bare) if isinstance(bare, OverAggregate) else None
    return RowRetention(policy.retain, policy.since, aligned or frames, _judged_gap(window))


def _judged_gap(window: Window) -> int | None:
    bare = unranked(window)
    if not isinstance(bare, WindowAggregate) or not isinstance(bare.window, Session):
        return None
    from sqlwin.operators.sessions.judging import judged_gap

    return judged_gap(bare.window, bare.policy, bool(bare.sets), weighted(window))


def _of_join(join: Join) -> RowRetention | None:
    policy = join.policy
    return None if policy.retain is None else RowRetention(policy.retain, policy.since)


def _counted_within(window: Window) -> tuple[tuple[str, pl.DataType], ...]:
    """The keys within which RETAIN n ROWS counts; ranks do not narrow those of their windows."""
    below = unranked(window)
    types = polars_schema(below.input.schema)
    return tuple((key, types[key]) for key in bucket_keys(below))
