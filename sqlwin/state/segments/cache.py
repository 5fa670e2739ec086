"""Decoded segments in memory, the least recently used evicted first."""

from __future__ import annotations

from collections import OrderedDict

import polars as pl


class RecentSegments:
    """A `SegmentCache` of at most `capacity` bytes of frames.

    >>> cache = RecentSegments(capacity=16)
    >>> for name in "abc":
    ...     cache.put(name, pl.DataFrame({"x": [1]}))
    >>> [name for name in "abc" if cache.get(name) is not None]
    ['b', 'c']
    """

    def __init__(self, capacity: int = 256 << 20) -> None:
        self.capacity = capacity
        self._frames: OrderedDict[str, pl.DataFrame] = OrderedDict()
        self._bytes = 0

    def get(self, name: str) -> pl.DataFrame | None:
        frame = self._frames.get(name)
        if frame is not None:
            self._frames.move_to_end(name)
        return frame

    def put(self, name: str, frame: pl.DataFrame) -> None:
        self._bytes -= self._size(self._frames.pop(name, None))
        self._frames[name] = frame
        self._bytes += self._size(frame)
        while self._bytes > self.capacity:
            self._bytes -= self._size(self._frames.popitem(last=False)[1])

    def drop(self, name: str) -> None:
        self._bytes -= self._size(self._frames.pop(name, None))

    @staticmethod
    def _size(frame: pl.DataFrame | None) -> int:
        return 0 if frame is None else int(frame.estimated_size())
