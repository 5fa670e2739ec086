"""A folder of small text files that are replaced whole, never half.

It lies beside Spark's own files in the checkpoint. Only the driver writes it. Each file
has a checksum, see `sealed_text`.

>>> import tempfile
>>> folder = Folder(tempfile.mkdtemp())
>>> folder.read("a") is None
True
>>> folder.write("a", "1"); folder.read("a")
'1'
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlwin.errors import StateError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.files.sealed_text import read_json, read_text, write_text
from sqlwin.state.blobs.sqlite_file import TO_DO


@dataclass(frozen=True)
class Folder:
    path: str

    def read(self, name: str) -> str | None:
        return read_text(self._file(name))

    def json(self, name: str) -> Any:
        """What is written in a file; None where there is none."""
        return read_json(self._file(name))

    def write(self, name: str, text: str) -> None:
        """Atomic: after a crash the file is as before or as it should be."""
        write_text(self._file(name), text)

    def remove(self, name: str) -> None:
        self._file(name).unlink(missing_ok=True)

    def missing(self, name: str) -> StateError:
        """For a file that was written and is not there."""
        return StateError(f"{self._file(name)} is gone, which a batch has left there; {TO_DO}")

    def _file(self, name: str) -> Path:
        return Path(self.path) / name
