"""Arrays of equal length that grow at the end and shrink at the beginning.

An array has room behind its last entry, and what left at its beginning stays until the room is
used up: then what is there moves into arrays of twice its size. So an entry is copied about once,
however the entries come.

>>> times = GrowingArrays((np.dtype(np.int64),))
>>> times.append((np.array([1, 2, 3]),))
>>> times.drop(2)
>>> times.append((np.array([4, 5]),))
>>> times.arrays()[0].tolist(), len(times)
([3, 4, 5], 3)
>>> times.insert(np.array([1, 1]), (np.array([3, 3]),))
>>> times.arrays()[0].tolist()
[3, 3, 3, 4, 5]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Array = npt.NDArray[Any]
ROOM = 64
"""Entries that there is room for at least."""


class GrowingArrays:
    """dtypes: of each array."""

    def __init__(self, dtypes: Sequence[np.dtype[Any]]) -> None:
        self._arrays: list[Array] = [np.empty(ROOM, dtype=dtype) for dtype in dtypes]
        self._from, self._until = 0, 0

    def __len__(self) -> int:
        return self._until - self._from

    def append(self, entries: Sequence[Array | bool]) -> None:
        """entries: of each array, all of one length, or what all of them are; not of the first."""
        added = len(entries[0])  # type: ignore[arg-type]
        until = self._until + added
        if until > len(self._arrays[0]):
            until = self._move(added)
        for array, given in zip(self._arrays, entries, strict=True):
            array[self._until : until] = given
        self._until = until

    def insert(self, at: Ints, entries: Sequence[Array | bool]) -> None:
        """entries: put before those that are at these places now, ascending."""
        here = self.arrays()
        self._arrays = [np.insert(a, at, e) for a, e in zip(here, entries, strict=True)]
        self._from, self._until = 0, len(self._arrays[0])

    def drop(self, count: int) -> None:
        """The first entries are no more."""
        self._from += count

    def arrays(self) -> list[Array]:
        """What is there now; valid until the next `append`."""
        return [array[self._from : self._until] for array in self._arrays]

    def _move(self, added: int) -> int:
        """Make room; where the entries that are to come end."""
        here = len(self)
        size = max(2 * (here + added), ROOM)
        for number, array in enumerate(self._arrays):
            grown = np.empty(size, dtype=array.dtype)
            grown[:here] = array[self._from : self._until]
            self._arrays[number] = grown
        self._from, self._until = 0, here
        return here + added
