"""Pairs of two frames: equal keys, and positions that lie near enough.

Keys become codes, so that one side can stand in a *line*: by code, then position. What
matches a row of the other side is a range of the line, found by search; ranges are
expanded some rows at a time, so that no key, however frequent, takes more memory than its
pairs. NULL equals nothing: a row with a NULL key is in no pair. NaN equals NaN.

>>> left = pl.DataFrame({"k": ["a", "b", None], "at": [10, 10, 10]})
>>> right = pl.DataFrame({"k": ["b", "a", "a"], "at": [9, 12, 20]})
>>> ends = coded(left, right, ["k"], ["k"], "at")
>>> [(l.tolist(), r.tolist()) for l, r in near(*ends, low=-1, high=5)]
[([0, 1], [1, 0])]
>>> nearest(*ends, backward=False, strict=False).tolist()  # the row of `right`, -1 for none
[1, -1, -1]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from sqlwin.instants import END
from sqlwin.kernels.frames import Frames, Ints
from sqlwin.kernels.gather import MOST, chunks
from sqlwin.lazy_dataclass import dataclass

INT64_MAX = 2**63 - 1
_CODE, _ROW, _AT = "__code", "__row", "__at"


@dataclass(frozen=True, eq=False)
class Coded:
    """The rows of one frame that may match: their numbers, codes and positions, all Int64.

    height: of the frame. codes: how many there are, over both sides.
    """

    rows: Ints
    code: Ints
    position: Ints
    height: int
    codes: int


def coded(
    left: pl.DataFrame,
    right: pl.DataFrame,
    left_on: Sequence[str],
    right_on: Sequence[str],
    position: str,
) -> tuple[Coded, Coded]:
    """Both sides by the same codes; those of `left` are given, so let it be the smaller one.

    position: an Int64 column of both, without NULL, between `START` and `END`.
    """
    if not left_on:
        return _uncoded(left, position), _uncoded(right, position)
    names = [f"__key{n}" for n in range(len(left_on))]
    keys = left.select(pl.col(old).alias(new) for old, new in zip(left_on, names, strict=True))
    known = keys.drop_nulls().unique().with_row_index(_CODE)
    first = _looked_up(keys, left[position], known)
    own = right.select(pl.col(old).alias(new) for old, new in zip(right_on, names, strict=True))
    return first, _looked_up(own, right[position], known)


def _uncoded(frame: pl.DataFrame, position: str) -> Coded:
    height = frame.height
    rows = np.arange(height, dtype=np.int64)
    return Coded(rows, np.zeros(height, dtype=np.int64), frame[position].to_numpy(), height, 1)


def _looked_up(keys: pl.DataFrame, position: pl.Series, known: pl.DataFrame) -> Coded:
    names = keys.columns
    found = keys.with_columns(position.alias(_AT)).with_row_index(_ROW)
    found = found.join(known, on=names, how="inner", maintain_order="left")
    rows, code = (found[name].cast(pl.Int64).to_numpy() for name in (_ROW, _CODE))
    return Coded(rows, code, found[_AT].to_numpy(), keys.height, known.height)


class Line:
    """Rows by code, then position; ties as they came.

    Code and position are one number each, `code * span + (position - least)`, where that
    fits; else positions are taken by rank.
    """

    def __init__(self, side: Coded) -> None:
        order = np.lexsort((side.position, side.code))
        self.rows, position = side.rows[order], side.position[order]
        self.ranks: Ints | None = None
        self.least, self.span = _extent(position)
        if side.codes * self.span > INT64_MAX:
            self.ranks = np.unique(position)
            self.least, self.span = 0, len(self.ranks) + 1
        self.key = self._keyed(side.code[order], position)

    def first(self, code: Ints, position: Ints) -> Ints:
        """Where in the line the first row of each code stands that is at `position` or later;
        one past the code's last row where there is none."""
        found: Ints = np.searchsorted(self.key, self._keyed(code, position))
        return found

    def _keyed(self, code: Ints, position: Ints) -> Ints:
        if self.ranks is not None:
            position = np.searchsorted(self.ranks, position)
        within = np.clip(position, self.least, self.least + self.span - 1) - self.least
        keyed: Ints = code * self.span + within
        return keyed

    def frames(self, side: Coded, low: int | None, high: int | None) -> Frames:
        """What of the line matches each row of the other side."""
        lo = self.first(side.code, _moved(side.position, low, -END))
        hi = self.first(
            side.code, _moved(side.position, None if high is None else high + 1, END + 1)
        )
        return Frames(lo, np.maximum(lo, hi))


def near(
    left: Coded, right: Coded, low: int | None, high: int | None, most: int = MOST
) -> Iterator[tuple[Ints, Ints]]:
    """Row numbers of pairs with `low <= right position - left position <= high`.

    About `most` pairs at a time, and never less than all of one left row; by left row, then
    right position. None: no bound on that side. A bound of more than `END` is taken for less.
    """
    if not len(left.rows) or not len(right.rows):
        return
    line = Line(right)
    for chunk in chunks(line.frames(left, low, high), most):
        if len(chunk.owner):
            yield left.rows[chunk.frames][chunk.owner], line.rows[chunk.index]


def nearest(left: Coded, right: Coded, backward: bool, strict: bool) -> Ints:
    """For each row of the left frame the number of the nearest right row, -1 where there is none.

    backward: of those not later the last; else of those not earlier the first. Of equal
    positions the last, and the first, as they stand in their frame. strict: none of the
    same position.
    """
    found: Ints = np.full(left.height, -1, dtype=np.int64)
    if not len(left.rows) or not len(right.rows):
        return found
    line = Line(right)
    at = line.first(left.code, left.position + int(backward != strict))
    at = at - 1 if backward else at
    there = (at >= 0) & (at < len(line.rows))
    at = np.where(there, at, 0)
    there &= line.key[at] // line.span == left.code
    found[left.rows[there]] = line.rows[at[there]]
    return found


def _extent(position: Ints) -> tuple[int, int]:
    """The least position, and how many numbers there are up to one past the greatest."""
    if not len(position):
        return 0, 1
    least = int(position.min())
    return least, int(position.max()) - least + 2


def _moved(position: Ints, by: int | None, beyond: int) -> Ints:
    """`position + by`; `beyond` where `by` is None. What leaves int64 stops on the way."""
    if by is None:
        return np.full(len(position), beyond, dtype=np.int64)
    moved: Ints = position + min(max(by, 1 - END), END - 1)
    return moved
