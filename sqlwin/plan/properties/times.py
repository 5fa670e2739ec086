"""Event time above operators: which columns of a plan carry it, and with what delay.

A row of a derived stream leaves its operator at some watermark `w` of what the plan reads:
the end of its window, the instant of its row, the later of a pair. A column is event time
there iff its values are bounded below by `w`: `delay` is that bound. The derived stream's
own watermark is `w` less the delay of the column chosen, so a row that was not late below
is not late above.

    operator                column            delay
    TUMBLE, HOP, CUMULATE   window_end        0
                            window_time       0: the last instant is still in the window
                            window_start      the window's size
                            key               its own, and the window's size
    session                 window_end        0
                            window_start      MAX; without it there is no bound
    sliding stream window   window_end        0
                            window_start      the window's size
    OVER                    carried column    its own, and the greatest RANGE following
    top-n, GROUP BY alone   carried column    its own: such rows do not wait; of a top-n whose
                                              rows do, and its RETAIN
    join                    left column       its own, and how far the right may be ahead
                            right column      its own, and how far it may be behind

`edge` finds that a column is the edge of a group window, through any number of
stages, so that GROUP BY window_start, window_end over the result of windows is those
windows again: of all that end in one `advance`, which is what `cascade` makes.

>>> cascade(Hop(size=10, advance=4))  # ends at 10, 14, 18: 10 is the end of [6, 10)
Hop(size=4, advance=4, offset=2, unit=<Unit.RANGE: 'RANGE'>)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlwin.plan.ir.joins import HALVES
from sqlwin.plan.ir.nodes import (
    Join,
    Node,
    OverAggregate,
    Project,
    Scalar,
    Scan,
    StaticScan,
    Stream,
    TopN,
    WindowAggregate,
    WindowRank,
    quoted,
)
from sqlwin.plan.ir.once import once
from sqlwin.policies import Early
from sqlwin.schema import TIMESTAMP
from sqlwin.windows import AsOf, Cumulate, Hop, JoinSessions, Session, Unit, Whole


@dataclass(frozen=True)
class Edge:
    """kind: start, end, or time, which is the last instant."""

    kind: str
    window: Hop | Cumulate


def cascade(window: Hop | Cumulate) -> Hop:
    """The tumbling window that holds the last instants of one of `window`'s ends."""
    advance = window.advance if isinstance(window, Hop) else window.step
    return Hop(advance, advance, (window.offset + window.size) % advance)


def last_instant(column: str, edge: Edge) -> Scalar:
    """Of a window, over a column that is its end or, where its size is known, its start."""
    sign, by = ("+", edge.window.size - 1) if edge.kind == "start" else ("-", 1)
    shifted = f"({{}} {sign} INTERVAL '{by}' MICROSECOND)"
    return Scalar(
        shifted.format(_written(column)), shifted.format(quoted(column)), TIMESTAMP, (column,)
    )


def _written(column: str) -> str:
    """As a query has it."""
    return column if column.isidentifier() else f"`{column}`"


def preferred(stream: Stream, among: Sequence[str] | None = None) -> str | None:
    """The event time of a derived stream of which nothing is said; None: it has none.

    The last instant of a window, its end, what is carried, its beginning; of two such the one
    that is less behind.
    """
    names = [column.name for column in stream.columns if column.type == TIMESTAMP]
    kinds = ("time", "end", "carried", "start")
    timed = [
        (kinds.index(_kind(stream, name)), behind, at, name)
        for at, name in enumerate(names)
        if (among is None or name in among) and (behind := delay_in(stream, name)) is not None
    ]
    return min(timed)[-1] if timed else None


def _kind(stream: Stream, name: str) -> str:
    found = edge_in(stream, name)
    return "carried" if found is None else found.kind


# --- how far behind ---------------------------------------------------------------------


@once
def delay_in(stream: Stream, name: str) -> int | None:
    """Of a column of a derived stream, behind what its plans read; None: without bound."""
    return _most(delay(plan, name) for plan in stream.of)


@once
def delay(plan: Node, name: str) -> int | None:
    """How far a column may be behind the least watermark of the streams that the plan scans,
    microseconds; None: any length, or it is no time at all."""
    if isinstance(plan, StaticScan):
        return None
    if isinstance(plan, Scan):
        stream = plan.stream
        if name == stream.ts:
            return 0
        return delay_in(stream, name) if stream.of else None
    if isinstance(plan, Project):
        return _projected(plan, name)
    if isinstance(plan, WindowAggregate):
        return _windowed(plan, name)
    if isinstance(plan, OverAggregate):
        return _framed(plan, name)
    if isinstance(plan, Join):
        return _joined(plan, name)
    if isinstance(plan, TopN | WindowRank) and name == plan.name:
        return None
    own = delay(plan.input, name)
    waits = isinstance(plan, TopN) and plan.policy.early is not Early.ON_UPDATE
    if waits and isinstance(plan, TopN) and plan.policy.retain is not None:
        return _plus(own, plan.policy.retain)
    return own


@once
def _names(plan: Node) -> frozenset[str]:
    return frozenset(column.name for column in plan.schema)


@once
def _scalars(plan: Project) -> dict[str, Scalar]:
    return dict(plan.columns)


def _most(delays: Iterable[int | None]) -> int | None:
    found = list(delays)
    return None if None in found else max((d for d in found if d is not None), default=None)


def _plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _projected(plan: Project, name: str) -> int | None:
    scalar = _scalars(plan)[name]
    if scalar.is_column:
        return delay(plan.input, scalar.inputs[0])
    below = _last(plan, name)
    if below is not None:
        return 0 if below.kind == "start" else delay(plan.input, scalar.inputs[0])
    end = scalar.inputs[0] if len(scalar.inputs) == 1 else ""
    if not end or scalar.sql != _less_one(end):
        return None
    return _plus(delay(plan.input, end), 1)


def source(plan: Project, name: str) -> str | None:
    """The column below that one is, or is made of as the last instant of a window."""
    scalar = _scalars(plan)[name]
    if len(scalar.inputs) != 1:
        return None
    (below,) = scalar.inputs
    last = _last(plan, name) is not None or scalar.sql == _less_one(below)
    return below if scalar.is_column or last else None


def _less_one(column: str) -> str:
    """A session's last instant may be one at which the watermark stands."""
    return f"({_written(column)} - INTERVAL '1' MICROSECOND)"


def _last(plan: Project, name: str) -> Edge | None:
    """The edge of a window of which a column is made into its last instant."""
    scalar = _scalars(plan)[name]
    if len(scalar.inputs) != 1 or scalar.is_column:
        return None
    found = edge(plan.input, scalar.inputs[0])
    if (
        found is None
        or found.kind == "time"
        or (found.kind == "start" and isinstance(found.window, Cumulate))
    ):
        return None
    return found if scalar.sql == last_instant(scalar.inputs[0], found).sql else None


def _windowed(plan: WindowAggregate, name: str) -> int | None:
    shape = plan.window
    if name in plan.keys:
        return _key(plan, name)
    if shape.unit is Unit.ROWS or isinstance(shape, Whole):
        return None
    if name == "window_end":
        return 0
    if name == "window_start":
        return shape.most if isinstance(shape, Session) else shape.size
    return None


def _key(plan: WindowAggregate, name: str) -> int | None:
    shape, own = plan.window, delay(plan.input, name)
    if isinstance(shape, Whole) or own is None:
        return own
    if isinstance(shape, Session) or shape.unit is Unit.ROWS:
        return None
    found = edge(plan.input, name)
    if found is not None and shape == cascade(found.window):
        return found.window.size if found.kind == "start" else 0
    return own + shape.size


def _framed(plan: OverAggregate, name: str) -> int | None:
    if plan.by_arrival:
        return None
    if plan.window_columns and name in ("window_start", "window_end"):
        return 0 if name == "window_end" else plan.calls[0].frame.preceding
    if name not in _names(plan.input):
        return None
    frames = [call.frame for call in plan.calls]
    ahead = [f.following for f in frames if f.unit is Unit.RANGE and f.following is not None]
    return _plus(delay(plan.input, name), max((0, *ahead)))


def _joined(plan: Join, name: str) -> int | None:
    left = name in _names(plan.left)
    own = delay(plan.left if left else plan.right, name)
    null_padded = ("right", "full") if left else ("left", "full")
    if own is None or plan.kind in null_padded:
        return None
    if isinstance(plan.match, AsOf) or plan.static:
        return own if left else None
    if isinstance(plan.match, JoinSessions) or plan.match.unit is Unit.ROWS:
        return None
    low, high = plan.match.low, plan.match.high
    other = high if left else None if low is None else -low
    return _plus(own, plan.policy.retain if other is None else max(0, other))


# --- edges of windows -------------------------------------------------------------------


@once
def edge_in(stream: Stream, name: str) -> Edge | None:
    """Of a derived stream, the same in all its plans; a declared stream has none."""
    found = {edge(plan, name) for plan in stream.of}
    return found.pop() if len(found) == 1 else None


@once
def edge(plan: Node, name: str) -> Edge | None:
    """Which edge of a window of time a column is, None for any other."""
    if isinstance(plan, Scan):
        return edge_in(plan.stream, name)
    if isinstance(plan, StaticScan):
        return None
    if isinstance(plan, Project):
        return _edge_above(plan, name)
    if isinstance(plan, Join):
        return _edge_joined(plan, name)
    if isinstance(plan, TopN | WindowRank) and name == plan.name:
        return None
    if isinstance(plan, WindowAggregate) and name not in plan.keys:
        shape = plan.window
        timed = isinstance(shape, Hop | Cumulate) and shape.unit is Unit.RANGE
        kind = {"window_start": "start", "window_end": "end"}.get(name)
        return Edge(kind, shape) if timed and kind else None  # type: ignore[arg-type]
    if isinstance(plan, OverAggregate) and name not in _names(plan.input):
        return None
    return edge(plan.input, name)


def _edge_above(plan: Project, name: str) -> Edge | None:
    scalar = _scalars(plan)[name]
    if scalar.is_column:
        return edge(plan.input, scalar.inputs[0])
    found = _last(plan, name)
    return None if found is None else replace(found, kind="time")


def _edge_joined(plan: Join, name: str) -> Edge | None:
    left = name in _names(plan.left)
    null_padded = ("right", "full") if left else ("left", "full")
    if plan.kind in null_padded or (plan.kind in HALVES and not left):
        return None
    return edge(plan.left if left else plan.right, name)
