"""From a plan in normal form to what a host runs: input pipelines, an operator, a projection.

Both hosts run the same lowered query. A node that is not listed is refused.
"""

from __future__ import annotations

from sqlwin.operators.contract import JoinOperator, Operator
from sqlwin.plan.ir.nodes import Join, Scan, StaticScan, Unnest
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.changelog import carries_weights, changing, reappears, weighted
from sqlwin.plan.properties.facts import (
    Window,
    arriving,
    bucket_keys,
    counts,
    join_of,
    spanned,
    ttl_keys,
    unranked,
)
from sqlwin.plan.properties.stores import keeps_positions
from sqlwin.polars_frames import polars_schema
from sqlwin.runtime.inputs.admission import Admission
from sqlwin.runtime.inputs.input import Input
from sqlwin.runtime.lowering.cuts import Cut, above_of, cut_at_window, filter_and_project
from sqlwin.runtime.lowering.expiry import (
    admission,
    counted_of_side,
    drops_repeats,
    join_retention,
    row_retention,
)
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.lowering.windows import Assembly
from sqlwin.schema import CHANGE, WEIGHT
from sqlwin.state.slices import ENDLESS, slice_width


def lower(query: Query, derives: bool = False) -> Lowered:
    """derives: see `Lowered`."""
    join = join_of(query.plan)
    return _windowed(query, derives) if join is None else _joined(query, join, derives)


def _windowed(query: Query, derives: bool) -> Lowered:
    cut = cut_at_window(query.plan)
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
        admission=None if window is None else admission(window, cut.scan),
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


def _joined(query: Query, join: Join, derives: bool) -> Lowered:
    from sqlwin.runtime.lowering.joins import joined, with_ttls

    above, _ = above_of(query.plan)
    having, output = filter_and_project(above, join)
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
    below, scan = above_of((join.left, join.right)[at])
    assert isinstance(scan, Scan | StaticScan)
    where, columns = filter_and_project(below, scan)
    static, stream = isinstance(scan, StaticScan), scan.stream
    by_arrival, spans = counts(join) and not stream.of, spanned(stream)
    expires = stream.ts is not None and not (by_arrival or static)
    retention = join_retention(join) if expires else None
    replays = drops_repeats(scan) and not static
    by_rows = counted_of_side(join, at)
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
        ordered=counts(join) and not (by_arrival or spans),
        spanned=spans,
        static=static,
    )
