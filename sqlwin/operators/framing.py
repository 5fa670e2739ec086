"""Calls over frames: rows in order go in, a value for each wanted row comes out.

Rows come in the order of their frames (time or number, then position). They are
put partition by partition, each different frame is found once, and every call
that has it slides over it. Only the columns a call reads are moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from sqlwin.errors import OverflowInAggregate
from sqlwin.kernels.exact import Overflow
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.frames import Frames, frames_of
from sqlwin.schema import POSITION, SEQ
from sqlwin.windows import Frame

Ints = npt.NDArray[np.int64]
AT = "__at"
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Call:
    """One aggregate over one frame. dtype: of its result."""

    fold: Fold
    partition: tuple[str, ...]
    frame: Frame
    dtype: pl.DataType

    @property
    def name(self) -> str:
        return self.fold.call.name

    @property
    def reads(self) -> set[str]:
        """Columns of a row that its fold looks at."""
        where = self.fold.call.where
        place = POSITION if self.fold.ordered else ()
        return {*self.fold.call.args, *place, *([] if where is None else [where])}


def evaluate(
    rows: pl.DataFrame, calls: tuple[Call, ...], wanted: Mask, axis: str, stream: str
) -> dict[str, pl.Series]:
    """The value of each call for each wanted row, in the order of the rows.

    axis: the Int64 column that RANGE is measured in. stream: for messages.
    """
    columns: dict[str, pl.Series] = {}
    for order, frames, sharing in _framed(rows, calls, axis):
        mask = wanted[order]
        part = Frames(frames.lo[mask], frames.hi[mask])
        reads = {SEQ, *(name for call in sharing for name in call.reads)}
        arranged = rows.select(sorted(reads))[order]
        back = np.argsort(order[mask], kind="stable")
        for call in sharing:
            columns[call.name] = _slide(call, arranged, part, stream)[back]
    return columns


def holding(rows: pl.DataFrame, calls: tuple[Call, ...], marked: Mask, axis: str) -> Mask:
    """Which rows have a marked row in one of their frames."""
    held = np.zeros(len(rows), dtype=np.bool_)
    for order, frames, _ in _framed(rows, calls, axis):
        counted = np.concatenate([[0], np.cumsum(marked[order])])
        held[order] |= counted[frames.hi] > counted[frames.lo]
    return held


def _framed(
    rows: pl.DataFrame, calls: tuple[Call, ...], axis: str
) -> Iterator[tuple[Ints, Frames, list[Call]]]:
    """For each different (partition, frame): the order of the rows, their frames, the calls."""
    for partition in dict.fromkeys(call.partition for call in calls):
        order, runs = arrange(rows, partition)
        at = rows[axis].to_numpy()[order]
        same = [call for call in calls if call.partition == partition]
        for frame in dict.fromkeys(call.frame for call in same):
            sharing = [call for call in same if call.frame == frame]
            yield order, frames_of(runs, at, frame), sharing


def arrange(rows: pl.DataFrame, partition: tuple[str, ...]) -> tuple[Ints, Ints]:
    """Row numbers put partition by partition, and the partition's number of each.

    Within a partition the rows stay in their order.
    """
    if not partition:
        return np.arange(len(rows)), np.zeros(len(rows), dtype=np.int64)
    numbered = rows.select(partition).with_row_index(AT)
    groups = numbered.group_by(partition, maintain_order=True).agg(AT)[AT]
    runs = np.repeat(np.arange(len(groups)), groups.list.len().to_numpy())
    return groups.explode().to_numpy().astype(np.int64), runs


def _slide(call: Call, rows: pl.DataFrame, frames: Frames, stream: str) -> pl.Series:
    try:
        return call.fold.slide(rows, frames)
    except Overflow as overflow:
        at = rows[SEQ][int(frames.hi[overflow.row]) - 1]
        place = f"the frame of {stream} at position {at}"
        raise OverflowInAggregate(call.name, place) from None
