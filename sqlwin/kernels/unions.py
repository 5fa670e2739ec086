"""Frames of several pieces: disjoint ranges of rows, and rows that are there no more.

EXCLUDE leaves up to three ranges of a frame. An UNBOUNDED frame begins before the
rows at hand: what it holds of those is a *base*, accumulators of them. Merging
wants no order, so a value is the accumulators of all pieces merged and finished.
One range and no base is the fold's own `slide`, which is faster.

A fold of full state accumulates rows, in lists; to merge such a list into every frame
would copy it for each. So it is taken apart instead: its rows are put before the rows
of their partition, and every frame reaches back over them.

>>> from sqlwin.kernels.folds import fold
>>> import pyarrow as pa
>>> total = fold("total", "sum", ("x",), (pa.int32(),), pa.int64(), None)
>>> rows = pl.DataFrame({"x": [1, 2, 4]}, schema={"x": pl.Int32})
>>> before = Frames(np.array([0, 0, 0]), np.array([0, 1, 2]))  # all but the row itself
>>> after = Frames(np.array([1, 2, 3]), np.array([3, 3, 3]))
>>> slide_all(total, rows, [before, after]).to_list()
[6, 5, 3]
>>> gone = total.over(pl.DataFrame({"x": [10]}, schema={"x": pl.Int32}), before[np.array([1])])
>>> slide_all(total, rows, [before, after], Base(gone, np.array([0, -1, 0]))).to_list()
[16, 5, 13]
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.kernels.folds.base import Fold
from sqlwin.kernels.folds.full_state.base import OWNER, PLACE, Kept
from sqlwin.kernels.frames import Frames, Ints
from sqlwin.lazy_dataclass import dataclass

FRAME = "__frame"


@dataclass(frozen=True)
class Base:
    """accumulators: one row for each sum of rows gone. of: which of them each frame has, -1: none.

    The accumulators may be those of several folds. A frame that has any begins with the
    first row of its partition.
    """

    accumulators: pl.DataFrame
    of: Ints


def slide_all(
    fold: Fold, rows: pl.DataFrame, parts: list[Frames], base: Base | None = None
) -> pl.Series:
    """One value a frame, which is the union of its range in each of `parts` and its base.

    rows: sorted by (partition, ts, part, seq). Overflow(frame) where a value does not fit.
    """
    if base is not None and isinstance(fold, Kept):
        rows, parts, base = *_inserted(fold, rows, parts, base), None
    if base is None and len(parts) == 1:
        return fold.slide(rows, parts[0])
    first, *others = parts
    # of the first part every frame stays, empty or not, so that none is lost
    pieces = [_piece(fold, rows, first, np.arange(len(first)))]
    for part in others:
        held = np.flatnonzero(part.hi > part.lo)
        pieces.append(_piece(fold, rows, part[held], held))
    if base is not None:
        pieces.append(_based(fold, base))
    merged = pl.concat(pieces).group_by(FRAME).agg(fold.merge()).sort(FRAME)
    return fold.finish(merged.drop(FRAME))


def _piece(fold: Fold, rows: pl.DataFrame, part: Frames, number: Ints) -> pl.DataFrame:
    return fold.over(rows, part).select(*fold.columns, pl.Series(FRAME, number))


def _based(fold: Fold, base: Base) -> pl.DataFrame:
    held = np.flatnonzero(base.of >= 0)
    return base.accumulators[base.of[held]].select(*fold.columns, pl.Series(FRAME, held))


def _inserted(
    fold: Kept, rows: pl.DataFrame, parts: list[Frames], base: Base
) -> tuple[pl.DataFrame, list[Frames]]:
    """Rows with those of the bases before their partitions', and the frames over them."""
    has = base.of >= 0
    begins = np.full(len(base.accumulators), len(rows))  # of no frame: behind all rows
    begins[base.of[has]] = parts[0].lo[has]
    gone = _taken_apart(fold, rows, base.accumulators)
    owner = gone[OWNER].to_numpy()
    inserted = np.cumsum(np.bincount(begins[owner], minlength=len(rows) + 1))
    own = np.append(np.bincount(owner, minlength=len(begins)), 0)[base.of]
    shift = inserted[np.minimum(parts[0].lo, len(rows))]
    first, *others = [Frames(part.lo + shift, part.hi + shift) for part in parts]
    every = pl.concat([gone.drop(OWNER), rows], how="diagonal")
    places = np.concatenate([begins[owner] * 2, np.arange(len(rows)) * 2 + 1])
    order = np.argsort(places, kind="stable")
    return every[order], [Frames(first.lo - own, first.hi), *others]


def _taken_apart(fold: Kept, rows: pl.DataFrame, accumulators: pl.DataFrame) -> pl.DataFrame:
    """The rows in the lists, in order, with the names of raw rows, and whose they are."""
    kept = fold.rows_kept(accumulators)
    by = [(key.column, f"by{n}") for n, key in enumerate(fold.call.order)]
    arguments = zip(fold.call.args, ("values", "items"), strict=False)
    sources = [*arguments, *by, *((column, what) for what, column in PLACE)]
    columns = {name: what for name, what in reversed(sources) if what in kept.columns}
    taken = [pl.col(what).alias(name) for name, what in columns.items() if name in rows.columns]
    if fold.call.where is not None and fold.call.where not in columns:
        taken.append(pl.lit(True).alias(fold.call.where))
    position = [what for what, _ in PLACE if what in kept.columns]
    return kept.sort(OWNER, *position, maintain_order=True).select(OWNER, *taken)
