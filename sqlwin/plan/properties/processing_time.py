"""What of a plan goes by processing time: calls such as `NOW()`, columns `pt AS PROCTIME()`.

A column of processing time has the time of the batch that takes its row in. Where it is the event
time of a stream, the stream's watermark is the clock.

>>> import pyarrow as pa
>>> from sqlwin.errors import Span
>>> from sqlwin.plan.ir.nodes import Project, Scan, Stream
>>> scan = Scan(Stream("orders", (), None))
>>> call = ClockCall("NOW()", Span(1, 8))
>>> now = Scalar("NOW()", '"__now"', pa.timestamp("us", "UTC"), (), clock=call)
>>> clock_call(scan), clock_call(Project(scan, (("seen", now),))).text
(None, 'NOW()')
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.plan.ir.nodes import Filter, Join, Node, Project, Scalar, Scan, StaticScan, Stream
from sqlwin.plan.ir.once import once
from sqlwin.plan.ir.streams import ClockCall
from sqlwin.plan.properties.facts import below_of, plans_of, scans, sources_of, window_policy


def clock_call(plan: Node) -> ClockCall | None:
    """The first of the plan and those below it, None where there is none."""
    calls = (scalar.clock for made in plans_of(plan) for scalar in _scalars(made))
    return next((call for call in calls if call is not None), None)


def reads_clock(plan: Node) -> bool:
    """Whether a call, or a column of a stream, has the plan read processing time."""
    known = {name for stream in sources_of(plan) for name in clock_columns(stream)}
    scalars = (scalar for made in plans_of(plan) for scalar in _scalars(made))
    called = any(s.clock is not None or not known.isdisjoint(s.inputs) for s in scalars)
    return called or any(by_clock(stream) for stream in sources_of(plan))


def _scalars(node: Node) -> Iterator[Scalar]:
    if isinstance(node, Scan | StaticScan):
        return
    if isinstance(node, Filter):
        yield node.predicate
    elif isinstance(node, Project):
        yield from (scalar for _, scalar in node.columns)
    elif isinstance(node, Join) and node.residual is not None:
        yield node.residual
    for below in below_of(node):
        yield from _scalars(below)


@once
def clock_columns(stream: Stream) -> frozenset[str]:
    """The columns of a declared stream that are processing time, or are computed from it."""
    found: set[str] = set()
    for name, scalar in stream.computed:
        if scalar.clock is not None or not found.isdisjoint(scalar.inputs):
            found.add(name)
    return frozenset(found)


def is_clock(stream: Stream, name: str) -> bool:
    """Whether a column of a declared stream is processing time itself."""
    return any(own == name and scalar.clock is not None for own, scalar in stream.computed)


def by_clock(stream: Stream) -> bool:
    """Whether the event time of a declared stream is processing time."""
    return stream.ts is not None and is_clock(stream, stream.ts)


@once
def behind_clock(plan: Node) -> int | None:
    """How far the watermark of a plan's operator is behind processing time, in microseconds;
    None where event time moves it."""
    found = [_behind(scan.stream) for scan in scans(plan) if isinstance(scan, Scan)]
    known = [each for each in found if each is not None]
    if not known or len(known) < len(found):
        return None
    policy = window_policy(plan)
    return max(known) + (0 if policy is None else policy.hold)


def _behind(stream: Stream) -> int | None:
    if not stream.of:
        return stream.delay if by_clock(stream) else None
    below = [behind_clock(plan) for plan in stream.of]
    known = [each for each in below if each is not None]
    return max(known) + stream.delay if known and len(known) == len(below) else None
