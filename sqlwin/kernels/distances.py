"""Frames in RANGE along a key that is not event time: `RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING`
of ORDER BY price.

Whole numbers, decimals of at most 18 digits, dates and timestamps are int64: `frames` has the
search. Floats are compared with their own sum, as Spark does. What is no number has no distance to
anything: NULLs are a zone of their own within a partition, and so is NaN; there a bound is the end
of the peers, and UNBOUNDED still reaches over all zones.

Invariant: within a zone the values do not decrease.

>>> key = pl.Series("price", [None, 1, 4, 9], dtype=pl.Int64)
>>> framed_by(np.zeros(4, dtype=np.int64), key, False, Frame(Unit.RANGE, 5))
Frames(lo=array([0, 1, 1, 2]), hi=array([1, 2, 3, 4]))
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from sqlwin.kernels.frames import Frames, Ints, Mask, bisected, ends, frames_of, numbered, starts
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame

DAY = 86_400_000_000
Floats = npt.NDArray[np.float64]


def framed_by(runs: Ints, key: pl.Series, descending: bool, frame: Frame) -> Frames:
    """The frame of every row, without EXCLUDE. runs: as `frames_of`; key: sorted within them.

    frame: bounds in the key's unit, microseconds of a date or timestamp.
    """
    run, zone = numbered(runs), numbered(runs) * 3 + _kind(key)
    if key.dtype.is_float():
        near = _of_floats(zone, key, descending, frame)
    else:
        near = _of_whole(zone, key, descending, frame)
    number = _kind(key) == 1
    near = Frames(
        np.where(number, near.lo, starts(numbered(zone))),
        np.where(number, near.hi, ends(numbered(zone))),
    )
    return Frames(
        starts(run) if frame.preceding is None else near.lo,
        ends(run) if frame.following is None else near.hi,
    )


def _kind(key: pl.Series) -> Ints:
    """0: NULL, 1: a number, 2: NaN."""
    nan = key.is_nan().fill_null(False) if key.dtype.is_float() else key.is_null() & False
    kinds: Ints = np.where(key.is_null(), 0, np.where(nan, 2, 1))
    return kinds


def _of_whole(zone: Ints, key: pl.Series, descending: bool, frame: Frame) -> Frames:
    values, unit = _whole(key)
    before, after = (None if b is None else b * unit for b in (frame.preceding, frame.following))
    along = ~values if descending else values  # the other way round, as far apart
    return frames_of(zone, np.where(_kind(key) == 1, along, 0), Frame(Unit.RANGE, before, after))


def _whole(key: pl.Series) -> tuple[Ints, int]:
    """Values as int64, NULL as 0, and how many of them a unit of the frame is."""
    dtype, unit, least = key.dtype, 1, 1
    if isinstance(dtype, pl.Decimal):
        unit = 10**dtype.scale
    if dtype == pl.Date:
        least = DAY
    values = key.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
    return values * least, unit


def _of_floats(zone: Ints, key: pl.Series, descending: bool, frame: Frame) -> Frames:
    values: Floats = key.cast(pl.Float64).fill_null(0).fill_nan(0).to_numpy()
    along = -values if descending else values
    low = along - (frame.preceding or 0)
    high = along + (frame.following or 0)

    def below(rows: Ints) -> Mask:
        less: Mask = along[rows] < low
        return less

    def within(rows: Ints) -> Mask:
        upto: Mask = along[rows] <= high
        return upto

    run = numbered(zone)
    return Frames(bisected(run, below), bisected(run, within))
