"""How many records each store of a join holds under a load; see `sqlwin.runtime.size.estimate`.

Each stream has the load's rate. A side holds the rows of its *span*: its watermark's delay,
how far later its partners may be, retention, and a time slice, since slices go whole; with
RETAIN n ROWS n of each key, and those of the span without retention. A side with a TTL that
only writes renew holds the rows of that, and of a quarter more.
Of the right of an ASOF join the newest row of each key stays besides.

Worked example: orders with the shipments of the two minutes after them, RETAIN 1 MINUTE,
1000 rows/s, slices of a minute. Orders wait 2 + 1 + 1 minutes, 240,000 of them; a
shipment's partners are none later, so 120,000 are there.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlwin.instants import SECOND
from sqlwin.plan.ir.nodes import Join, Stream
from sqlwin.policies import Ttl, TtlTime, Update
from sqlwin.runtime.size.load import Load
from sqlwin.runtime.size.records import NO_END, Records
from sqlwin.state.contract import Layout
from sqlwin.windows import AsOf, JoinWindow, Unit

NOT_ESTIMATED = "how many these are is not estimated"
BY_SIDE = {"left": 0, "left_known": 0, "told": 0, "right": 1, "right_known": 1}
BY_SIDE |= {"left_lives": 0, "right_lives": 1}
LEFT_OR_RIGHT = ("left", "right")


@dataclass(frozen=True)
class Joined:
    """The store of a join that is asked about. streams: of its left and its right."""

    join: Join
    streams: tuple[Stream, Stream]
    load: Load
    layout: Layout


def records(asked: Joined) -> Records:
    name, match = asked.layout.name, asked.join.match
    if name == "waiting":
        return 0.0  # changes that wait for the end of a period, which are few
    if name.startswith("seen"):
        return _span(asked, int(name.removeprefix("seen") or 0), 0)
    side = BY_SIDE.get(name)
    if asked.join.static or side is None or not isinstance(match, AsOf | JoinWindow):
        return NOT_ESTIMATED
    if isinstance(match, JoinWindow) and match.unit is Unit.ROWS:
        return NOT_ESTIMATED
    ttl = asked.join.policy.ttls.get(LEFT_OR_RIGHT[side])
    if ttl is not None and name.endswith("_lives"):
        return _lived(asked, ttl)
    kept = _held(asked, side, match)
    if ttl is None:
        return kept
    lived = _lived(asked, ttl)
    return lived if isinstance(kept, str) else kept if isinstance(lived, str) else min(kept, lived)


def _held(asked: Joined, side: int, match: AsOf | JoinWindow) -> Records:
    if isinstance(match, JoinWindow):
        reach = (match if side == 0 else match.mirrored).high
        return _span(asked, side, reach or 0)
    rows = _span(asked, side, 0)
    newest = asked.load.keys if side and asked.join.right_keys else float(side)
    return rows if isinstance(rows, str) else rows + newest


def _lived(asked: Joined, ttl: Ttl) -> Records:
    """Those of a TTL and, until compaction is due, of a quarter of it."""
    cleaned = ttl.cleanup.compaction or ttl.cleanup.timers
    if ttl.update is Update.READ or ttl.time is TtlTime.EVENT or not cleaned:
        return NOT_ESTIMATED
    return asked.load.rate * ttl.length * 1.25 / SECOND


def _span(asked: Joined, side: int, reach: int) -> Records:
    """With RETAIN n ROWS no more than n of each key, and those whose windows are open."""
    policy, load, kept = asked.join.policy, asked.load, []
    open_ = asked.streams[side].delay + max(reach, 0)
    if policy.retain is not None and asked.streams[side].ts is not None:
        held = open_ + policy.retain + asked.layout.slice_width
        kept.append(load.rate * held / SECOND)
    if policy.retain_rows is not None:
        keys = load.keys if asked.join.left_keys else 1
        kept.append(policy.retain_rows * keys + load.rate * open_ / SECOND)
    return min(kept) if kept else NO_END
