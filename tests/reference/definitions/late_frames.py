"""Which late rows count in no frame that is kept, by definition.

A row of OVER is kept until its frames ended `retain` before the watermark. A row counts iff its own
frames are kept, or those of a row that is, or may yet come. A frame in RANGE may hold it at any
instant so far behind; one in ROWS if fewer rows of the partition, with those of the batch, are
between it and the first that is kept.

>>> rows = [{"__ts": ts, "__part": 0, "__seq": ts} for ts in (5, 10, 15, 20, 70)]
>>> frames = LateFrames((((), Frame(Unit.ROWS, 2), ()),))
>>> frames.expired([rows[0], rows[2]], [rows[1], rows[3], rows[4]], 60)
[True, False]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlwin.schema import TS, Order
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from tests.reference.definitions.overs import in_window
from tests.reference.definitions.values import of_partition
from tests.reference.definitions.window import position
from tests.reference.kernels.rows import Row


@dataclass(frozen=True)
class LateFrames:
    """calls: partition, frame, and keys behind event time. None waits for rows to follow."""

    calls: tuple[tuple[tuple[str, ...], Frame, tuple[Order, ...]], ...]

    @property
    def after(self) -> int:
        """How long after a row its frames end."""
        ranges = (f for _, f, _ in self.calls if f.unit is Unit.RANGE and not f.instant)
        return max((0, *(f.following or 0 for f in ranges)))

    def mute(self, row: Row, ended: int) -> bool:
        """Whether it comes when its own frames are evicted."""
        return not self._kept(row[TS], ended)

    def expired(self, rows: Sequence[Row], taken: Sequence[Row], ended: int) -> list[bool]:
        known = {position(row): row for row in [*taken, *rows]}
        gone = [row for row in known.values() if not self._kept(row[TS], ended)]
        return [not self._kept(row[TS], ended) and not self._held(row, gone, ended) for row in rows]

    def _kept(self, instant: int, ended: int) -> bool:
        return instant + self.after >= ended

    def _held(self, row: Row, gone: list[Row], ended: int) -> bool:
        return any(self._may_hold(call, row, gone, ended) for call in self.calls)

    def _may_hold(
        self,
        call: tuple[tuple[str, ...], Frame, tuple[Order, ...]],
        row: Row,
        gone: list[Row],
        ended: int,
    ) -> bool:
        partition, frame, keys = call
        if frame.instant:
            return self._kept(row[TS], ended)
        if frame.preceding is None:
            return True
        if frame.unit is Unit.RANGE:
            return self._kept(row[TS] + max(frame.preceding, 0), ended)
        own = in_window(of_partition(gone, row, partition), keys)
        at = [position(each) for each in own].index(position(row))
        return len(own) - 1 - at < frame.preceding
