"""When the frames of a row are full: no row that is not late can enter them any more.

A frame in RANGE that ends f after the row is full at a watermark past that end and
past the row. A frame in ROWS that ends n rows after it is full when the n-th
follower is there and the watermark is past it; until then the row waits, however
long. In GROUPS it waits for the n-th group of peers behind its own. A session is full when the
watermark is past its last row by more than the gap. A frame without an end is never
full, nor is one in an order that does not begin with event time. A row is full when all its frames
are.

Invariant: more rows only make more rows full, for a follower that comes in between
comes before the one that was waited for; but a late row may make a session longer, which is then
open again, as frames are whose followers are retracted.

Worked example, LEAD(x) and a watermark of 25: rows at 10, 20 and 30. The row at 10 is
full, its follower is at 20; the one at 20 is not. A late row at 22 makes it full.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from sqlwin.kernels.frames import Ints, Mask, ends, group_begins, numbered, sessions
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.over.framing import FrameCall
from sqlwin.operators.over.ordering import Arranged, arrange
from sqlwin.operators.over.partition_groups import PartitionGroup, PartitionGroups
from sqlwin.schema import TS
from sqlwin.windows import Unit

DONE = "__done."
"""Of a call: its frame was full by when the row's time was over. See `history`."""


@dataclass(frozen=True)
class Fullness:
    """Of all calls of an operator."""

    groups: PartitionGroups

    @property
    def never(self) -> bool:
        return self.groups.kept

    @property
    def after(self) -> int:
        """How long after a row's instant a watermark must be, whatever rows follow."""
        return self.groups.after

    @property
    def counting(self) -> tuple[FrameCall, ...]:
        """Calls that wait for rows to follow."""
        return self.groups.counting

    def at(self, rows: pl.DataFrame, mark: int | Ints) -> Mask:
        """Which rows are full at a watermark, or each at its own.

        rows: in order, and, where some frame waits for rows to follow, all that may.
        """
        full = self.timed(rows, mark)
        if self.never:
            return full
        for done in self.each(rows, mark).values():
            full &= done
        return full

    def timed(self, rows: pl.DataFrame, mark: int | Ints) -> Mask:
        """Which are full for all that time has to say, as of rows that are no more."""
        if self.never:
            return np.zeros(len(rows), dtype=np.bool_)
        full: Mask = rows[TS].to_numpy() < np.asarray(mark) - self.after
        return full

    def each(self, rows: pl.DataFrame, mark: int | Ints) -> dict[str, Mask]:
        """The same for each call that waits for rows to follow."""
        return {
            call.name: done
            for group in self.groups.each
            if group.counting
            for call, done in self._followed(rows, group, mark)
        }

    def _followed(
        self, rows: pl.DataFrame, group: PartitionGroup, mark: int | Ints
    ) -> list[tuple[FrameCall, Mask]]:
        arranged = arrange(rows, TS, group.partition, group.order, group.timed)
        marks = np.broadcast_to(np.asarray(mark), len(rows))[arranged.order]
        return [(c, self._done(rows, c, arranged, marks)) for c in group.counting]

    def _done(
        self, rows: pl.DataFrame, call: FrameCall, arranged: Arranged, marks: npt.NDArray[np.int64]
    ) -> Mask:
        assert call.frame.following is not None
        done = np.zeros(len(rows), dtype=np.bool_)
        if call.frame.unit is Unit.SESSION:
            session = sessions(numbered(arranged.runs), arranged.at, call.frame.following)
            nth, marks = ends(session) - 1, marks - call.frame.following
        elif call.frame.unit is Unit.GROUPS:
            nth = group_begins(numbered(arranged.runs), arranged.along, call.frame.following)
        else:
            nth = np.arange(len(rows)) + min(call.frame.following, len(rows))
        there = nth < ends(arranged.runs)
        at = arranged.at[np.where(there, nth, 0)] if len(rows) else arranged.at
        done[arranged.order] = there & (at < marks)
        if DONE + call.name in rows.columns:
            done |= rows[DONE + call.name].fill_null(False).to_numpy()
        return done
