"""EXPLAIN of plan nodes, each on one line.

>>> from sqlwin.windows import Unit
>>> from sqlwin.windows.frames import Frame
>>> frame(Frame(Unit.ROWS, 2)), frame(Frame(Unit.RANGE, None, 60_000_000))
('ROWS 2 preceding', 'RANGE unbounded preceding to 1 minute following')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import singledispatch

import pyarrow as pa

from sqlwin.plan.explain.operators import stays
from sqlwin.plan.explain.shapes import _session, frame, length, shape
from sqlwin.plan.ir.nodes import (
    Aggregate,
    Filter,
    Join,
    MatchRecognize,
    Node,
    OverAggregate,
    OverCall,
    Project,
    Scan,
    StaticScan,
    TopN,
    Unnest,
    WindowAggregate,
    WindowedRelation,
    WindowRank,
)
from sqlwin.schema import Order
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinSessions, JoinWindow, SpannedWindow, SteppedWindow
from sqlwin.windows.session import Session
from sqlwin.windows.stays import JoinStays


@singledispatch
def line(node: Node) -> str:
    """Of one node of a plan."""
    raise TypeError(f"no line says {type(node).__name__}")


@line.register(Scan)
@line.register(StaticScan)
def _scan(node: Scan | StaticScan) -> str:
    return f"{type(node).__name__} {node.stream.name}"


@line.register
def _filter(node: Filter) -> str:
    return f"Filter {node.predicate.sql}"


@line.register
def _project(node: Project) -> str:
    made = [s.sql if s.sql == n else f"{s.sql} AS {n}" for n, s in node.columns]
    return f"Project {', '.join(made) or '(no columns)'}"


@line.register
def _over_aggregate(node: OverAggregate) -> str:
    types = {column.name: column.type for column in node.input.schema}
    return f"OverAggregate {', '.join(_over(call, types) for call in node.calls)}"


@line.register
def _match(node: MatchRecognize) -> str:
    from sqlwin.plan.explain.operators.matches import line as pattern

    return pattern(node)


@line.register
def _unnest(node: Unnest) -> str:
    """With what its array is, which is computed for it."""
    made = dict(node.input.columns) if isinstance(node.input, Project) else {}
    array = made[node.column].sql if node.column in made else node.column
    ordinal = [] if node.ordinal is None else [f"{node.ordinal} from {node.first}"]
    outer = ", or NULL of none" if node.outer else ""
    return f"Unnest {array} AS {', '.join([*node.names, *ordinal])}{outer}"


@line.register
def _join(node: Join) -> str:
    pairs = zip(node.left_keys, node.right_keys, strict=True)
    keys = _listed(" on", [f"{left} = {right}" for left, right in pairs])
    residual = "" if node.residual is None else f" where {node.residual.sql}"
    numbers = _listed(" with numbers", [name for name in node.numbers if name])
    return f"Join {node.kind}{keys} {near(node.match)}{numbers}{residual}"


def near(match: JoinWindow | AsOf | JoinSessions) -> str:
    """The right position less the left one, as an interval; or how an ASOF join compares, or
    which sessions overlap.

    >>> near(JoinWindow(Unit.RANGE, -60_000_000, None)), near(AsOf(">="))
    ('RANGE [-1 minute, unbounded]', 'ASOF >=')
    """
    if isinstance(match, AsOf):
        return f"ASOF {match.op}"
    if isinstance(match, JoinStays):
        return stays.near(match)
    if isinstance(match, JoinSessions):
        sessions = " and ".join(_session(each) for each in (match.left, match.right))
        return f"{sessions} of the first {match.keys} keys".replace("first 1 keys", "first key")
    ends = f"{_end(match.low, match.unit)}, {_end(match.high, match.unit)}"
    return f"{match.unit.value} [{ends}]{_steps(match)}{_span(match)}"


def _steps(match: JoinWindow) -> str:
    if not isinstance(match, SteppedWindow):
        return ""
    sides = (("left", match.left), ("right", match.right))
    windows = [
        f"{name} {each.size} every {each.advance}"
        for name, each in sides
        if each.size is not None and each.advance > 1
    ]
    return f" of {' and '.join(windows)}"


def _span(match: JoinWindow) -> str:
    if not isinstance(match, SpannedWindow):
        return ""
    return f" of {match.first} to {match.last or 'any'}"


def _end(end: int | None, unit: Unit) -> str:
    if end is None:
        return "unbounded"
    return str(end) if unit is Unit.ROWS or not end else length(end, unit)


@line.register
def _window(node: WindowAggregate) -> str:
    calls = [_call(aggregate) for aggregate in node.aggregates]
    sets = [f"({', '.join(keys)})" for keys in node.sets]
    partitioned = _listed(" by", node.partition) if isinstance(node.window, Session) else ""
    named = (
        f"{partitioned}{_listed(' keys', node.keys)}{_listed(' sets', sets)}{_listed('', calls)}"
    )
    rows = " of rows" if node.per_row else ""
    return f"WindowAggregate{rows} {shape(node.window)}{named}"


@line.register(TopN)
@line.register(WindowRank)
def _ranked(node: TopN | WindowRank) -> str:
    first = f" of the first {node.limit}" if isinstance(node, TopN) else ""
    ranked = f"{_listed(' by', node.partition)}{_listed(' order', _orders(node.order))}"
    return f"{type(node).__name__} {node.name} = {node.function}(){first}{ranked}"


@line.register
def _relation(node: WindowedRelation) -> str:
    slide = "" if node.slide is None else f" every {length(node.slide, Unit.RANGE)}"
    instants = " at each change" * node.instants
    return f"WindowedRelation {frame(node.frame)}{slide}{_listed(' by', node.partition)}{instants}"


def _orders(order: Iterable[Order]) -> list[str]:
    return [
        f"{o.column}{' desc' if o.descending else ''}{' nulls last' if o.nulls_last else ''}"
        for o in order
    ]


def _call(aggregate: Aggregate) -> str:
    where = f" where {aggregate.where}" if aggregate.where else ""
    distinct = "distinct " if aggregate.distinct else ""
    args = ", ".join(aggregate.args) or ("*" if aggregate.function == "count" else "")
    params = "".join(f"; {param!r}" for param in aggregate.params)
    order = f" order by {', '.join(_orders(aggregate.order))}" if aggregate.order else ""
    limit = f" limit {aggregate.limit}" if aggregate.limit is not None else ""
    inside = f"{distinct}{args}{params}{order}{limit}"
    return f"{aggregate.name} = {aggregate.function}({inside}){where}"


def _over(call: OverCall, types: Mapping[str, pa.DataType]) -> str:
    by, order = _listed(" by", call.partition), _listed(" order", _orders(call.order))
    if call.timed:
        return f"{_call(call.aggregate)} over {frame(call.frame)}{by}{order}"
    key = types[call.order[0].column]
    counted = not (pa.types.is_timestamp(key) or pa.types.is_date(key))
    own = frame(call.frame, Unit.ROWS if counted else call.frame.unit)
    return f"{_call(call.aggregate)} over {own}{by}{order} alone"


def _listed(what: str, names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"{what} [{listed}]" if listed else ""
