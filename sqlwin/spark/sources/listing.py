"""The pieces of a stream's files, in the order found, on disk before an offset refers to them.

The list is part of the checkpoint, so the n-th piece is the same after a restart, and a row's
position (piece, row in the piece) with it. Pieces that Spark has committed leave the list when it
is next written; of their files it keeps how far they were read, see
`sqlwin.runtime.files.file_progress`.

A split of a source that computes its rows is one piece.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.checkpoint.versions import check_version
from sqlwin.runtime.connectors.reloads import ReloadedTable
from sqlwin.runtime.connectors.sources import (
    Source,
    has_source,
    lags,
    places,
    sizes,
    source_of,
)
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.runtime.files.pieces import Piece
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.imports import batches_before
from sqlwin.spark.sources.offsets import pieces_read

VERSION = 2
Places = dict[str, dict[int, str]]


@dataclass
class Listing:
    """The pieces of one stream. number: of the stream, names the list. size: of a big piece."""

    folder: Folder
    number: int
    source: Source
    base: Path
    size: int
    progress: FileProgress = field(default_factory=FileProgress)
    restored: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.source, ReloadedTable):
            folder = Path(self.folder.path) / "tables" / str(self.number)
            self.source = replace(self.source, folder=folder)

    @property
    def reloads(self) -> bool:
        """Whether it is a static table that is read again."""
        return isinstance(self.source, ReloadedTable)

    @property
    def known(self) -> bool:
        """Whether anything was ever found."""
        return self.progress.end > 0

    def restore(self) -> None:
        """What is on disk, the first time."""
        if not self.restored:
            self.restored = True
            found = self.folder.json(self._name)
            if found is not None:
                progress = loaded(found)
                self.progress = progress.renamed(partial(self.source.name, base=self.base))

    def restored_first(self) -> int:
        """The number of the first piece that the list still has."""
        self.restore()
        return self.progress.first

    def refresh(self, ends: bool = False) -> None:
        """Add what was not there before. ends: no more is awaited, see `pieces`."""
        self.restore()
        if self.source.find(self.progress, self.base, self.size, ends):
            saved = {"version": VERSION, **self.progress.dump()}
            self.folder.write(self._name, json.dumps(saved))

    def piece(self, number: int) -> Piece:
        """Of the file where it is now."""
        self.check(number + 1)
        named = self.progress.piece(number)
        return replace(named, path=self.source.split(named.path, self.base))

    def commit(self, end: int) -> None:
        """All pieces before the number `end` were read, and no batch will read them again."""
        self.check(end)
        self.progress.read(end)
        if isinstance(self.source, ReloadedTable):
            self.source.drop(self.progress)

    def check(self, end: int) -> None:
        """StateError where the list lacks pieces before the number `end`, which were found."""
        self.restore()
        if self.progress.end < end:
            raise self.folder.missing(self._name)

    @property
    def _name(self) -> str:
        return f"listing/{self.number}.json"


def unread(
    folder: Folder, streams: Sequence[Stream], tables: Collection[int], base: Path
) -> dict[str, int]:
    """What was found of streams and not read, see `Source.left`. tables: numbers of those that
    are static, which are read whole."""
    found: dict[str, int] = {}
    for number, stream in enumerate(streams):
        if number not in tables:
            listing = Listing(folder, number, source_of(stream), base, 0)
            listing.restore()
            found |= listing.source.left(listing.progress, base)
    return found


def located_in(folder: Folder, streams: Sequence[Stream], base: Path) -> Places:
    """What the error stream calls the partitions of topics, by stream."""
    found: Places = {}
    for number, stream in enumerate(streams):
        if has_source(stream):
            listing = Listing(folder, number, source_of(stream), base, 0)
            listing.restore()
            found[stream.name] = places(listing.source, listing.progress)
    return found


@dataclass(frozen=True)
class Reading:
    """How far streams are read: see `lag` and `input_bytes` of `QueryMetrics`."""

    lags: Mapping[str, dict[str, int]] = field(default_factory=dict)
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def reading_after(batch: int, checkpoint: Path, streams: Sequence[Stream], base: Path) -> Reading:
    """By the end of a batch, of streams that have a source."""
    folder = Folder(str(checkpoint / "sqlwin"))
    log = checkpoint / "spark" / "offsets"
    read = pieces_read(log / str(batch - 1 - batches_before(folder)))
    found_lags, found_sizes = {}, {}
    for number, stream in enumerate(streams):
        if not has_source(stream):
            continue
        listing = Listing(folder, number, source_of(stream), base, 0)
        listing.commit(max(listing.restored_first(), read.get(str(number), 0)))
        found_lags[stream.name] = lags(listing.source, listing.progress)
        size = sizes(listing.source, listing.progress)
        if size is not None:
            found_sizes[stream.name] = size
    return Reading({name: parts for name, parts in found_lags.items() if parts}, found_sizes)


def loaded(found: Any) -> FileProgress:
    """Version 1 was the bare list of all pieces, without prints."""
    if isinstance(found, list):
        return FileProgress(pieces=[Piece(*each) for each in found])
    check_version("listing", found.get("version"), VERSION)
    return FileProgress.load(found)
