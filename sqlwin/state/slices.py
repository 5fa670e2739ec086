"""Time slices of a store: whole ones expire, and each costs a segment a batch.

>>> slice_width(10 * SECOND) == SHORTEST_SLICE, slice_width(HOUR) == 15 * 60 * SECOND
(True, True)
"""

from __future__ import annotations

from sqlwin.instants import HOUR, SECOND

SLICES = 4
"""Time slices that a window's reach and retention are cut into."""
ENDLESS = 24 * HOUR
"""Stands for a retention that has no end where a slice is cut from it."""
SHORTEST_SLICE = 10 * SECOND
"""Short windows share a slice."""


def slice_width(span: int) -> int:
    """Microseconds of a time slice in a store that spans so many."""
    return max(SHORTEST_SLICE, -(-span // SLICES))
