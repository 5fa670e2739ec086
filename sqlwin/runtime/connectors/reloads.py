"""Static tables that are read again: `'reload.interval' = '10 minutes'`.

A version of the table is what it had when it was read: one piece, whose number is that of the
version, and a file of rows in the checkpoint. The file is there before a batch refers to it, so a
batch that is replayed has the same version again; it goes once the batch is committed, for the
rows are state then.

Invariant: a batch reads one version, the newest that was found; one that equals the last is none.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path
from typing import Protocol

import polars as pl

from sqlwin.errors import RunError
from sqlwin.instants import SECOND
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.runtime.files.pieces import Piece
from sqlwin.runtime.files.source import ROWS_IN_A_FILE, Decoded
from sqlwin.schema import PART, SEQ

NAME = "table"
"""Of the only split."""


class Table(Protocol):
    """A source, as far as a whole table is read from it."""

    def split(self, name: str, base: Path) -> str: ...

    def find(
        self, progress: FileProgress, base: Path, size: int | None = None, ends: bool = False
    ) -> bool: ...

    def read(self, piece: Piece, number: int, watermark: int | None = None) -> Decoded: ...


@dataclass(frozen=True)
class ReloadedTable:
    """table: as it is now. interval: microseconds between two looks. folder: where versions lie,
    which a task that only reads one is told by its piece."""

    stream: Stream
    table: Table
    interval: int
    folder: Path = Path()
    clock: Callable[[], float] = field(default=time.monotonic, compare=False)
    _looked: list[float] = field(default_factory=list, compare=False, repr=False)

    def splits(self, base: Path) -> list[str]:
        return [NAME]

    def name(self, kept: str, base: Path) -> str:
        return kept

    def split(self, name: str, base: Path) -> str:
        return str(self.folder)

    def weight(self, split: str) -> int:
        return 1

    def find(
        self, progress: FileProgress, base: Path, size: int | None = None, ends: bool = False
    ) -> bool:
        """A new version, where it is time to look and another is there than the last one."""
        if not self._due():
            return False
        number = progress.end
        version = _Version(self.folder, number)
        if not version.file.exists():
            found = self._now(base, number)
            if found is None:
                return False
            if _print(found) == _last(progress):
                return False
            version.write(found)
        print_ = _print(version.read())
        progress.pieces.append(Piece(NAME, number, number + 1, number + 1, print_))
        return True

    def batch_end(self, progress: FileProgress, start: int, size: int) -> int:
        return progress.end

    def left(self, progress: FileProgress, base: Path) -> dict[str, int]:
        return {}

    def read(self, piece: Piece, number: int, watermark: int | None = None) -> Decoded:
        return _Version(Path(piece.path), number).read()

    def drop(self, progress: FileProgress) -> None:
        """Versions that were read, and that is committed."""
        for file in self.folder.glob("*.arrow"):
            if int(file.name.split(".")[0]) < progress.first:
                file.unlink(missing_ok=True)

    def _due(self) -> bool:
        now = self.clock()
        if self._looked and now < self._looked[0] + self.interval / SECOND:
            return False
        self._looked[:] = [now]
        return True

    def _now(self, base: Path, number: int) -> Decoded | None:
        """None where nothing is there: of files, which may be just being replaced."""
        found = FileProgress()
        self.table.find(found, base, ends=True)
        parts = [
            self.table.read(replace(piece, path=self.table.split(piece.path, base)), number)
            for piece in found.pieces
        ]
        if not parts:
            return None
        rows = pl.concat([part.rows for part in parts])
        place = pl.int_range(pl.len(), dtype=pl.Int64) + number * ROWS_IN_A_FILE
        return Decoded(
            rows.with_columns(place.alias(SEQ)),
            pl.concat([part.errors for part in parts]),
            tuple(dict.fromkeys(text for part in parts for text in part.warnings)),
        )


@dataclass(frozen=True)
class _Version:
    folder: Path
    number: int

    @property
    def file(self) -> Path:
        """It is there when all of the version is."""
        return self.folder / f"{self.number}.rows.arrow"

    @property
    def errors(self) -> Path:
        return self.folder / f"{self.number}.errors.arrow"

    def write(self, found: Decoded) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for frame, file in ((found.errors, self.errors), (found.rows, self.file)):
            with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as out:
                frame.write_ipc(out, compression="zstd")
                out.flush()
                os.fsync(out.fileno())
            Path(out.name).replace(file)

    def read(self) -> Decoded:
        try:
            rows, errors = (pl.read_ipc(file) for file in (self.file, self.errors))
        except (OSError, pl.exceptions.PolarsError) as failure:
            message = f"the version {self.number} of a static table in {self.folder} is lost"
            raise RunError(f"{message}: {failure}; begin with a new checkpoint") from failure
        return Decoded(rows, errors)


def _last(progress: FileProgress) -> str | None:
    """The print of the newest version; None where there is none."""
    if progress.pieces:
        return progress.pieces[-1].print
    return progress.files[NAME].print if progress.files else None


def _print(found: Decoded) -> str:
    """Of the values, wherever they stand in files."""
    values = found.rows.drop(PART, SEQ)
    out = hashlib.blake2b(digest_size=16)
    out.update(values.write_ipc(None, compression="uncompressed").getvalue())
    return out.hexdigest()
