"""From a plan in normal form to what a host runs: a front, an operator, a back.

Both hosts run the same lowered query. A node that is not listed is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl
import pyarrow as pa

from sqlwin.instants import SECOND
from sqlwin.kernels.folds import Fold, fold
from sqlwin.operators.aggregator import WindowAggregator
from sqlwin.operators.contract import Operator
from sqlwin.operators.framing import Call
from sqlwin.operators.over import OverAggregator
from sqlwin.operators.slider import TupleSlider
from sqlwin.operators.tuples import TupleAggregator
from sqlwin.plan.facts import bucket_keys, counts
from sqlwin.plan.nodes import (
    Aggregate,
    Filter,
    Node,
    OverAggregate,
    OverCall,
    Project,
    Query,
    Scalar,
    Scan,
    Stream,
    WindowAggregate,
    column_of,
)
from sqlwin.runtime.scalars import Columns
from sqlwin.schema import polars_schema, polars_type
from sqlwin.windows import Frame, Unit

SLICES = 4
"""Time slices that a window's reach and retention are cut into; whole slices expire."""
SHORTEST_SLICE = 10 * SECOND
"""Each slice costs a segment a batch, so that short windows share one."""


@dataclass(frozen=True)
class Lowered:
    """where, columns: of the front. having, output: of the back.

    keys: the columns a bucket is chosen by; none where all rows belong together.
    retain: microseconds, None where no row can expire. timed: rows need event time.
    """

    query: Query
    stream: Stream
    where: Scalar | None
    columns: Columns
    operator: Operator | None
    having: Scalar | None
    output: Columns
    keys: tuple[str, ...]
    retain: int | None
    timed: bool

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        return {column.name: column.type for column in self.stream.schema}

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows if self.operator is None else self.operator.prepare(rows)


@dataclass(frozen=True)
class Cut:
    """A plan cut at its window operator."""

    scan: Scan
    where: Scalar | None
    columns: Columns
    window: WindowAggregate | OverAggregate | None
    having: Scalar | None
    output: Columns


def lower(query: Query) -> Lowered:
    cut = _cut(query.plan)
    window, stream = cut.window, cut.scan.stream
    return Lowered(
        query=query,
        stream=stream,
        where=cut.where,
        columns=cut.columns,
        operator=None if window is None else _operator(window, stream, cut.having is not None),
        having=cut.having,
        output=cut.output,
        keys=() if window is None else bucket_keys(window),
        retain=None if window is None or counts(window) else window.policy.retain,
        timed=window is not None and not counts(window),
    )


def _cut(plan: Node) -> Cut:
    above: list[Node] = []
    node = plan
    while isinstance(node, Filter | Project):
        above.append(node)
        node = node.input
    if isinstance(node, Scan):
        return Cut(node, *_front(above, node), None, None, _identity(plan))
    below: list[Node] = []
    inner = node.input
    while isinstance(inner, Filter | Project):
        below.append(inner)
        inner = inner.input
    if not isinstance(inner, Scan):
        raise TypeError(f"not in normal form: {type(inner).__name__} below {type(node).__name__}")
    where, columns = _front(below, inner)
    having, output = _front(above, node)
    return Cut(inner, where, columns, node, having, output)


def _front(nodes: list[Node], source: Node) -> tuple[Scalar | None, Columns]:
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


def _operator(window: WindowAggregate | OverAggregate, stream: Stream, filtered: bool) -> Operator:
    if isinstance(window, WindowAggregate):
        return _tumbled(window, stream, filtered)
    return _slid(window, stream, filtered)


def _tumbled(window: WindowAggregate, stream: Stream, filtered: bool) -> Operator:
    below = polars_schema(window.input.schema)
    keys = {key: below[key] for key in window.keys}
    folds = tuple(_fold(a, window.input) for a in window.aggregates)
    values = tuple(polars_type(a.type) for a in window.aggregates)
    if counts(window):
        counted = (window.partition, keys, folds, values, window.where, filtered)
        return TupleAggregator(stream.name, window.window, below, *counted)
    return WindowAggregator(
        stream.name, window.window, below, keys, folds, values, window.policy, filtered
    )


def _slid(window: OverAggregate, stream: Stream, filtered: bool) -> Operator:
    carried = polars_schema(window.input.schema)
    calls = tuple(_call(call, window) for call in window.calls)
    if window.by_arrival:
        first = window.calls[0]
        size = first.frame.preceding + 1
        return TupleSlider(stream.name, size, first.partition, carried, calls, window.where)
    ranges = (c.frame.preceding for c in calls if c.frame.unit is Unit.RANGE)
    width = slice_width(max(ranges, default=0) + window.policy.retain)
    return OverAggregator(
        stream.name, carried, calls, window.policy, width, window.per_instant, filtered
    )


def _call(call: OverCall, window: OverAggregate) -> Call:
    """A sliding tuple window is a RANGE over message numbers."""
    frame = Frame(Unit.RANGE, call.frame.preceding) if window.by_arrival else call.frame
    aggregate = call.aggregate
    return Call(_fold(aggregate, window.input), call.partition, frame, polars_type(aggregate.type))


def slice_width(span: int) -> int:
    """Microseconds of a time slice in a store that spans so many."""
    return max(SHORTEST_SLICE, -(-span // SLICES))


def _fold(aggregate: Aggregate, below: Node) -> Fold:
    types = {column.name: column.type for column in below.schema}
    args = tuple(types[arg] for arg in aggregate.args)
    return fold(
        aggregate.name, aggregate.function, aggregate.args, args, aggregate.type, aggregate.where
    )
