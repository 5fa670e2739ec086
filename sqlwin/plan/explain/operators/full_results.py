"""EXPLAIN of windows, OVER and top-n: when results are full, and what is emitted before."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.instants import format_duration
from sqlwin.plan.explain.policies import early
from sqlwin.plan.ir.nodes import MatchRecognize, OverAggregate, TopN, WindowAggregate
from sqlwin.plan.properties.facts import arriving, counts
from sqlwin.plan.properties.final_partitions import becomes_final
from sqlwin.policies import Policy
from sqlwin.windows import Unit
from sqlwin.windows.group import Whole
from sqlwin.windows.session import Session


def before_full(policy: Policy) -> Iterator[str]:
    if policy.early is not None:
        yield f"Early: {early(policy)}"
    if policy.discards:
        yield "Discarding: an emission holds what came since the window's last one"


def full(window: WindowAggregate | OverAggregate | TopN | MatchRecognize) -> str:
    if isinstance(window, MatchRecognize):
        from sqlwin.plan.explain.operators import matches

        return matches.full(window)
    if isinstance(window, TopN):
        return "when its retention is over" if becomes_final(window) else "at the end of input"
    if isinstance(window, OverAggregate):
        return "at each message" if window.by_arrival else _row_full(window)
    if isinstance(window.window, Whole):
        return "at the end of input"
    if isinstance(window.window, Session):
        return _session_full(window.window)
    if arriving(window):
        return f"at the message {window.window.size} of a window"
    if counts(window):
        return f"when the watermark passes the row {window.window.size} of a window"
    return "when the watermark reaches the window's end"


def _session_full(window: Session) -> str:
    if window.unit is Unit.RANGE:
        return "when the watermark passes the session's end"
    assert window.gap is not None
    return f"at the message {window.gap + 1} of others behind its last"


def _row_full(window: OverAggregate) -> str:
    frames = [call.frame.in_time for call in window.calls]
    if window.endless:
        return "at the end of input"
    time = max((f.following or 0 for f in frames if f.unit is Unit.RANGE), default=0)
    rows = max((f.following or 0 for f in frames if f.unit is Unit.ROWS), default=0)
    waits = [f"{format_duration(time)} more"] * (time > 0)
    waits += [f"the {rows} rows after it" if rows > 1 else "the row after it"] * (rows > 0)
    groups = max((f.following or 0 for f in frames if f.unit is Unit.GROUPS), default=0)
    behind = f"{groups} groups" if groups > 1 else "group"
    waits += [f"the {behind} of peers after it"] * (groups > 0)
    gap = max((f.following or 0 for f in frames if f.unit is Unit.SESSION), default=0)
    waits += [f"the last row of its session by {format_duration(gap)}"] * (gap > 0)
    return " and ".join(["when the watermark passes the row", *waits])
