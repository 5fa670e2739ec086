"""Event time of rows that a script has itself: it ends with them."""

from __future__ import annotations

from sqlwin.instants import END
from sqlwin.plan.ir.streams import Stream


def last_marks(stream: Stream, marks: dict[int, int]) -> dict[int, int]:
    """The marks of a batch: of rows that end, that nothing comes after them."""
    if stream.ts is None or not stream.inline:
        return marks
    return {0: END}
