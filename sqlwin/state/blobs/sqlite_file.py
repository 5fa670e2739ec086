"""A SQLite file of state as a whole: made at once, marked as ours, its failures in words.

A file appears under its name only when it has its tables, so one that is empty was emptied
since. `application_id` and `user_version` say that it is ours and has checksums; a file of
before has neither. Where a file cannot be read as what was written, that is a StateError; where
the disk, its rights or another process stand in the way, a RunError: then the last commit stands.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from sqlwin.errors import InputError, RunError, StateError
from sqlwin.state.blobs.checksums import TABLE as LEDGER
from sqlwin.state.blobs.checksums import Checksums, sum_of

APPLICATION = int.from_bytes(b"SQLW", "big")
VERSION = int.from_bytes(b"v\x00\x002", "big")
"""Unlike 0, and unlike any other version, in more than one bit."""

_OUTSIDE = ("full", "locked", "unable to open", "disk I/O", "readonly", "interrupted")
"""Words of SQLite's where the file itself may be whole."""
STANDS = "; the last commit stands"
TO_DO = "put a copy of it there, or delete the checkpoint and read the input again"


def damaged(path: str, why: object) -> StateError:
    return StateError(f"the state in {path} is damaged: {why}; {TO_DO}")


@contextmanager
def translated(path: str, doing: str) -> Iterator[None]:
    """StateError or RunError with the file's name for what SQLite, a checksum or the disk says."""
    try:
        yield
    except StateError as error:
        raise error if path in str(error) else damaged(path, error) from error
    except (sqlite3.Error, UnicodeError) as error:
        raise failure(path, doing, error) from error
    except OSError as error:  # such as a full disk, of a folder that is synced
        raise _not_done(path, doing, error.strerror or str(error)) from error


def failure(path: str, doing: str, error: Exception) -> RunError:
    why = str(error)
    if not any(word in why for word in _OUTSIDE) or _unwritable_itself(path, why):
        return damaged(path, why)
    if "locked" in why:
        why = f"another process uses it ({why})"
    return _not_done(path, doing, why)


def _not_done(path: str, doing: str, why: str) -> RunError:
    return RunError(f"cannot {doing} state in {path}: {why}{STANDS * (doing != 'read')}")


def _unwritable_itself(path: str, why: str) -> bool:
    """Whether a file says of itself that it is not to be written, against what its rights say."""
    return "readonly" in why and os.access(path, os.W_OK)


def make(path: str, tables: Sequence[str]) -> bool:
    """The file with empty tables, if there is none; whether it was made. StateError for one that
    was emptied.
    """
    file = Path(path)
    if path == ":memory:":
        return False
    if not file.exists():
        _refuse_remains(file)
        unfinished = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            with closing(sqlite3.connect(unfinished, isolation_level=None)) as db:
                fill(db, tables)
            _link(unfinished, file)
        finally:
            unfinished.unlink(missing_ok=True)
        return True
    if file.is_file():
        check_kind(file, "keep state in")
    return False


def _refuse_remains(file: Path) -> None:
    """StateError where the file was deleted, and what belongs to it was not."""
    for ending in ("-wal", "-journal"):
        beside = file.with_name(file.name + ending)
        if beside.exists():
            raise damaged(str(file), f"the file is gone, but {beside.name} is there")


def check_kind(file: Path, doing: str) -> None:
    """StateError for a file that is empty or zeros, InputError for one that was no database."""
    with file.open("rb") as opened:
        head = opened.read(100)
    if not head:
        raise damaged(str(file), "the file is empty")
    if not any(head):  # as some file systems leave it when power is lost
        raise damaged(str(file), "the file begins with zeros")
    if head[:16] != b"SQLite format 3\0" and head[68:72] != b"SQLW":
        raise InputError(f"cannot {doing} {file}: file is not a database")


def _link(unfinished: Path, file: Path) -> None:
    try:
        os.link(unfinished, file)
    except FileExistsError:
        pass  # another was faster
    except OSError:  # a file system without links
        unfinished.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the name, too, is on disk before a commit is
    finally:
        os.close(folder)


def fill(db: sqlite3.Connection, tables: Sequence[str]) -> None:
    """Give a database tables, checksums of what is in them, and the marks; all or nothing."""
    db.execute("BEGIN IMMEDIATE")
    for table in (*tables, LEDGER):
        columns = "(name TEXT PRIMARY KEY, data BLOB NOT NULL)"
        db.execute(f"CREATE TABLE IF NOT EXISTS {table} {columns}")
    found = (db.execute(f"SELECT name, data FROM {table}") for table in tables)
    Checksums({name: sum_of(name, data) for rows in found for name, data in rows}).write(db)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")


def has_ledger(db: sqlite3.Connection, path: str, tables: Sequence[str]) -> bool:
    """Whether the file has checksums; False for one of before, or without any table.

    InputError for a database of something else, StateError for one that is not whole.
    """
    found = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    marks = (_pragma(db, "application_id"), _pragma(db, "user_version"))
    if marks == (0, 0) and (not found or (found >= set(tables) and LEDGER not in found)):
        return False
    if found and not found & {LEDGER, *tables}:
        raise InputError(f"cannot keep state in {path}: the file is a database of something else")
    if marks != (APPLICATION, VERSION):
        raise damaged(path, f"it has no known version, but {marks[1]:#x}")
    if not found >= {LEDGER, *tables}:
        raise damaged(path, "a table is gone")
    return True


def _pragma(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])
