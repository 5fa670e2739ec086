"""The pieces of a stream's files, as they were found, on disk before anything counts on them.

The list is kept with the checkpoint, so the n-th piece is the same after a restart, and a row's
position (piece, row in the piece) with it. What Spark has committed leaves the list when it is
next written; of its files stays how far they were read, see `sqlwin.runtime.files.taken`.

A split of a source that computes its rows is one piece.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.checkpoint.task_state import check_version
from sqlwin.runtime.connectors.sources import Source, source_of
from sqlwin.runtime.files.pieces import Piece
from sqlwin.runtime.files.taken import Taken
from sqlwin.spark.folder import Folder

VERSION = 2


@dataclass
class Listing:
    """The pieces of one stream. number: of the stream, names the list. size: of a big piece."""

    folder: Folder
    number: int
    source: Source
    base: Path
    size: int
    taken: Taken = field(default_factory=Taken)
    restored: bool = False

    @property
    def known(self) -> bool:
        """Whether anything was ever found."""
        return self.taken.end > 0

    def restore(self) -> None:
        """What is on disk, the first time."""
        if not self.restored:
            self.restored = True
            found = self.folder.json(self._name)
            if found is not None:
                taken = _loaded(found)
                self.taken = taken.renamed(partial(self.source.name, base=self.base))

    def refresh(self, ends: bool = False) -> None:
        """Add what was not there before. ends: no more is awaited, see `pieces`."""
        self.restore()
        if self.source.find(self.taken, self.base, self.size, ends):
            told = {"version": VERSION, **self.taken.dump()}
            self.folder.write(self._name, json.dumps(told))

    def piece(self, number: int) -> Piece:
        """Of the file where it is now."""
        self.check(number + 1)
        named = self.taken.piece(number)
        return replace(named, path=self.source.split(named.path, self.base))

    def commit(self, end: int) -> None:
        """All pieces before the number `end` were read, and no batch will read them again."""
        self.check(end)
        self.taken.read(end)

    def check(self, end: int) -> None:
        """StateError where the list lacks pieces before the number `end`, which were found."""
        self.restore()
        if self.taken.end < end:
            raise self.folder.gone(self._name)

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
            found |= listing.source.left(listing.taken, base)
    return found


def _loaded(found: Any) -> Taken:
    """Version 1 was the bare list of all pieces, without prints."""
    if isinstance(found, list):
        return Taken(pieces=[Piece(*each) for each in found])
    check_version("listing", found.get("version"), VERSION)
    return Taken.load(found)
