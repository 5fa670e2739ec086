"""Cuts on disk: the floors that rose, a blob a flush, merged as runs of segments are.

A blob is a segment whose records are floors and whose time is `__floor`. Of a key
that several blobs name, the highest floor counts, so their order means nothing.
A blob all of whose floors the store's own has passed is dropped unread.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from sqlwin.state.compaction import merge_from
from sqlwin.state.contract import FLOOR
from sqlwin.state.cuts import Columns, Cuts, accept_floors, highest
from sqlwin.state.index import Segment
from sqlwin.state.segment_files import SegmentFiles

MAX_BLOBS = 4
"""Of one set of columns."""


class CutLog:
    """Which blobs hold the floors of `cuts`."""

    def __init__(self, cuts: Cuts, files: SegmentFiles) -> None:
        self.cuts, self.files = cuts, files
        self._blobs: dict[Columns, list[Segment]] = {}

    def restore(self, blobs: Iterable[Segment]) -> None:
        for blob in blobs:
            floors = accept_floors(self.cuts.layout, self.files.read(blob.name))
            self._blobs.setdefault(tuple(floors.columns[:-1]), []).append(blob)
            self.cuts.take(floors, told=True)

    def write(self, floor: int, token: str) -> None:
        """Take down what rose since the last call. floor: of the store."""
        self._forget(floor)
        for risen in self.cuts.risen():
            floors = risen.filter(pl.col(FLOOR) > floor)
            if floors.height:
                self._append(floors, token)

    def erase(self, gone: pl.DataFrame) -> None:
        """See `Cuts.erase`: no blob that is left has a floor of what is gone."""
        for by in self.cuts.erase(gone):
            self.files.drop(blob.name for blob in self._blobs.pop(by, []))

    def _forget(self, floor: int) -> None:
        for by, blobs in self._blobs.items():
            self.files.drop(blob.name for blob in blobs if blob.hi - 1 <= floor)
            self._blobs[by] = [blob for blob in blobs if blob.hi - 1 > floor]

    def _append(self, floors: pl.DataFrame, token: str) -> None:
        blobs = self._blobs.setdefault(tuple(floors.columns[:-1]), [])
        first = merge_from([*(blob.rows for blob in blobs), floors.height], MAX_BLOBS)
        merged = [self.files.read(blob.name) for blob in blobs[first:]]
        whole = highest([*merged, floors]) if merged else floors
        self.files.drop(blob.name for blob in blobs[first:])
        blobs[first:] = [self.files.write(whole, FLOOR, token)]

    def blobs(self) -> list[Segment]:
        return [blob for blobs in self._blobs.values() for blob in blobs]

    def _check(self) -> None:
        for by, blobs in self._blobs.items():
            assert len(blobs) <= MAX_BLOBS
            assert all(tuple(self.files.read(b.name).columns) == (*by, FLOOR) for b in blobs)
