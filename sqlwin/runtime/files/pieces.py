"""Pieces of files: what one read covers, and fingerprints that notice a changed file.

A file of lines, JSON or CSV that is not compressed, may be cut at line ends: a big one, so that
several tasks read it, and one that grows, so that what was appended is a piece behind those
before. A line end within a quoted CSV field is none.

A piece has a *print* of the file up to its end: of the first and the last 64 KB of it.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "a.csv"
>>> _ = path.write_text('n\\n1\\n"2\\n2"\\n3\\n')
>>> [(piece.lo, piece.hi) for piece in pieces(str(path), "csv", size=3)]
[(0, 2), (2, 4), (4, 10), (10, 12)]
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
from pathlib import Path
from typing import BinaryIO

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.formats.content import is_compressed
from sqlwin.runtime.formats.records import BYTES, Record, records, well_quoted

LINES = ("csv", "json")
EDGE = 1 << 16
"""Bytes at each end of what was read by which a file is known again."""
_BLOCK = 32 << 20
_IN_MEMORY = 64 << 20


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
    path: str,
    format_: str,
    size: int | None = None,
    lo: int = 0,
    ends: bool = True,
    delimiter: str = ",",
) -> list[Piece]:
    """What there is of a file from `lo`, which is no place within a line, on.

    size: bytes of a piece, more where a line is longer; None: all of them. ends: no more is
    awaited, so a last line without a line end is one. Nothing where no line is complete, but of
    a new file an empty piece.
    """
    whole = Path(path).stat().st_size
    if not of_lines(path, format_):
        return [Piece(path, 0, whole, whole, fingerprint(path, whole))]
    lines = _Csv(delimiter) if format_ == "csv" else _Json()
    with Path(path).open("rb") as file:
        at_once = ends and size is None
        cuts = [] if at_once else list(_cuts(file, lo, whole, size or _BLOCK, lines))
        if ends and [lo, *cuts][-1] < whole:
            cuts.append(whole)
        if size is None:
            cuts = cuts[-1:]
        found = [
            Piece(path, start, end, whole, _print(file, end))
            for start, end in zip([lo, *cuts], cuts, strict=False)
        ]
        return found or [Piece(path, 0, 0, whole, _print(file, 0))] * (lo == 0)


def of_lines(path: str, format_: str) -> bool:
    """Whether the file can be cut, and grow."""
    return format_ in LINES and not is_compressed(path)


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
def copied(piece: Piece, header: bool, delimiter: str = ",") -> Iterator[str]:
    """A path that holds the piece alone. header: repeat the file's first record above it."""
    folder = _scratch() if piece.hi - piece.lo <= _IN_MEMORY else None
    with Path(piece.path).open("rb") as file, tempfile.NamedTemporaryFile(dir=folder) as copy:
        if header and piece.lo > 0:
            copy.write(_header(file.read(BYTES), delimiter))
        file.seek(piece.lo)
        for block in _blocks(file, piece.lo, piece.hi):
            copy.write(block)
        copy.flush()
        yield copy.name


def _header(data: bytes, delimiter: str) -> bytes:
    _, after = next(records(data, delimiter.encode(), 0))
    return data[:after]


def _scratch() -> str | None:
    """Memory where there is a file system of it."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _print(file: BinaryIO, hi: int) -> str:
    file.seek(0)
    digest = hashlib.blake2b(file.read(min(EDGE, hi)), digest_size=8)
    file.seek(max(0, hi - EDGE))
    digest.update(file.read(min(EDGE, hi)))
    return digest.hexdigest()


def _blocks(file: BinaryIO, lo: int, hi: int) -> Iterator[bytes]:
    file.seek(lo)
    while lo < hi:
        block = file.read(min(_BLOCK, hi - lo))
        if not block:
            return
        lo += len(block)
        yield block


# --- line ends -------------------------------------------------------------------------


class _Json:
    """Where lines end: at every line end, and an object is complete without one."""

    def end(self, data: bytes, last: bool) -> int:
        """The place behind the last complete line of `data`. last: there is no more yet."""
        found = data.rfind(b"\n") + 1
        return len(data) if last and _is_object(data[found:]) else found


@dataclass(frozen=True)
class _Csv:
    """Where records end, as `records` has them."""

    delimiter: str

    def end(self, data: bytes, last: bool) -> int:
        found = data.rfind(b"\n") + 1
        cut = self.delimiter.encode()
        if b'"' not in data[:found] or well_quoted(data[:found], cut):
            return found
        end = 0
        for record, after in records(data, cut, 0):
            if after > len(data) or (record.why and self._open(data, after, record)):
                break
            end = after
        return end

    def _open(self, data: bytes, after: int, record: Record) -> bool:
        """Whether a quote that comes behind `data` could still close the record's."""
        start = data.rindex(record.raw, 0, after)
        if len(data) - start >= BYTES:
            return False
        closed, _ = next(records(data[start:] + b'"\n', self.delimiter.encode(), 0))
        return not closed.why


def _is_object(text: bytes) -> bool:
    """No beginning of an object is one."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _cuts(file: BinaryIO, lo: int, hi: int, size: int, lines: _Json | _Csv) -> Iterator[int]:
    """Places behind complete lines, `size` bytes or less from each other, or a line."""
    wanted = size
    while lo < hi:
        file.seek(lo)
        data = file.read(min(wanted, hi - lo))
        last = len(data) >= hi - lo
        end = lines.end(data, last)
        if end:
            lo, wanted = lo + end, size
            yield lo
        elif last:
            return
        else:
            wanted *= 2
