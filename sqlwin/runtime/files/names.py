"""What a file is called in a checkpoint: by where it is, however its path is spelt.

A file of a relative path is known by its way from the script's folder, one of an absolute
path by its whole way; links and `..` are resolved in both. So a run goes on with its files
when it is resumed from another directory, through a link, or after the script and its files
were moved together. Two paths that lead to one file are one file.

>>> import tempfile
>>> home = Path(tempfile.mkdtemp()).resolve()
>>> (home / "orders").mkdir(); (home / "orders" / "1.jsonl").touch()
>>> (home / "link").symlink_to(home)
>>> names = Names("orders/*.jsonl", home / "link" / "orders" / "..")
>>> names.of(str(home / "link/orders/1.jsonl")), Names(f"{home}/*", home).of("/a/../b")
('orders/1.jsonl', '/b')
>>> names.path("orders/1.jsonl") == str(home / "orders/1.jsonl")
True
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Names:
    """declared: the path of a stream, as the script has it. base: the script's folder."""

    declared: str
    base: Path

    @cached_property
    def _root(self) -> Path | None:
        """What names are relative to."""
        return None if Path(self.declared).is_absolute() else self.base.resolve()

    def of(self, path: str) -> str:
        """The name of a file; also of a name, and of the path that older checkpoints have."""
        if self._root is None:
            return str(Path(path).resolve())
        return os.path.relpath((self._root / path).resolve(), self._root)

    def path(self, name: str) -> str:
        """Where the file of a name is now."""
        return name if self._root is None else os.path.normpath(self._root / name)

    def all(self, paths: Iterable[str]) -> list[str]:
        """Each file once, in the order of the paths."""
        return list(dict.fromkeys(map(self.of, paths)))
