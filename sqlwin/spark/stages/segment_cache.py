"""Decoded segments on the host, shared by all workers: memory-mapped Arrow files.

A worker seldom gets the same bucket twice, so a cache in a worker's own memory
would seldom hit; a file that any worker of the host wrote does. Names of
segments are unique for ever, so a file that is there is right. It appears whole,
by a rename. The files longest unused go first; a mapped file that is removed
lives on until its reader unmaps it.

>>> cache = HostCache(tempfile.mkdtemp(), capacity=1 << 20)
>>> cache.get("panes-1") is None
True
>>> cache.put("panes-1", pl.DataFrame({"x": [1, 2]})); cache.get("panes-1")["x"].sum()
3
"""

from __future__ import annotations

import getpass
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import field
from pathlib import Path

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.files.atomic_files import replaced

CAPACITY = 4 << 30
SWEEP = 64 << 20


@dataclass
class HostCache:
    """A `SegmentCache`. written: bytes since this worker last looked for files to drop."""

    folder: str = field(default_factory=lambda: default_folder())
    capacity: int = CAPACITY
    written: int = 0

    def get(self, name: str) -> pl.DataFrame | None:
        path = self._path(name)
        try:
            frame = pl.read_ipc(path)
            os.utime(path)
        except (OSError, pl.exceptions.PolarsError):
            return None
        return frame

    def put(self, name: str, frame: pl.DataFrame) -> None:
        """A full disk is no failure: what is not cached is read from the state."""
        path = self._path(name)
        with suppress(OSError):
            with replaced(path, sync=False) as unfinished:
                frame.write_ipc(unfinished, compression="uncompressed")
            self.written += path.stat().st_size
        if self.written > min(SWEEP, self.capacity // 4):
            self.sweep()

    def drop(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove the files longest unused, down to the capacity."""
        self.written = 0
        found = sorted(self._used(), reverse=True)
        kept = 0
        for _, size, path in found:
            kept += size
            if kept > self.capacity:
                path.unlink(missing_ok=True)

    def _used(self) -> list[tuple[float, int, Path]]:
        """Those of killed workers too, which were never finished."""
        used = []
        for path in Path(self.folder).glob("*.arrow*"):
            try:
                stat = path.stat()
            except FileNotFoundError:
                continue
            used.append((stat.st_mtime, stat.st_size, path))
        return used

    def _path(self, name: str) -> Path:
        return Path(self.folder) / f"{name}.arrow"


def default_folder() -> str:
    return str(Path(tempfile.gettempdir()) / f"sqlwin-segments-{getpass.getuser()}")


def default_capacity() -> int:
    """A quarter of the free disk at most."""
    return min(CAPACITY, shutil.disk_usage(tempfile.gettempdir()).free // 4)
