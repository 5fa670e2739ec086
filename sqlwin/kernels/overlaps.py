"""Pairs of spans that overlap: equal keys, and `[begin, end)` with an instant in common.

Spans of one key that do not overlap each other end in the order in which they begin. So
those of one side that overlap a span of the other are a range of them: from the first
that ends after it begins to the last that begins before it ends.

Invariant asked of each side: of two spans of a key either both are the same, or one ends
no later than the other begins.

>>> left = pl.DataFrame({"k": ["a", "a"], "from": [0, 20], "until": [10, 30]})
>>> right = pl.DataFrame({"k": ["a", "a", "b"], "from": [5, 30, 0], "until": [25, 40, 50]})
>>> [(l.tolist(), r.tolist()) for l, r in overlapping(left, right, ["k"], ["k"], "from", "until")]
[([0, 1], [0, 0])]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from sqlwin.kernels.frames import Frames, Ints
from sqlwin.kernels.gather import MOST, chunks
from sqlwin.kernels.joins import Coded, Line, coded


def overlapping(
    left: pl.DataFrame,
    right: pl.DataFrame,
    left_on: Sequence[str],
    right_on: Sequence[str],
    begin: str,
    end: str,
    most: int = MOST,
) -> Iterator[tuple[Ints, Ints]]:
    """Row numbers of the two frames, about `most` at a time; NULL keys equal nothing.

    begin, end: Int64 columns of both.
    """
    own, others = coded(left, right, left_on, right_on, begin)
    if not len(own.rows) or not len(others.rows):
        return
    by_begin, by_end = Line(others), Line(replace(others, position=_at(right, end, others)))
    lo = by_end.first(own.code, own.position + 1)
    hi = by_begin.first(own.code, _at(left, end, own))
    for chunk in chunks(Frames(lo, np.maximum(lo, hi)), most):
        if len(chunk.owner):
            yield own.rows[chunk.frames][chunk.owner], by_begin.rows[chunk.index]


def _at(frame: pl.DataFrame, column: str, of: Coded) -> Ints:
    positions: Ints = frame[column].to_numpy()[of.rows]
    return positions
