"""Cuts on disk: the horizons that rose, a blob a flush, merged as runs of segments are.

A blob is a segment whose records are horizons and whose time is `__floor`. Of a key
that several blobs name, the highest horizon counts, so their order means nothing.
A blob all of whose horizons the store's own has passed is dropped unread.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from sqlwin.state.contract import HORIZON
from sqlwin.state.segments.compaction import merge_from
from sqlwin.state.segments.cuts import Columns, Cuts, accept_horizons, highest
from sqlwin.state.segments.files import SegmentFiles
from sqlwin.state.segments.index import Segment

MAX_BLOBS = 4
"""Of one set of columns."""


class CutLog:
    """Which blobs hold the horizons of `cuts`."""

    def __init__(self, cuts: Cuts, files: SegmentFiles) -> None:
        self.cuts, self.files = cuts, files
        self._blobs: dict[Columns, list[Segment]] = {}

    def restore(self, blobs: Iterable[Segment]) -> None:
        for blob in blobs:
            horizons = accept_horizons(self.cuts.layout, self.files.read(blob.name))
            self._blobs.setdefault(tuple(horizons.columns[:-1]), []).append(blob)
            self.cuts.take(horizons, known=True)

    def write(self, horizon: int, token: str) -> None:
        """Take down what rose since the last call. horizon: of the store."""
        self._forget(horizon)
        for risen in self.cuts.risen():
            horizons = risen.filter(pl.col(HORIZON) > horizon)
            if horizons.height:
                self._append(horizons, token)

    def erase(self, gone: pl.DataFrame) -> None:
        """See `Cuts.erase`: no blob that is left has a horizon of what is gone."""
        for by in self.cuts.erase(gone):
            self.files.drop(blob.name for blob in self._blobs.pop(by, []))

    def _forget(self, horizon: int) -> None:
        for by, blobs in self._blobs.items():
            self.files.drop(blob.name for blob in blobs if blob.hi - 1 <= horizon)
            self._blobs[by] = [blob for blob in blobs if blob.hi - 1 > horizon]

    def _append(self, horizons: pl.DataFrame, token: str) -> None:
        blobs = self._blobs.setdefault(tuple(horizons.columns[:-1]), [])
        first = merge_from([*(blob.rows for blob in blobs), horizons.height], MAX_BLOBS)
        merged = [self.files.read(blob.name) for blob in blobs[first:]]
        whole = highest([*merged, horizons]) if merged else horizons
        self.files.drop(blob.name for blob in blobs[first:])
        blobs[first:] = [self.files.write(whole, HORIZON, token)]

    def blobs(self) -> list[Segment]:
        return [blob for blobs in self._blobs.values() for blob in blobs]

    def _check(self) -> None:
        for by, blobs in self._blobs.items():
            assert len(blobs) <= MAX_BLOBS
            assert all(tuple(self.files.read(b.name).columns) == (*by, HORIZON) for b in blobs)
