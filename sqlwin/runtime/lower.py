"""From a plan in normal form to what a host runs: a front, an operator, a back.

Both hosts run the same lowered query. A node that is not listed is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl
import pyarrow as pa

from sqlwin.operators.contract import Operator
from sqlwin.operators.living import Living
from sqlwin.plan.facts import (
    Window,
    bucket_keys,
    counts,
    ttl_keys,
    unranked,
    window_of,
    window_policy,
)
from sqlwin.plan.nodes import (
    Filter,
    Node,
    OverAggregate,
    Project,
    Query,
    Scalar,
    Scan,
    Stream,
    WindowAggregate,
    WindowRank,
    column_of,
)
from sqlwin.policies import Expired, Late, Policy
from sqlwin.runtime.admission import Admission
from sqlwin.runtime.assembly import Assembly
from sqlwin.runtime.scalars import Columns
from sqlwin.runtime.slices import ENDLESS, slice_width
from sqlwin.schema import polars_schema
from sqlwin.windows import Frame, Hop, Session, Unit, Whole


@dataclass(frozen=True)
class Lowered:
    """where, columns: of the front. having, output: of the back.

    keys: the columns a bucket is chosen by; none where all rows belong together.
    retain: microseconds, None where no row can expire. timed: rows need event time.
    admission: what a task judges rows by, None where it takes all of them.
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
    admission: Admission | None = None

    @property
    def policy(self) -> Policy | None:
        """Of its window, None where it has none."""
        return window_policy(self.query.plan)

    def opened(self, newest: int) -> int | None:
        """Which window of time an instant opens; None where each row may open one."""
        window = window_of(self.query.plan)
        if not isinstance(window, WindowAggregate) or counts(window):
            return None
        by = window.window
        if isinstance(by, Session):
            return None
        if isinstance(by, Whole):
            return 0
        return (newest - by.offset) // (by.advance if isinstance(by, Hop) else by.step)

    @property
    def corrects(self) -> bool:
        """Whether a value that goes out of too few rows is corrected by each that follows.

        Not if corrections are not wanted, retention is told by the rows, a filter asks
        for the value before, a frame waits for rows to follow, or a session has a rank.
        """
        window, policy = window_of(self.query.plan), self.policy
        if policy is None or policy.late is Late.NEVER or policy.retain_rows is not None:
            return False
        if isinstance(window, WindowRank) and isinstance(window.input.window, Session):
            return False
        if isinstance(window, OverAggregate):
            return self.having is None and not any(_waits(c.frame) for c in window.calls)
        return self.having is None

    @property
    def reaches_back(self) -> bool:
        """Whether a row that lies before what was emitted needs the messages of that: it is
        in the frames of others, or withdraws a session of which only they know the values.
        """
        window = window_of(self.query.plan)
        if isinstance(window, WindowAggregate):
            return isinstance(window.window, Session)
        return isinstance(window, OverAggregate)

    @property
    def expired(self) -> Expired:
        return Expired.STREAM if self.policy is None else self.policy.expired

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        return {column.name: column.type for column in self.stream.schema}

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows if self.operator is None else self.operator.prepare(rows)


def _waits(frame: Frame) -> bool:
    """For rows to follow, however long."""
    return frame.following is None or (frame.unit is Unit.ROWS and frame.following > 0)


@dataclass(frozen=True)
class Cut:
    """A plan cut at its window operator."""

    scan: Scan
    where: Scalar | None
    columns: Columns
    window: Window | None
    having: Scalar | None
    output: Columns


def lower(query: Query) -> Lowered:
    cut = _cut(query.plan)
    window, policy, stream = cut.window, window_policy(query.plan), cut.scan.stream
    timed = window is not None and not counts(window) and stream.ts is not None
    functions = {function.name: function for function in query.functions}
    assembly = Assembly(stream.name, cut.having is not None, functions)
    return Lowered(
        query=query,
        stream=stream,
        where=cut.where,
        columns=cut.columns,
        operator=None if window is None else _living(assembly.operator(window), window),
        having=cut.having,
        output=cut.output,
        keys=() if window is None else bucket_keys(window),
        retain=policy.retain if policy is not None and timed else None,
        timed=timed,
        admission=None if window is None else _admission(window, stream),
    )


def _living(operator: Operator, window: Window) -> Operator:
    """With the TTL of its keys, where they have one."""
    ttl = unranked(window).policy.ttl
    if ttl is None:
        return operator
    types = polars_schema(unranked(window).input.schema)
    return Living(operator, ttl, {key: types[key] for key in ttl_keys(window)})


def _cut(plan: Node) -> Cut:
    above: list[Node] = []
    node = plan
    while isinstance(node, Filter | Project):
        above.append(node)
        node = node.input
    if isinstance(node, Scan):
        return Cut(node, *_front(above, node), None, None, _identity(plan))
    below: list[Node] = []
    inner = unranked(node).input
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


def _admission(window: Window, stream: Stream) -> Admission | None:
    policy, rising = window_policy(window), counts(window)
    assert policy is not None
    replays = stream.offset is not None and not stream.trusted
    counted = policy.retain_rows is not None and not rising
    if not replays and not counted:
        return None
    keys = _counted_within(window) if counted else None
    width = slice_width(policy.retain or ENDLESS)
    nameless = policy.ttl is not None
    return Admission(stream.name, replays, rising, keys, policy.retain, width, nameless)


def _counted_within(window: Window) -> tuple[tuple[str, pl.DataType], ...]:
    """The keys within which RETAIN n ROWS counts; ranks do not narrow those of their windows."""
    below = unranked(window)
    types = polars_schema(below.input.schema)
    return tuple((key, types[key]) for key in bucket_keys(below))
