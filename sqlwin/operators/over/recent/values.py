"""Calls whose values are computed from arrays: COUNT, and SUM, AVG, MIN and MAX of integers.

A *lane* is what a call reads of a row: an argument as Int64, 0 where the row does not take part,
and whether it does. A sum within int64 needs no more; one that may be beyond it is left to the
fold (`fits`), as are all calls of other types.

>>> import pyarrow as pa
>>> from sqlwin.kernels.folds import fold
>>> total = fold("n", "sum", ("x",), (pa.int64(),), pa.int64(), None)
>>> lane = lane_of(total)
>>> values, taken = lane.read(pl.DataFrame({"x": [1, None, 3]}))
>>> values.tolist(), taken.tolist()
([1, 0, 3], [True, False, True])
"""

from __future__ import annotations

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

    def read(self, rows: pl.DataFrame) -> tuple[Ints, Mask]:
        taken = np.ones(len(rows), dtype=np.bool_)
        if self.where is not None:
            taken &= rows[self.where].fill_null(False).to_numpy()
        if self.argument is None:
            return taken.astype(np.int64), taken
        given = rows[self.argument]
        if given.null_count():
            taken &= given.is_not_null().to_numpy()
        if not given.dtype.is_integer():  # of COUNT(x)
            return taken.astype(np.int64), taken
        numbers = given.cast(pl.Int64)
        values = (numbers.fill_null(0) if numbers.null_count() else numbers).to_numpy()
        return (values if taken.all() else np.where(taken, values, 0)), taken


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

    def counts(self) -> Ints:
        if self.taken is None:
            return self.frames.hi - self.frames.lo
        return sums(self.taken.astype(np.int64), self.last, self.frames)

    def folded(self, fold: Fold) -> Ints:
        """The sum of each frame, or its extreme; of one of which no row takes part any number."""
        assert self.values is not None
        if not isinstance(fold, Extreme):
            return sums(self.values, self.last, self.frames)
        nothing = INT64_MIN if fold.greatest else INT64_MAX
        values = self.values if self.taken is None else np.where(self.taken, self.values, nothing)
        return extremes(values, self.last, self.frames, fold.greatest)


def fits(fold: Fold, widest: int, longest: int) -> bool:
    """Whether a sum of so many values, none beyond `widest`, is one that is computed here."""
    if type(fold) is Sum:
        return widest * longest <= INT64_MAX
    return type(fold) is not Mean or widest * longest < EXACT


def value_of(call: FrameCall, lane: LaneFrames) -> pl.Series:
    """One value for each of the last rows, in their order."""
    fold, counts = call.fold, lane.counts()
    if isinstance(fold, Count):
        return pl.Series(call.name, lane.last.placed(counts))
    found, some = lane.folded(fold), counts > 0
    if some.all():
        return _series(call, lane, found / counts if type(fold) is Mean else found)
    found = np.where(some, found, 0)
    values = _series(call, lane, found / np.maximum(counts, 1) if type(fold) is Mean else found)
    known = pl.Series(lane.last.placed(some))
    return pl.select(pl.when(known).then(values).alias(call.name)).to_series()


def _series(call: FrameCall, lane: LaneFrames, values: npt.NDArray[np.generic]) -> pl.Series:
    made = pl.Series(call.name, lane.last.placed(values))
    return made if made.dtype == call.dtype else made.cast(call.dtype)
