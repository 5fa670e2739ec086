"""Files that appear whole, or not at all: written aside, then renamed.

A name is on disk once the folder that has it was synced: of a file that was written or
removed, and of each folder that was made for it. Without that a loss of power may leave a
file that was removed, or lose one that was synced itself.

>>> import tempfile
>>> target = Path(tempfile.mkdtemp()) / "a.txt"
>>> with replaced(target) as path:
...     _ = path.write_text("1")
...     target.exists()
False
>>> target.read_text()
'1'
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replaced(target: Path, sync: bool = True) -> Iterator[Path]:
    """Where to write what becomes `target`; what was there stays where the block raises.

    sync: it is on disk then, bytes and name, before anything that counts on it can be.
    """
    made(target.parent, sync)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    unfinished.unlink(missing_ok=True)  # a link that somebody put there leads elsewhere
    try:
        yield unfinished
        if sync:
            _sync(unfinished)
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    if sync:
        _sync(target.parent)


def made(folder: Path, sync: bool = True) -> None:
    """A folder that is there afterwards, with those above it."""
    if folder.is_dir():
        return
    made(folder.parent, sync)
    folder.mkdir(exist_ok=True)
    if sync:
        _sync(folder.parent)


def removed(path: Path) -> None:
    """A file that is not there afterwards."""
    try:
        path.unlink()
    except FileNotFoundError:
        return
    _sync(path.parent)


def synced(folder: Path) -> None:
    """The names in a folder, and its own, are on disk afterwards, if it is there."""
    for each in (folder, folder.parent):
        if folder.is_dir():
            _sync(each)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
