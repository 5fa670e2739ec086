"""Calls over frames: rows in order go in, a value for each wanted row comes out.

Rows come in the order of the axis (time or number), then position. For each partition and
order of the calls they are put partition by partition, and those of one instant in the order
of the further keys, or all of them in the order of other keys (`ordering`); each different frame is
found once, and every call that has it slides over it. Only the columns a call reads are moved. What
an unbounded frame held before the first row at hand comes as accumulators (`base`).

`changed` says whose frame a batch has changed: the set of its rows is another than
before. Under RANGE and SESSION that is to hold a new row. Under ROWS a new row also pushes
others out, as under GROUPS a new group of peers does: of rows a b c, let n come between b and c,
then `ROWS BETWEEN 2 PRECEDING AND 2 PRECEDING` of c was {a} and is {b}, and neither is new.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sqlwin.errors import OverflowInAggregate
from sqlwin.kernels.exact import Overflow
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.frames import Frames, Ints, Mask
from sqlwin.kernels.unions import Base, slide_all
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.over.arrivals import Came, arrived
from sqlwin.operators.over.ordering import Arranged, arrange, renumbered
from sqlwin.schema import POSITION, SEQ, Order
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame

AT = "__at"


@dataclass(frozen=True)
class FrameCall:
    """One aggregate over one frame. dtype: of its result. order: the keys behind event time.

    timed: the order begins with event time; else with its keys.
    """

    fold: Fold
    partition: tuple[str, ...]
    frame: Frame
    dtype: pl.DataType
    order: tuple[Order, ...] = ()
    timed: bool = True

    @property
    def name(self) -> str:
        return self.fold.call.name

    @property
    def scope(self) -> tuple[tuple[str, ...], tuple[Order, ...], bool]:
        """Calls of one scope see the same rows in the same order."""
        return self.partition, self.order, self.timed

    @property
    def reads(self) -> set[str]:
        """Columns of a row that its fold looks at."""
        place = set(POSITION) if self.fold.ordered or self.fold.full_state else set()
        return {name for name in self.fold.call.inputs if name not in POSITION} | place


def evaluate(
    rows: pl.DataFrame,
    calls: tuple[FrameCall, ...],
    wanted: Mask,
    axis: str,
    stream: str,
    base: pl.DataFrame | None = None,
) -> dict[str, pl.Series]:
    """The value of each call for each wanted row, in the order of the rows.

    axis: the Int64 column that RANGE is measured in. stream: for messages. base: the
    partition's columns and accumulators of the calls that are unbounded, where all
    calls have one scope: what came before the first of its `rows`.
    """
    columns: dict[str, pl.Series] = {}
    for arranged, parts, sharing in framed(rows, calls, axis):
        mask = wanted[arranged.order]
        held = [part[mask] for part in parts]
        reads = {SEQ, *(name for call in sharing for name in call.reads)}
        ordered = rows[sorted(reads)][arranged.order]
        back = np.argsort(arranged.order[mask], kind="stable")
        removed = None
        if base is not None and sharing[0].frame.preceding is None:
            removed = _base(rows, arranged, mask, base, sharing[0].partition)
        for call in sharing:
            value = _slide(call, ordered, held, removed, np.flatnonzero(mask), stream)
            columns[call.name] = value[back]
    return columns


def framed(
    rows: pl.DataFrame, calls: tuple[FrameCall, ...], axis: str
) -> Iterator[tuple[Arranged, list[Frames], list[FrameCall]]]:
    """For each different (scope, frame): the order of the rows, their frames, the calls."""
    for scope in dict.fromkeys(call.scope for call in calls):
        arranged = arrange(rows, axis, *scope)
        same = [call for call in calls if call.scope == scope]
        for frame in dict.fromkeys(call.frame for call in same):
            sharing = [call for call in same if call.frame == frame]
            yield arranged, arranged.parts(frame), sharing


def changed(
    rows: pl.DataFrame, new: Mask, calls: tuple[FrameCall, ...], axis: str, enough: int = 1
) -> tuple[Mask, Ints]:
    """Which rows are new or have another frame than without the new ones; new rows in it.

    Of those one is given at least, and `enough` where there are more.
    """
    touched, added = new.copy(), dict[tuple[Any, ...], Came]()
    for arranged, parts, sharing in framed(rows, calls, axis):
        order = arranged.order
        until = np.append(0, np.cumsum(new[order]))
        known = added.setdefault(sharing[0].scope, Came(order[new[order]], []))
        for part in parts:
            lo, hi = np.empty_like(order), np.empty_like(order)
            lo[order], hi[order] = until[part.lo], until[part.hi]
            touched |= lo < hi
            known.ranges.append((lo, hi))
        if sharing[0].frame.unit in (Unit.ROWS, Unit.GROUPS):
            touched[order] |= _moved(arranged, parts, ~new[order], sharing[0].frame)
    if enough == 1:
        return touched, np.ones(len(rows), dtype=np.int64)
    return touched, np.maximum(arrived([*added.values()], len(rows), enough), 1)


def _moved(arranged: Arranged, parts: list[Frames], old: Mask, frame: Frame) -> Mask:
    """Old rows whose frames hold other old rows than when there were no new ones."""
    before = arranged.among(old).parts(frame)
    until = np.append(0, np.cumsum(old))
    moved = np.zeros(len(old), dtype=np.bool_)
    for part, was in zip(parts, before, strict=True):
        lo, hi = until[part.lo[old]], until[part.hi[old]]
        some = (lo < hi) | (was.lo < was.hi)  # empty ranges are equal wherever they lie
        moved[old] |= some & ((lo != was.lo) | (hi != was.hi))
    return moved


def _base(
    rows: pl.DataFrame,
    arranged: Arranged,
    mask: Mask,
    base: pl.DataFrame,
    partition: tuple[str, ...],
) -> Base | None:
    """The base of each wanted row: that of its partition."""
    if base.is_empty():
        return None
    if not partition:
        return Base(base, np.zeros(int(mask.sum()), dtype=np.int64))
    first = np.flatnonzero(np.diff(arranged.runs, prepend=-1))
    keys = rows.select(partition)[arranged.order[first]]
    known = base.select(partition).with_row_index(AT)
    found = keys.join(known, on=partition, how="left", nulls_equal=True, maintain_order="left")
    of: npt.NDArray[np.int64] = found[AT].cast(pl.Int64).fill_null(-1).to_numpy()
    return Base(base, of[arranged.runs[mask]])


def _slide(
    call: FrameCall,
    rows: pl.DataFrame,
    parts: list[Frames],
    base: Base | None,
    own: Ints,
    stream: str,
) -> pl.Series:
    """own: the number of each wanted row, in whose frame an overflow is said to be."""
    given = renumbered(rows, call.timed) if call.order and call.fold.placed else rows
    try:
        return slide_all(call.fold, given, parts, base)
    except Overflow as overflow:
        place = f"the frame of {stream} at position {rows[SEQ][int(own[overflow.row])]}"
        raise OverflowInAggregate(call.name, place) from None
