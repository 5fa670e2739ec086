"""Pieces of files: what one read takes, and what tells that a file is still what it was.

A file of lines, JSON or CSV that is not compressed, may be cut at line ends: a big one, so that
several tasks read it, and one that grows, so that what was appended is a piece behind those
before. A line end within a quoted CSV field is none: the quotes before it are counted.

A piece has a *print* of the file up to its end: of the first and the last 64 KB of it.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "a.csv"
>>> _ = path.write_text('n\\n1\\n"2\\n2"\\n3\\n')
>>> [(piece.lo, piece.hi) for piece in pieces(str(path), "csv", size=3)]
[(0, 4), (4, 10), (10, 12)]
>>> _ = path.write_text(path.read_text() + "4\\n5")
>>> [(piece.lo, piece.hi) for piece in pieces(str(path), "csv", lo=12, ends=False)]
[(12, 14)]
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

LINES = ("csv", "json")
EDGE = 1 << 16
"""Bytes at each end of what was read that tell a file from another."""
OPEN_QUOTE = 1 << 20
"""Bytes after which a quote that nothing closes is no reason to wait for the line's end."""
_BLOCK = 1 << 20
_IN_MEMORY = 64 << 20
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x78\x01", b"\x78\x9c", b"\x78\xda")
"""How gzip, zstd and zlib begin."""


@dataclass(frozen=True)
class Piece:
    """Bytes lo <= at < hi of a file of `size` bytes when it was found.

    print: of the file's bytes before `hi`; "" where it is not known.
    """

    path: str
    lo: int
    hi: int
    size: int
    print: str = ""


def pieces(
    path: str, format_: str, size: int | None = None, lo: int = 0, ends: bool = True
) -> list[Piece]:
    """What there is of a file from `lo`, which is no place within a line, on.

    size: about how many bytes a piece has; None: all of them. ends: no more is awaited, so
    a last line without a line end is one. Nothing where no line is complete, but of a new
    file an empty piece.
    """
    whole = Path(path).stat().st_size
    if not of_lines(path, format_):
        return [Piece(path, 0, whole, whole, fingerprint(path, whole))]
    with Path(path).open("rb") as file:
        hi = whole if ends else _complete(file, lo, whole, format_)
        cuts = [*_line_ends(file, lo, hi, size or max(hi, 1), quoted=format_ == "csv"), hi]
        starts = [lo, *cuts[:-1]]
        return [
            Piece(path, start, end, whole, _print(file, end))
            for start, end in zip(starts, cuts, strict=True)
            if start < end or end == 0
        ]


def of_lines(path: str, format_: str) -> bool:
    """Whether the file can be cut, and grow."""
    if format_ not in LINES:
        return False
    with Path(path).open("rb") as file:
        return not file.read(4).startswith(_COMPRESSED)


def fingerprint(path: str, hi: int) -> str:
    """Of the bytes before `hi`, of which the file has as many at least."""
    with Path(path).open("rb") as file:
        return _print(file, hi)


def within_a_line(path: str, at: int) -> bool:
    """Whether a file goes on at `at` with a line that began before it."""
    with Path(path).open("rb") as file:
        file.seek(max(0, at - 1))
        around = file.read(min(at, 1) + 1)
    return at > 0 and len(around) == 2 and around[:1] != b"\n" and around[1:] not in b"\r\n"


@contextmanager
def copied(piece: Piece, header: bool) -> Iterator[str]:
    """A path that holds the piece alone. header: repeat the file's first line above it."""
    folder = _scratch() if piece.hi - piece.lo <= _IN_MEMORY else None
    with Path(piece.path).open("rb") as file, tempfile.NamedTemporaryFile(dir=folder) as copy:
        if header and piece.lo > 0:
            copy.write(file.readline())
        file.seek(piece.lo)
        for block in _blocks(file, piece.lo, piece.hi):
            copy.write(block)
        copy.flush()
        yield copy.name


def _scratch() -> str | None:
    """Memory where there is a file system of it."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _print(file: BinaryIO, hi: int) -> str:
    file.seek(0)
    told = hashlib.blake2b(file.read(min(EDGE, hi)), digest_size=8)
    file.seek(max(0, hi - EDGE))
    told.update(file.read(min(EDGE, hi)))
    return told.hexdigest()


def _blocks(file: BinaryIO, lo: int, hi: int) -> Iterator[bytes]:
    file.seek(lo)
    while lo < hi:
        block = file.read(min(_BLOCK, hi - lo))
        if not block:
            return
        lo += len(block)
        yield block


# --- line ends -------------------------------------------------------------------------


def _complete(file: BinaryIO, lo: int, hi: int, format_: str) -> int:
    """The end of the last line that is complete; a JSON object without a line end is."""
    if format_ == "csv":
        return _last_record(file, lo, hi)
    end = _last_line(file, lo, hi)
    file.seek(end)
    return hi if _is_object(file.read(hi - end)) else end


def _is_object(text: bytes) -> bool:
    """No beginning of an object is one."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _last_line(file: BinaryIO, lo: int, hi: int) -> int:
    """The place after the last line end."""
    at = hi
    while at > lo:
        start = max(lo, at - _BLOCK)
        file.seek(start)
        found = file.read(at - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        at = start
    return lo


def _last_record(file: BinaryIO, lo: int, hi: int) -> int:
    """The place after the last line end that no quote is open at."""
    end, at, quotes = lo, lo, 0
    for block in _blocks(file, lo, hi):
        stop = len(block)
        quotes += block.count(b'"')
        left = quotes
        while (found := block.rfind(b"\n", 0, stop)) >= 0:
            left -= block.count(b'"', found, stop)
            if left % 2 == 0:
                end = at + found + 1
                break
            stop = found
        at += len(block)
    return _last_line(file, lo, hi) if hi - end > OPEN_QUOTE else end


def _line_ends(file: BinaryIO, lo: int, hi: int, size: int, quoted: bool) -> Iterator[int]:
    """Places after a line end, the first one at or after each multiple of `size` from `lo`."""
    file.seek(lo)
    at, quotes = lo, 0
    for wanted in range(lo + size, hi, size):
        if wanted < at:
            continue
        if quoted:
            quotes += sum(block.count(b'"') for block in _blocks(file, at, wanted))
        file.seek(wanted)
        at = wanted
        while True:
            line = file.readline()
            quotes += line.count(b'"') if quoted else 0
            at += len(line)
            if quotes % 2 == 0 or not line:
                break
        if at < hi:
            yield at
