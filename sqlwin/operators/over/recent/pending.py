"""Rows whose frames are not full yet, as they came, until the watermark passes them.

They lie in the row store as well. From there they would be found by putting a whole time slice in
order, with each push; here only what came since is looked at.

Invariant: frames are in the order of positions, and none has a position twice; there are few of
them, for many are put together.

>>> rows = pl.DataFrame({TS: [3, 1, 2], PART: [0, 0, 0], SEQ: [7, 8, 9]})
>>> pending = PendingRows()
>>> pending.add(rows), len(pending)
(None, 3)
>>> pending.take(3)[SEQ].to_list(), len(pending)
([8, 9], 1)
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl

from sqlwin.kernels.frames import Ints
from sqlwin.polars_frames import stacked
from sqlwin.schema import PART, POSITION, SEQ, TS

MANY = 64
"""Frames that are put together."""


Edged = tuple[int, int, pl.DataFrame]
"""A frame in order, behind its first and its last instant."""


class PendingRows:
    def __init__(self) -> None:
        self._frames: list[Edged] = []

    def add(self, rows: pl.DataFrame) -> None:
        """rows: at least one."""
        self._frames.append(_edged(in_order(rows)))
        if len(self._frames) > MANY:
            self._frames = [_edged(_together(self._frames).rechunk())]

    def take(self, until: int) -> pl.DataFrame | None:
        """The rows before an instant, in order, which are pending no more; None: there are none."""
        before, self._frames = self._frames, []
        taken: list[Edged] = []
        for edged in before:
            first, last, frame = edged
            if last < until:
                taken.append(edged)
            elif first >= until:
                self._frames.append(edged)
            else:
                some = int(np.searchsorted(frame[TS].to_numpy(), until))
                taken.append(_edged(frame[:some]))
                self._frames.append(_edged(frame[some:]))
        return _together(taken) if taken else None

    def __len__(self) -> int:
        return sum(len(frame) for _, _, frame in self._frames)


def _edged(rows: pl.DataFrame) -> Edged:
    times = rows.get_column(TS)
    return int(times[0]), int(times[-1]), rows


def _together(frames: list[Edged]) -> pl.DataFrame:
    """One frame in order; nothing is to be sorted where each is later than the one before."""
    whole = stacked([frame for _, _, frame in frames])
    pairs = pairwise(frames)
    return whole if all(last < first for (_, last, _), (first, _, _) in pairs) else in_order(whole)


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """By position, each once, as the row store has them."""
    if rows.height == 1:
        return rows
    times = rows[TS].to_numpy()
    if not (times[1:] >= times[:-1]).all():
        order = np.argsort(times, kind="stable")
        rows, times = rows[order], times[order]
    tied = np.flatnonzero(times[1:] == times[:-1]) + 1
    if not len(tied) or _rising(rows, tied):
        return rows
    return rows.unique(POSITION, keep="any").sort(POSITION)


def _rising(rows: pl.DataFrame, tied: Ints) -> bool:
    """Whether each of these rows of one partition is behind the row above, of the same instant."""
    parts, positions = rows[PART].to_numpy(), rows[SEQ].to_numpy()
    same = parts[tied] == parts[tied - 1]
    return bool((same & (positions[tied] > positions[tied - 1])).all())
