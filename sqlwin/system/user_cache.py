"""What is made once and read by later processes: files in the user's cache.

A file's name says what it was made of, so that another version makes another file. Nothing
depends on the cache: what is not there is made, and where nothing can be kept it is made again.

SQLWIN_CACHE is the folder; where it is empty nothing is kept. By default it is `sqlwin` in
XDG_CACHE_HOME, which is `~/.cache` by default.

Invariant: a file is whole, for it is written beside its name and then renamed, and its digest is
before its bytes; and the user's own, for what another may write is not read.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

VARIABLE = "SQLWIN_CACHE"
_DIGEST = 32
"""Bytes before those of a file."""
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The folder, made if need be; None where there is none that is the user's own."""
    asked = environment.get(VARIABLE)
    if asked == "":
        return None
    try:
        home = environment.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
        found = Path(asked) if asked else Path(home) / "sqlwin"
        found.mkdir(mode=0o700, parents=True, exist_ok=True)
        return found if own(found) else None
    except (OSError, RuntimeError):  # read-only, or a user without a home
        return None


def key(*parts: str) -> str:
    """Short, and another one where any part is."""
    return sha256("\0".join(parts).encode()).hexdigest()[:16]


def kept(name: str, made: Callable[[], bytes], home: Path | None = None) -> bytes:
    """The bytes of a name; those of `made` where there is none yet. home: None: `folder`."""
    home = home or folder()
    if home is None:
        return made()
    path = home / name
    with suppress(OSError):
        found = path.read_bytes() if own(path) else b""
        if sha256(found[_DIGEST:]).digest() == found[:_DIGEST]:
            return found[_DIGEST:]
    data = made()
    with suppress(OSError):
        write(path, sha256(data).digest() + data)
    return data


def write(path: Path, data: bytes) -> None:
    """All of it under its name, or nothing."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def own(path: Path) -> bool:
    """Whether it is this user's, and no other may write it."""
    found = path.stat()
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid == os.getuid() and not found.st_mode & _WRITABLE_BY_OTHERS
