"""Small text files of a checkpoint: replaced whole, never half, with a checksum in the last line.

A file without that line was written before there were checksums, and is read as it is: its text
is JSON, and a truncated or damaged one does not parse.

>>> import tempfile
>>> file = Path(tempfile.mkdtemp()) / "a.json"
>>> read_text(file) is None
True
>>> write_text(file, "{}"); read_text(file)
'{}'
>>> file.read_text().splitlines()
['{}', 'checksum ...']
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from sqlwin.errors import RunError, StateError
from sqlwin.runtime.files.atomic_files import replaced
from sqlwin.state.blobs.seal import checksum
from sqlwin.state.blobs.sqlite_file import TO_DO

_LAST = re.compile(rb"\nchecksum ([0-9a-f]{32})\n\Z")


def read_text(path: Path) -> str | None:
    """None where there is no such file; StateError where it is not as it was written."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error
    found = _LAST.search(data)
    text = data[: found.start()] if found else data
    if found and found[1].decode() != _sum(path, text):
        raise damaged(path, "its checksum does not match its bytes")
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise damaged(path, error) from error


def read_json(path: Path) -> Any:
    """What a file says; None where there is none."""
    text = read_text(path)
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise damaged(path, error) from error


def write_text(path: Path, text: str) -> None:
    """Atomic: after a crash the file is as before or as it should be. RunError where it cannot
    be written."""
    data = text.encode()
    try:
        with replaced(path) as unfinished:
            unfinished.write_bytes(data + f"\nchecksum {_sum(path, data)}\n".encode())
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror}; the last commit stands") from error


def damaged(path: Path, why: object) -> StateError:
    return StateError(f"{path} is damaged: {why}; {TO_DO}")


def _sum(path: Path, text: bytes) -> str:
    return checksum(path.name, text).hex()
