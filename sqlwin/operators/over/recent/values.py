"""Calls whose values are computed from arrays: COUNT, and SUM, AVG, MIN and MAX of integers.

A *lane* is what a call reads of a row: an argument as Int64, 0 where the row does not take part,
and whether it does. A sum within int64 needs no more; one that may be beyond it is left to the
fold (`fits`), as are all calls of other types.

>>> import pyarrow as pa
>>> from sqlwin.kernels.folds import fold
>>> total = fold("n", "sum", ("x",), (pa.int64(),), pa.int64(), None)
>>> lane = lane_of(total)
>>> read = lane.read(pl.DataFrame({"x": [1, None, 3]}))
>>> read.values.tolist(), read.taken.tolist(), read.widest
([1, 0, 3], [True, False, True], 3)
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from sqlwin.kernels.folds.base import Fold, FoldCall
from sqlwin.kernels.folds.picks.extremes import Extreme
from sqlwin.kernels.folds.sums.counts import Count
from sqlwin.kernels.folds.sums.means import Mean
from sqlwin.kernels.folds.sums.sums import Sum
from sqlwin.kernels.frames import INT64_MAX, INT64_MIN, Frames, Ints, Mask
from sqlwin.kernels.last_frames import LastRows, extremes, sums
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.over.framing import FrameCall

EXACT = 1 << 53
"""Integers below are doubles."""


@dataclass(frozen=True)
class Lane:
    """argument: None, of COUNT(*). where: a Boolean column."""

    argument: str | None
    where: str | None

    @property
    def all_rows(self) -> bool:
        """Whether only rows are counted."""
        return self.argument is None and self.where is None

    def read(self, rows: pl.DataFrame) -> Read:
        taken = None if self.where is None else rows[self.where].fill_null(False).to_numpy()
        if self.argument is None:
            return _counted(taken, len(rows))
        given = rows.get_column(self.argument)
        if given.null_count():
            there = given.is_not_null().to_numpy()
            taken = there if taken is None else taken & there
        if not given.dtype.is_integer():  # of COUNT(x)
            return _counted(taken, len(rows))
        least, greatest = given.min(), given.max()
        widest = 0 if least is None else max(int(greatest), -int(least))  # type: ignore[arg-type]
        whole = given if given.dtype == pl.Int64 else given.cast(pl.Int64)
        if taken is None:
            return Read(whole.to_numpy(), None, widest)
        return Read(np.where(taken, whole.fill_null(0).to_numpy(), 0), taken, widest)


@dataclass(frozen=True)
class Read:
    """taken: None of rows that all take part. widest: none of the values is beyond it."""

    values: Ints
    taken: Mask | None
    widest: int


def _counted(taken: Mask | None, rows: int) -> Read:
    values = np.ones(rows, dtype=np.int64) if taken is None else taken.astype(np.int64)
    return Read(values, taken, 1)


def lane_of(fold: Fold) -> Lane:
    return Lane(fold.call.args[0] if fold.call.args else None, fold.call.where)


def computed(fold: Fold) -> bool:
    """Whether the values of a fold are computed here."""
    call = fold.call
    if type(call) is not FoldCall or call.distinct or call.order:
        return False
    if type(fold) is Count:
        return len(call.args) <= 1
    if type(fold) is Sum:
        return _whole(call) and call.type == pa.int64()
    return type(fold) in (Mean, Extreme) and _whole(call)


def _whole(call: FoldCall) -> bool:
    return bool(pa.types.is_signed_integer(call.arg_types[0]))


@dataclass(frozen=True)
class LaneFrames:
    """A lane in frames. values, taken: of all rows; None: all take part, and none has a value."""

    values: Ints | None
    taken: Mask | None
    last: LastRows
    frames: Frames

    @cached_property
    def counts(self) -> Ints:
        if self.taken is None:
            return self.frames.hi - self.frames.lo
        return sums(self.taken.astype(np.int64), self.last, self.frames)

    @cached_property
    def totals(self) -> Ints:
        assert self.values is not None
        return sums(self.values, self.last, self.frames)

    @cached_property
    def nothing(self) -> Mask | None:
        """Frames of which no row takes part; None where there are none such."""
        return None if self.counts.all() else self.counts == 0

    def extremes(self, greatest: bool) -> Ints:
        """Of a frame of which no row takes part any number."""
        assert self.values is not None
        nothing = INT64_MIN if greatest else INT64_MAX
        values = self.values if self.taken is None else np.where(self.taken, self.values, nothing)
        return extremes(values, self.last, self.frames, greatest)


def fits(fold: Fold, widest: int, longest: int) -> bool:
    """Whether a sum of so many values, none beyond `widest`, is one that is computed here."""
    if type(fold) is Sum:
        return widest * longest <= INT64_MAX
    return type(fold) is not Mean or widest * longest < EXACT


def value_of(call: FrameCall, lane: LaneFrames) -> pl.Series:
    """One value for each of the last rows, in their order."""
    fold, place = call.fold, lane.last.placed
    if isinstance(fold, Count):
        return pl.Series(call.name, place(lane.counts))
    found = lane.extremes(fold.greatest) if isinstance(fold, Extreme) else lane.totals
    nothing = lane.nothing
    if nothing is None:
        return _series(call, place(found / lane.counts if type(fold) is Mean else found))
    found = np.where(nothing, 0, found)
    values = place(found / np.maximum(lane.counts, 1) if type(fold) is Mean else found)
    return _series(call, pa.array(values, mask=place(nothing)))


def _series(call: FrameCall, values: npt.NDArray[np.generic] | pa.Array) -> pl.Series:
    made = pl.Series(call.name, values)
    return made if made.dtype == call.dtype else made.cast(call.dtype)
