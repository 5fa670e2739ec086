"""One process at a time: a lock on a file of the checkpoint, which does not survive a crash.

The operating system releases it when the process ends, however it ends. The file stays.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> with locked(folder):
...     with locked(folder):
...         pass
Traceback (most recent call last):
sqlwin.errors.RunError: another process runs on the checkpoint ... (process ...); wait ...
>>> with locked(folder):
...     sorted(file.name for file in folder.iterdir())
['lock']
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlwin.errors import RunError

try:
    import fcntl
except ImportError:  # a system without: there the user sees to it
    fcntl = None  # type: ignore[assignment]

NAME = "lock"


@contextmanager
def locked(folder: Path, shown: Path | None = None) -> Iterator[None]:
    """While the block runs no other process has the folder. RunError where one has it now.

    shown: what the message calls it.
    """
    with _opened(folder / NAME) as file:
        if fcntl is not None:
            _take(file, shown or folder)
        yield


def _take(file: int, folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(file, 20, 0).decode("ascii", "replace").strip() or "unknown"
        raise RunError(
            f"another process runs on the checkpoint {folder} (process {owner}); "
            f"wait for its end, or give this run a checkpoint of its own"
        ) from None
    except OSError:
        return  # a file system without locks: there the user sees to it
    os.ftruncate(file, 0)
    os.pwrite(file, f"{os.getpid()}\n".encode(), 0)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise RunError(f"cannot keep state in {path.parent}: {error}") from error
    try:
        yield file
    finally:
        os.close(file)
