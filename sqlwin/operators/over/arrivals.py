"""How many new rows each window holds, where several frames are one window.

EARLY EVERY n ROWS counts rows, each once, however many of a row's frames hold it. New
rows are numbered in the order of each partition, so that what a frame holds of them
is a range of numbers, and what all frames of one partition hold is a union of
ranges. Those of several partitions number them differently: there the rows
themselves are distinguished, but only where no partition alone has n of them.

>>> one = Came(np.array([5, 7, 8]), [(np.array([0, 2]), np.array([2, 3]))])
>>> other = Came(np.array([8, 7, 5]), [(np.array([0, 0]), np.array([1, 1]))])
>>> arrived([one], 2, 9).tolist(), arrived([one, other], 2, 9).tolist()
([2, 1], [3, 1])
"""

from __future__ import annotations

import numpy as np

from sqlwin.kernels.frames import Ints
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Came:
    """rows: the new rows in the order of a partition. ranges: of these, lo and hi of each frame."""

    rows: Ints
    ranges: list[tuple[Ints, Ints]]

    def disjoint(self) -> tuple[Ints, Ints]:
        """The beginnings and lengths of ranges that overlap no longer, a row a range."""
        lo, hi = (np.stack(ends) for ends in zip(*self.ranges, strict=True))
        order = np.argsort(lo, axis=0)
        lo, hi = np.take_along_axis(lo, order, 0), np.take_along_axis(hi, order, 0)
        until = np.maximum.accumulate(hi, axis=0)
        begin = lo.copy()
        begin[1:] = np.maximum(lo[1:], until[:-1])
        return begin, np.maximum(hi - begin, 0)


def arrived(added: list[Came], windows: int, enough: int) -> Ints:
    """New rows of each window; of more than `enough` no fewer are given than that."""
    ranges = [each.disjoint() for each in added]
    counts: Ints = np.zeros(windows, dtype=np.int64)
    for _, lengths in ranges:
        np.maximum(counts, lengths.sum(axis=0), out=counts)
    if len(added) == 1 or not windows:
        return counts
    few = counts < enough
    pairs = [
        _pairs(each.rows, begin, np.where(few, lengths, 0), windows)
        for each, (begin, lengths) in zip(added, ranges, strict=True)
    ]
    different = np.unique(np.concatenate(pairs), axis=0)[:, 0]
    return np.where(few, np.bincount(different, minlength=windows), counts)


def _pairs(rows: Ints, begin: Ints, lengths: Ints, windows: int) -> Ints:
    """(window, row), a line for each row that a window holds."""
    sizes = lengths.ravel()
    window = np.repeat(np.tile(np.arange(windows), len(lengths)), sizes)
    within = np.arange(len(window)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.stack([window, rows[np.repeat(begin.ravel(), sizes) + within]], axis=1)
