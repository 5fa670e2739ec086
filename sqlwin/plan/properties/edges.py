"""Which edge of a group window a column is, through any number of stages.

So GROUP BY window_start, window_end over the result of windows is those windows again: of all that
end in one `advance`, which is what `cascade` makes.

>>> cascade(Hop(size=10, advance=4))  # ends at 10, 14, 18: 10 is the end of [6, 10)
Hop(size=4, advance=4, offset=2, unit=<Unit.RANGE: 'RANGE'>)
"""

from __future__ import annotations

from dataclasses import replace

from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.joins import HALVES
from sqlwin.plan.ir.nodes import (
    Join,
    MatchRecognize,
    Node,
    OverAggregate,
    Project,
    Scalar,
    Scan,
    StaticScan,
    Stream,
    TopN,
    Unnest,
    WindowAggregate,
    WindowedRelation,
    WindowRank,
    quoted,
)
from sqlwin.plan.ir.once import once
from sqlwin.schema import TIMESTAMP
from sqlwin.windows import Unit
from sqlwin.windows.group import CalendarWindow, DaysOfMonths, Ending, Hop


@dataclass(frozen=True)
class Edge:
    """kind: start, end, or time, which is the last instant."""

    kind: str
    window: Ending

    @property
    def fixed(self) -> bool:
        """Whether the start of a window is as far from its end as that of any other."""
        return isinstance(self.window, Hop)


def cascade(window: Ending | DaysOfMonths) -> Ending:
    """The tumbling window that holds the last instants of one of `window`'s ends."""
    if isinstance(window, CalendarWindow):
        tumbling, calendar = cascade(window.periods), window.calendar
        assert isinstance(tumbling, Hop)
        offset = calendar.offset + tumbling.offset * calendar.step
        wider = replace(calendar, step=calendar.step * tumbling.size, offset=offset)
        return CalendarWindow(wider, Hop(1, 1))
    if isinstance(window, DaysOfMonths):
        return Hop(1, 1)
    advance = window.advance if isinstance(window, Hop) else window.step
    return Hop(advance, advance, (window.offset + window.size) % advance)


def last_instant(column: str, edge: Edge) -> Scalar:
    """Of a window, over a column that is its end or, where its size is known, its start."""
    sign, by = ("+", edge.window.size - 1) if edge.kind == "start" else ("-", 1)
    shifted = f"({{}} {sign} INTERVAL '{by}' MICROSECOND)"
    return Scalar(
        shifted.format(written(column)), shifted.format(quoted(column)), TIMESTAMP, (column,)
    )


def written(column: str) -> str:
    """As a query has it."""
    return column if column.isidentifier() else f"`{column}`"


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
        timed = isinstance(shape, Ending) and shape.unit is Unit.RANGE
        kind = {"window_start": "start", "window_end": "end"}.get(name)
        return Edge(kind, shape) if timed and kind else None  # type: ignore[arg-type]
    if isinstance(plan, MatchRecognize) and name not in plan.partition:
        return None
    if isinstance(plan, OverAggregate | Unnest | WindowedRelation) and name not in names_of(
        plan.input
    ):
        return None
    return edge(plan.input, name)


def _edge_above(plan: Project, name: str) -> Edge | None:
    scalar = scalars_of(plan)[name]
    if scalar.is_column:
        return edge(plan.input, scalar.inputs[0])
    found = last_of(plan, name)
    return None if found is None else replace(found, kind="time")


def _edge_joined(plan: Join, name: str) -> Edge | None:
    left = name in names_of(plan.left)
    padded = ("right", "full") if left else ("left", "full")
    lacks = plan.kind in padded or (plan.kind in HALVES and not left)
    if plan.stays is not None or lacks or name in plan.numbers:
        return None
    return edge(plan.left if left else plan.right, name)


def source(plan: Project, name: str) -> str | None:
    """The column below that one is, or is made of as the last instant of a window."""
    scalar = scalars_of(plan)[name]
    if len(scalar.inputs) != 1:
        return None
    (below,) = scalar.inputs
    last = last_of(plan, name) is not None or scalar.sql == less_one(below)
    return below if scalar.is_column or last else None


def less_one(column: str) -> str:
    """A session's last instant may be one at which the watermark stands."""
    return f"({written(column)} - INTERVAL '1' MICROSECOND)"


def last_of(plan: Project, name: str) -> Edge | None:
    """The edge of a window of which a column is made into its last instant."""
    scalar = scalars_of(plan)[name]
    if len(scalar.inputs) != 1 or scalar.is_column:
        return None
    found = edge(plan.input, scalar.inputs[0])
    if found is None or found.kind == "time" or (found.kind == "start" and not found.fixed):
        return None
    return found if scalar.sql == last_instant(scalar.inputs[0], found).sql else None


@once
def names_of(plan: Node) -> frozenset[str]:
    return frozenset(column.name for column in plan.schema)


@once
def scalars_of(plan: Project) -> dict[str, Scalar]:
    return dict(plan.columns)
