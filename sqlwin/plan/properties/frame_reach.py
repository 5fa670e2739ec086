"""Which OVER clauses judge a late row by the frames that may hold it.

A row that is older than RETAIN counts in a frame that is kept, if what follows from it can be known
of the rows that are stored: see `reach_of` for where it cannot. There it is judged by its own time.
"""

from __future__ import annotations

from sqlwin.plan.ir.nodes import OverAggregate
from sqlwin.plan.properties.changelog import repeats, weighted
from sqlwin.plan.properties.facts import streams_of
from sqlwin.windows.frames import Reach


def reach_of(window: OverAggregate) -> Reach | None:
    """How far back frames hold a late row; None: it is judged by its own time.

    Not where rows to follow are counted or an order is not by time: then no time ends a frame. Not
    with RETAIN n ROWS, which counts rows of their own time. Frames in ROWS need the rows before
    those that are kept, which may be retracted, or forgotten by a TTL. Of an unbounded frame only
    sums are left of those: no position that shows a repeated message, and no order but that of
    positions.
    """
    if window.by_arrival or window.timeless or window.policy.retain_rows is not None:
        return None
    reach = Reach.of(call.frame for call in window.calls)
    if reach is None or (reach.back is not None and not reach.rows):
        return reach
    if weighted(window) or window.policy.ttl is not None:
        return None
    known = not any(map(repeats, streams_of(window)))
    ordered = not any(call.order for call in window.calls)
    return reach if reach.back is not None or (known and ordered) else None
