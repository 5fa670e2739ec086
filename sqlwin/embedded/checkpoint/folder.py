"""The folder of a run's checkpoint: a file for each query, and a list of those that were made.

    query-0.sqlite …   state and place of a query
    checkpoint.json    the files that were made, so that a missing one is noticed
    lock               locked by the process that runs

Invariant: the list is on disk before the first file is made, empty, and names a file only once
it is made. So a file without a list has lost it, and a file that is listed was there.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> with checkpoint_locked(folder, 1):
...     file_of(folder, 0).touch()
...     note(folder, 1)
>>> file_of(folder, 0).unlink()
>>> with checkpoint_locked(folder, 1):
...     pass
Traceback (most recent call last):
sqlwin.errors.StateError: .../query-0.sqlite is gone, and checkpoint.json says that it was ...
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlwin.errors import RunError, StateError
from sqlwin.runtime.files.lock import locked
from sqlwin.runtime.files.sealed_text import read_json, write_text
from sqlwin.state.blobs.sqlite_file import TO_DO

MADE = "checkpoint.json"
VERSION = 1


def file_of(checkpoint: Path, number: int) -> Path:
    return checkpoint / f"query-{number}.sqlite"


@contextmanager
def checkpoint_locked(folder: Path | None, queries: int) -> Iterator[None]:
    """The folder, if there is to be one, for this process alone.

    RunError where another has it or it cannot be made, StateError where a file of it is gone.
    """
    if folder is None:
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"cannot keep state in {file_of(folder, 0)}: {error}") from error
    with locked(folder):
        _check(folder, queries)
        if not (folder / MADE).exists():
            _list(folder, [])  # before any file, which without it is a leftover
        yield


def note(folder: Path, queries: int) -> None:
    """The files are made now."""
    made = sorted({*_made(folder), *(file_of(folder, n).name for n in range(queries))})
    if made != _made(folder):
        _list(folder, made)


def _list(folder: Path, files: Sequence[str]) -> None:
    write_text(folder / MADE, json.dumps({"version": VERSION, "files": files}))


def _check(folder: Path, queries: int) -> None:
    listed = (folder / MADE).exists()
    for file in (file_of(folder, number) for number in range(queries)):
        if not listed and file.exists():
            raise StateError(f"{folder / MADE} is gone, and {file.name} is there; {TO_DO}")
        if file.name in _made(folder) and not file.exists():
            raise StateError(f"{file} is gone, and {MADE} says that it was made; {TO_DO}")


def _made(folder: Path) -> list[str]:
    found = read_json(folder / MADE)
    if found is not None and found["version"] != VERSION:
        raise StateError(
            f"{folder / MADE} has version {found['version']}, known is {VERSION}: "
            f"made by a newer sqlwin"
        )
    return [] if found is None else list(found["files"])
