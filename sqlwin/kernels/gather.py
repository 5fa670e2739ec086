"""Rows copied out for each frame, some at a time; and lists as values and lengths.

What cannot be answered by looking at ranges alone needs the rows of a frame side by
side. Frames overlap, so all of them at once would be rows times frame length: they
are taken in chunks of about MOST rows, and never less than one frame.

>>> frames = Frames(np.array([0, 2, 1]), np.array([2, 2, 4]))
>>> for chunk in chunks(frames, most=4): print(chunk.frames, chunk.owner, chunk.index)
slice(0, 2, None) [0 0] [0 1]
slice(2, 3, None) [0 0 0] [1 2 3]
>>> listed(pl.Series([7, 8, 9]), np.array([2, 0, 1])).to_list()
[[7, 8], [], [9]]
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.kernels.frames import Frames, Ints, Mask
from sqlwin.lazy_dataclass import dataclass

MOST = 1 << 20


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some frames, row by row: index[i] is a row of frame owner[i], counted within the chunk."""

    frames: slice
    owner: Ints
    index: Ints

    def __len__(self) -> int:
        return int(self.frames.stop - self.frames.start)

    def lengths(self, kept: Ints | None = None) -> Ints:
        """Rows of each frame, of all or of those whose owners are given."""
        return np.bincount(self.owner if kept is None else kept, minlength=len(self))


def chunks(frames: Frames, most: int = MOST) -> Iterator[Chunk]:
    """All frames in order, empty ones too."""
    until = np.cumsum(frames.hi - frames.lo)
    start = 0
    while start < len(frames):
        taken = int(until[start - 1]) if start else 0
        stop = max(int(np.searchsorted(until, taken + most, side="right")), start + 1)
        yield _chunk(frames, slice(start, stop))
        start = stop


def _chunk(frames: Frames, some: slice) -> Chunk:
    lo, lengths = frames.lo[some], frames.hi[some] - frames.lo[some]
    owner = np.repeat(np.arange(len(lo)), lengths)
    before = np.cumsum(lengths) - lengths
    return Chunk(some, owner, np.arange(len(owner)) + (lo - before)[owner])


def among(mask: Mask, frames: Frames) -> Frames:
    """The same frames over only the rows of the mask."""
    until: Ints = np.zeros(len(mask) + 1, dtype=np.int64)
    np.cumsum(mask, out=until[1:])
    return Frames(until[frames.lo], until[frames.hi])


def listed(values: pl.Series, lengths: Ints) -> pl.Series:
    """The values cut into lists of those lengths."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), values.to_arrow())
    return pl.Series(values.name, lists, dtype=pl.List(values.dtype))


def opened(lists: pl.Series) -> tuple[pl.Series, Frames]:
    """The values of all lists, one after another, and which are whose."""
    assert isinstance(lists.dtype, pl.List)
    parts = lists.to_arrow()
    lengths = pc.fill_null(pc.list_value_length(parts), 0).to_numpy(zero_copy_only=False)
    hi = np.cumsum(lengths, dtype=np.int64)
    values = pl.Series(lists.name, parts.flatten(), dtype=lists.dtype.inner)
    return values, Frames(hi - lengths, hi)


def lists_of(values: pl.Series, frames: Frames) -> pl.Series:
    """The values of each frame as a list."""
    parts = [listed(values.gather(c.index), c.lengths()) for c in chunks(frames)]
    return pl.concat(parts) if parts else listed(values.clear(), np.zeros(0, dtype=np.int64))
