"""One store's frames under a host's blobs: names that never repeat, deletion one flush late.

What is written is immutable. What is no longer wanted is *dead* until the next
index is made, which names it as *doomed*; the flush after that deletes it. So the
index before stays whole until the host has long committed the new one.

>>> from sqlwin.state.blobs.blobs import DictBlobs
>>> files = SegmentFiles("panes", DictBlobs(), RecentSegments())
>>> written = files.write(pl.DataFrame({"t": [7, 5], "x": [1, 2]}), "t", "batch0")
>>> written.name, written.lo, written.hi, written.rows
('panes-batch0-0', 5, 8, 2)
>>> files.drop([written.name])
>>> for _ in range(2):
...     files.delete()
...     files.turn()
...     files.doomed, files.blobs.names()
(['panes-batch0-0'], ['panes-batch0-0'])
([], [])
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from sqlwin.errors import StateError
from sqlwin.state.contract import Blobs, SegmentCache
from sqlwin.state.records import greatest, least
from sqlwin.state.segments.cache import RecentSegments
from sqlwin.state.segments.codec import decode_segment, encode_segment
from sqlwin.state.segments.index import Segment


class SegmentFiles:
    """next: the number of the next blob; it never goes back."""

    def __init__(self, name: str, blobs: Blobs, cache: SegmentCache | None = None) -> None:
        self.name, self.blobs = name, blobs
        self.cache = RecentSegments() if cache is None else cache
        self.next = 0
        self.dead: list[str] = []  # left out since the last flush
        self.doomed: list[str] = []  # named by no index since the one before the last
        self.checked: dict[str, bytes] = {}  # what `_check` has read and found right

    def write(
        self, frame: pl.DataFrame, time: str, token: str, slice_: int = 0, order: int | None = None
    ) -> Segment:
        """order: of the run it belongs to; None begins one."""
        name = f"{self.name}-{token}-{self.next}"
        data, times = encode_segment(frame, time), frame[time]
        number, self.next = self.next, self.next + 1
        self.blobs.put(name, data)
        self.cache.put(name, frame)
        order = number if order is None else order
        return Segment(
            name, slice_, order, least(times), greatest(times) + 1, frame.height, len(data)
        )

    def read(self, name: str, schema: pl.Schema | None = None) -> pl.DataFrame:
        """StateError where the bytes are gone, damaged, or of another schema."""
        cached = self.cache.get(name)
        if cached is not None:
            return cached
        try:
            frame = decode_segment(self.blobs.get(name), schema)
        except KeyError as missing:
            raise StateError(f"segment {name}: its bytes are gone") from missing
        except StateError as wrong:
            raise StateError(f"segment {name}: {wrong}") from wrong
        self.cache.put(name, frame)
        return frame

    def drop(self, names: Iterable[str]) -> None:
        """From the next index on these are not named."""
        self.dead += names

    def delete(self) -> None:
        """Delete what the last two indexes do not name."""
        for name in self.doomed:
            self.blobs.delete(name)
            self.cache.drop(name)
        self.doomed = []

    def turn(self) -> None:
        """A new index is made: what died since the last one is doomed."""
        self.doomed, self.dead = self.dead, []

    def sweep(self, named: Iterable[str]) -> None:
        """Delete this store's blobs that no index names: a crash before a commit left them."""
        keep = {*named, *self.dead, *self.doomed}
        for name in self.blobs.names():
            if name.startswith(f"{self.name}-") and name not in keep:
                self.blobs.delete(name)
