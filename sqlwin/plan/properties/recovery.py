"""What a query can do while a lost message store is filled again, see docs/errors.md."""

from __future__ import annotations

from sqlwin.plan.ir.nodes import Node, OverAggregate, WindowAggregate, WindowRank
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.facts import window_of, window_policy
from sqlwin.policies import Late
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.session import Session


def corrects(query: Query, filtered: bool) -> bool:
    """Whether a result emitted from incomplete rows is corrected as the missing rows arrive.

    Not under LATE NEVER or RETAIN n ROWS, where a filter or a sink needs the value before, where a
    frame waits for following rows, or where a session has a rank. filtered: a filter is above.
    """
    window, policy = window_of(query.plan), window_policy(query.plan)
    if policy is None or policy.late is Late.NEVER or policy.retain_rows is not None:
        return False
    if query.retracts or filtered:
        return False
    if isinstance(window, WindowRank):
        return not isinstance(window.input.window, Session)
    if isinstance(window, OverAggregate):
        return not any(_waits(call.frame.in_time) for call in window.calls)
    return True


def reaches_back(plan: Node) -> bool:
    """Whether a row older than an emitted result needs the stored messages of it: the row is in
    frames of others, or retracts a session whose values only the messages have."""
    window = window_of(plan)
    if isinstance(window, WindowAggregate):
        return isinstance(window.window, Session)
    return isinstance(window, OverAggregate)


def _waits(frame: Frame) -> bool:
    """For rows to follow, however long."""
    return frame.following is None or (frame.unit is not Unit.RANGE and frame.following > 0)
