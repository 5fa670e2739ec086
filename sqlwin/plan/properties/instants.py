"""Whether the rows of a partition all have one event time: they are of one window.

`PARTITION BY window_end` over the results of windows does: their event time is the window's end, or
its last instant. Then whatever the frame, and whatever ORDER BY, it holds rows of that instant
alone: a row is full when the watermark passes it, and nothing is kept longer.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlwin.plan.ir.nodes import Project, Stream
from sqlwin.plan.properties.edges import edge, edge_in, scalars_of
from sqlwin.windows.group import known_by_start


def pins_time(plan: Project, stream: Stream, partition: Iterable[str]) -> bool:
    """plan: over the rows of the stream; partition: columns of it."""
    return any(_pins(plan, stream, name) for name in partition)


def _pins(plan: Project, stream: Stream, name: str) -> bool:
    if stream.ts is None:
        return False
    scalar = scalars_of(plan)[name]
    if scalar.is_column and scalar.inputs == (stream.ts,):
        return True
    own, found = edge_in(stream, stream.ts), edge(plan, name)
    if own is None or found is None or own.window != found.window or own.kind == "start":
        return False
    return found.kind != "start" or known_by_start(found.window)
