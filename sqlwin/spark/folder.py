"""A folder of small text files that are replaced whole, never half.

It lies beside Spark's own files in the checkpoint. Only the driver writes it.

>>> import tempfile
>>> folder = Folder(tempfile.mkdtemp())
>>> folder.read("a") is None
True
>>> folder.write("a", "1"); folder.read("a")
'1'
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlwin.runtime.whole import replaced


@dataclass(frozen=True)
class Folder:
    path: str

    def read(self, name: str) -> str | None:
        try:
            return (Path(self.path) / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def write(self, name: str, text: str) -> None:
        """Atomic: after a crash the file is as before or as it should be."""
        with replaced(Path(self.path) / name) as unfinished:
            unfinished.write_text(text, encoding="utf-8")

    def remove(self, name: str) -> None:
        (Path(self.path) / name).unlink(missing_ok=True)
