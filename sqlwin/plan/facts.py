"""What follows from a window operator's plan, for EXPLAIN and for lowering alike."""

from __future__ import annotations

import hashlib

from sqlwin.plan.nodes import OverAggregate, Query, WindowAggregate
from sqlwin.windows import Unit

Window = WindowAggregate | OverAggregate


def counts(window: Window) -> bool:
    """Whether the window is measured in messages."""
    if isinstance(window, WindowAggregate):
        return window.window.unit is Unit.ROWS
    return window.by_arrival


def bucket_keys(window: Window) -> tuple[str, ...]:
    """Keys whose equal values must meet in one place; none: all rows must."""
    if isinstance(window, WindowAggregate):
        return window.partition if counts(window) else window.keys
    first, *others = [call.partition for call in window.calls]
    return tuple(key for key in first if all(key in other for other in others))


def fingerprint(*queries: Query) -> str:
    """Tells plans apart: a checkpoint belongs to one. Sinks may change."""
    return hashlib.sha256(repr([query.plan for query in queries]).encode()).hexdigest()[:16]
