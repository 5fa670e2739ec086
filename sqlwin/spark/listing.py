"""The files of a stream, in an order that never changes, big ones in pieces.

Files are taken in the order of their names as they are discovered; those found
later come after those known. The list is kept with the checkpoint, so the n-th
piece is the same after a restart, and a row's position (piece, row in the piece)
with it. A file must not change once it is there.

A big CSV or JSON file is cut at line ends, so that several tasks can read it. A
line end within a quoted CSV field is none. A
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
from dataclasses import astuple, dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from sqlwin.runtime.formats.content import is_compressed
from sqlwin.runtime.formats.records import BYTES, LINES, records, well_quoted
from sqlwin.runtime.sources import FileSource, Source
from sqlwin.spark.folder import Folder

SEEN = 8 * BYTES
"""Behind a place where a record may end, so that a quote is closed there or not at all."""


@dataclass(frozen=True)
class Piece:
    """Bytes lo <= at < hi of a file of `size` bytes."""

    path: str
    lo: int
    hi: int
    size: int

    @property
    def whole(self) -> bool:
        return self.lo == 0 and self.hi == self.size


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
        known = self.folder.read(self._name)
        self.pieces = [Piece(*found) for found in json.loads(known)] if known else []

    def refresh(self) -> None:
        """Append files that were not there before; the list is on disk before it is used."""
        if not self.pieces:
            self.restore()
        known = {piece.path for piece in self.pieces}
        fresh = [split for split in self.source.splits(self.base) if split not in known]
        for split in fresh:
            self.pieces += self._pieces(split)
        if fresh:
            self.folder.write(self._name, json.dumps([astuple(piece) for piece in self.pieces]))

    def _pieces(self, split: str) -> list[Piece]:
        if isinstance(self.source, FileSource):
            delimiter = dict(self.source.stream.options).get("delimiter", ",")
            return pieces(split, self.source.format, self.piece, delimiter)
        weight = self.source.weight(split)
        return [Piece(split, 0, weight, weight)]

    @property
    def _name(self) -> str:
        return f"listing/{self.number}.json"


def pieces(path: str, format_: str, size: int, delimiter: str = ",") -> list[Piece]:
    """A file in pieces of about `size` bytes; one that cannot be cut is one piece."""
    whole = Path(path).stat().st_size
    if format_ not in ("csv", "json") or whole <= size or is_compressed(path):
        return [Piece(path, 0, whole, whole)]
    if format_ == "csv":
        cuts = _record_ends(path, whole, size, delimiter.encode())
    else:
        cuts = _line_ends(path, whole, size)
    ends = [*cuts, whole]
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
            copy.write(_header(file))
        file.seek(piece.lo)
        copy.write(file.read(piece.hi - piece.lo))
        copy.flush()
        yield copy.name


def _header(file: BinaryIO) -> bytes:
    """The first line that is not blank, which may have line ends in quotes."""
    lines: list[bytes] = []
    for line in islice(file, LINES):
        if line.strip(b"\r\n") or lines:
            lines.append(line)
        if lines and sum(each.count(b'"') for each in lines) % 2 == 0:
            return b"".join(lines)
    return b"".join(lines[:1])


def _scratch() -> str | None:
    """Memory where there is a file system of it."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _line_ends(path: str, whole: int, size: int) -> Iterator[int]:
    """Places after a line end, the first one at or after each multiple of `size`."""
    with Path(path).open("rb") as file:
        at = 0
        for wanted in range(size, whole, size):
            if wanted < at:
                continue
            file.seek(wanted)
            at = wanted + len(file.readline())
            if at < whole:
                yield at


def _record_ends(path: str, whole: int, size: int, delimiter: bytes) -> Iterator[int]:
    """The same of CSV: after a whole record, by the rule that reads it.

    Where quotes stand as they should their number tells what is within a field. One that is not
    closed would turn that round for the rest of the file, so there records are told one by one.
    """
    with Path(path).open("rb") as file:
        at = 0
        for wanted in range(size, whole, size):
            if wanted < at:
                continue
            file.seek(at)
            data = bytearray(file.read(wanted - at)) + file.readline()
            quotes = data.count(b'"')
            while quotes % 2 and len(data) < wanted - at + BYTES and (line := file.readline()):
                quotes += line.count(b'"')
                data += line
            end: int | None = len(data)
            if quotes and not well_quoted(bytes(data), delimiter):
                data += file.read(SEEN)
                end = _end_of_record(bytes(data), wanted - at, delimiter, at + len(data) == whole)
            if end is not None and at + end < whole:
                at += end
                yield at


def _end_of_record(data: bytes, wanted: int, delimiter: bytes, last: bool) -> int | None:
    """Where the first record that ends at `wanted` or later ends; None where the data, which are
    not the `last`, do not show it."""
    found = next((end for _, end in records(data, delimiter, 0) if end >= wanted), None)
    shown = len(data) if last else len(data) - BYTES
    return found if found is not None and found <= shown else None
