"""How far behind a column is above a window operator: what the operator adds to its input's delay.

Invariant: each function bounds what its operator may wait for, or is None; the table is in `times`.
`below` is the delay of a column of the input.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlwin.patterns import Navigation
from sqlwin.plan.ir.nodes import MatchRecognize, OverAggregate, WindowAggregate
from sqlwin.plan.properties.bounds import plus
from sqlwin.plan.properties.edges import cascade, edge, names_of
from sqlwin.plan.properties.facts import streams_of
from sqlwin.windows import Unit
from sqlwin.windows.group import Whole
from sqlwin.windows.session import Session

Below = Callable[[str], int | None]
"""The delay of a column of the input."""


def matched(plan: MatchRecognize, name: str, below: Below) -> int | None:
    """Of a time of one of its rows: a match is full when WITHIN is over, at the latest."""
    if name in plan.kept:
        own = below(name)
        return None if plan.within is None else plus(own, plan.within + 1)
    term = next((term for term in plan.measures if term.name == name), None)
    if not isinstance(term, Navigation) or term.column is None or term.back or plan.within is None:
        return None
    return plus(below(term.column), plan.within + 1)


def windowed(plan: WindowAggregate, name: str, below: Below) -> int | None:
    shape = plan.window
    if _of_changes(plan, name):
        return 0
    if name in plan.keys:
        return _key(plan, name, below)
    if shape.unit is Unit.ROWS or isinstance(shape, Whole):
        return None
    if name == "window_end":
        return 0
    if name == "window_start":
        return shape.most if isinstance(shape, Session) else shape.size
    return None


def _of_changes(plan: WindowAggregate, name: str) -> bool:
    """Whether it is the event time of a changelog, whose rows come as they are normalized."""
    return any(s.changelog is not None and s.ts == name for s in streams_of(plan))


def _key(plan: WindowAggregate, name: str, below: Below) -> int | None:
    shape, own = plan.window, below(name)
    if isinstance(shape, Whole) or own is None:
        return own
    if isinstance(shape, Session) or shape.unit is Unit.ROWS:
        return None
    found = edge(plan.input, name)
    if found is not None and shape == cascade(found.window):
        return found.window.size if found.kind == "start" else 0
    return own + shape.size


def framed(plan: OverAggregate, name: str, below: Below) -> int | None:
    if plan.by_arrival:
        return None
    if plan.window_columns and name in ("window_start", "window_end"):
        return 0 if name == "window_end" else plan.calls[0].frame.preceding
    if name not in names_of(plan.input):
        return None
    frames = [call.frame.in_time for call in plan.calls if call.timed]
    if any(frame.unit is Unit.SESSION for frame in frames):
        return None
    ahead = [f.following for f in frames if f.unit is Unit.RANGE and f.following is not None]
    return plus(below(name), max((0, *ahead)))
