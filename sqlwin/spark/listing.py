"""The files of a stream, in an order that never changes, big ones in pieces.

Files are taken in the order of their paths as they are discovered; those found
later come after those known. The list is kept with the checkpoint, by the names of the
files (see `names`), so the n-th piece is the same after a restart, and a row's position
(piece, row in the piece) with it. A file must not change once it is there.

A big CSV or JSON file is cut at line ends, so that several tasks can read it. A
line end within a quoted CSV field is none: the quotes before it are counted. A
split of a source that computes its rows is one piece.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "a.csv"
>>> _ = path.write_text('n\\n1\\n"2\\n2"\\n3\\n')
>>> [(piece.lo, piece.hi) for piece in pieces(str(path), "csv", 3)]
[(0, 4), (4, 10), (10, 12)]
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlwin.runtime.sources import FileSource, Source
from sqlwin.spark.folder import Folder

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Piece:
    """Bytes lo <= at < hi of a file of `size` bytes. name: of the file, in a checkpoint."""

    path: str
    lo: int
    hi: int
    size: int
    name: str = ""

    @property
    def whole(self) -> bool:
        return self.lo == 0 and self.hi == self.size

    @property
    def kept(self) -> tuple[str, int, int, int]:
        """What the checkpoint's list has of it."""
        return self.name, self.lo, self.hi, self.size


@dataclass
class Listing:
    """The pieces of one stream, in order. number: of the stream, names the list."""

    folder: Folder
    number: int
    source: Source
    base: Path
    piece: int
    pieces: list[Piece] = field(default_factory=list)

    def restore(self) -> None:
        known = self.folder.json(self._name)
        self.pieces = [self._restored(*found) for found in known or ()]

    def first(self, count: int) -> list[Piece]:
        """The pieces that some batches have read. StateError where the list lacks them."""
        if len(self.pieces) < count:
            self.restore()
        if len(self.pieces) < count:
            raise self.folder.gone(self._name)
        return self.pieces[:count]

    def refresh(self) -> None:
        """Append files that were not there before; the list is on disk before it is used."""
        if not self.pieces:
            self.restore()
        known = {piece.name for piece in self.pieces}
        fresh = [name for name in self.source.splits(self.base) if name not in known]
        for name in fresh:
            split = self.source.split(name, self.base)
            self.pieces += [replace(piece, name=name) for piece in self._pieces(split)]
        if fresh:
            self.folder.write(self._name, json.dumps([piece.kept for piece in self.pieces]))

    def _restored(self, name: str, lo: int, hi: int, size: int) -> Piece:
        name = self.source.name(name, self.base)
        return Piece(self.source.split(name, self.base), lo, hi, size, name)

    def _pieces(self, split: str) -> list[Piece]:
        if isinstance(self.source, FileSource):
            return pieces(split, self.source.format, self.piece)
        weight = self.source.weight(split)
        return [Piece(split, 0, weight, weight)]

    @property
    def _name(self) -> str:
        return f"listing/{self.number}.json"


def pieces(path: str, format_: str, size: int) -> list[Piece]:
    """A file in pieces of about `size` bytes; one that cannot be cut is one piece."""
    whole = Path(path).stat().st_size
    if format_ not in ("csv", "json") or whole <= size:
        return [Piece(path, 0, whole, whole)]
    ends = [*_line_ends(path, whole, size, quoted=format_ == "csv"), whole]
    starts = [0, *ends[:-1]]
    return [Piece(path, lo, hi, whole) for lo, hi in zip(starts, ends, strict=True) if lo < hi]


@contextmanager
def opened(piece: Piece, header: bool) -> Iterator[str]:
    """A path that holds the piece alone. header: repeat the file's first line above it."""
    if piece.whole:
        yield piece.path
        return
    with Path(piece.path).open("rb") as file, tempfile.NamedTemporaryFile(dir=_scratch()) as copy:
        if header and piece.lo > 0:
            copy.write(file.readline())
        file.seek(piece.lo)
        copy.write(file.read(piece.hi - piece.lo))
        copy.flush()
        yield copy.name


def _scratch() -> str | None:
    """Memory where there is a file system of it."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _line_ends(path: str, whole: int, size: int, quoted: bool) -> Iterator[int]:
    """Places after a line end, the first one at or after each multiple of `size`."""
    with Path(path).open("rb") as file:
        at, quotes = 0, 0
        for wanted in range(size, whole, size):
            if wanted < at:
                continue
            while quoted and at < wanted:
                block = file.read(min(_BLOCK, wanted - at))
                quotes += block.count(b'"')
                at += len(block)
            file.seek(wanted)
            at = wanted
            while True:
                line = file.readline()
                quotes += line.count(b'"') if quoted else 0
                at += len(line)
                if quotes % 2 == 0 or not line:
                    break
            if at < whole:
                yield at
