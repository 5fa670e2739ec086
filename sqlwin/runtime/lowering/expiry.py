"""Which rows of an input are refused: those out of retention, and those that come again.

Invariant: what expires by time alone is refused by the input pipeline, which keeps nothing; what
takes a count of the rows of a key, or the positions that were read, by the admission of the task.
"""

from __future__ import annotations

import polars as pl

from sqlwin.plan.ir.nodes import Join, OverAggregate, Scan, StaticScan, WindowAggregate
from sqlwin.plan.properties.changelog import changing, repeats, weighted
from sqlwin.plan.properties.facts import Window, arriving, bucket_keys, unranked, window_policy
from sqlwin.plan.properties.frame_reach import reach_of
from sqlwin.polars_frames import polars_schema
from sqlwin.runtime.inputs.admission import Admission
from sqlwin.runtime.inputs.retention import RowRetention
from sqlwin.state.slices import ENDLESS, slice_width
from sqlwin.windows import Unit
from sqlwin.windows.group import Ending
from sqlwin.windows.session import Session


def counted_of_side(join: Join, at: int) -> tuple[tuple[str, pl.DataType], ...] | None:
    """The keys within which RETAIN n ROWS counts, None without it."""
    if join.policy.retain_rows is None:
        return None
    types = polars_schema((join.left, join.right)[at].schema)
    return tuple((key, types[key]) for key in (join.left_keys, join.right_keys)[at])


def drops_repeats(scan: Scan | StaticScan) -> bool:
    """Whether repeated messages are dropped by their positions; where rows may be retracted the
    operator deduplicates."""
    return repeats(scan.stream) and not changing(scan)


def admission(window: Window, scan: Scan) -> Admission | None:
    policy, rising = window_policy(window), arriving(window)
    assert policy is not None
    stream, replays = scan.stream, drops_repeats(scan)
    counted = policy.retain_rows is not None and not rising
    if not replays and not counted:
        return None
    keys = _counted_within(window) if counted else None
    width = slice_width(policy.retain or ENDLESS)
    nameless = policy.ttl is not None
    rest = (row_retention(window), width, nameless)
    rows = policy.retain_rows
    return Admission(stream.name, replays, rising, keys, *rest, retain_rows=rows)


def row_retention(window: Window | None) -> RowRetention | None:
    """Of the rows that a window operator reads; None where none can expire."""
    if window is None:
        return None
    bare, policy = unranked(window), window_policy(window)
    if policy is None or policy.retain is None:
        return None
    own = bare.window if isinstance(bare, WindowAggregate) else None
    aligned = own if isinstance(own, Ending) and own.unit is Unit.RANGE else None
    frames = reach_of(bare) if isinstance(bare, OverAggregate) else None
    return RowRetention(policy.retain, policy.since, aligned or frames, _judged_gap(window))


def _judged_gap(window: Window) -> int | None:
    bare = unranked(window)
    if not isinstance(bare, WindowAggregate) or not isinstance(bare.window, Session):
        return None
    from sqlwin.operators.sessions.judging import judged_gap

    return judged_gap(bare.window, bare.policy, bool(bare.sets), weighted(window))


def join_retention(join: Join) -> RowRetention | None:
    policy = join.policy
    return None if policy.retain is None else RowRetention(policy.retain, policy.since)


def _counted_within(window: Window) -> tuple[tuple[str, pl.DataType], ...]:
    """The keys within which RETAIN n ROWS counts; ranks do not narrow those of their windows."""
    below = unranked(window)
    types = polars_schema(below.input.schema)
    return tuple((key, types[key]) for key in bucket_keys(below))
