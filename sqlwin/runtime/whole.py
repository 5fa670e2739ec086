"""Files that appear whole, or not at all: written aside, then renamed.

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
    target.parent.mkdir(parents=True, exist_ok=True)
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


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
