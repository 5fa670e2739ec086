"""Where segments lie: in memory, or in one SQLite file.

`SqliteBlobs` is durable. Writes between `begin` and `commit` are one
transaction: after a crash either all of them are there or none is. A host puts
a store's new segments, its index and the offsets of its sources into one
transaction, so that no offset is ever ahead of the records it stands for.

>>> blobs = SqliteBlobs(":memory:")
>>> blobs.begin(); blobs.put("a", b"1"); blobs.rollback()
>>> blobs.names()
[]
>>> with blobs.transaction():
...     blobs.put("a", b"1")
...     blobs.put("b", b"2")
>>> blobs.names(), blobs.get("b")
(['a', 'b'], b'2')
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import ClassVar

from sqlwin.state.contract import Blobs


class DictBlobs:
    """Blobs in a dict, for tests and for hosts that commit by themselves."""

    def __init__(self, blobs: dict[str, bytes] | None = None) -> None:
        self.blobs = {} if blobs is None else blobs

    def get(self, name: str) -> bytes:
        return self.blobs[name]

    def put(self, name: str, data: bytes) -> None:
        self.blobs[name] = data

    def delete(self, name: str) -> None:
        self.blobs.pop(name, None)

    def names(self) -> list[str]:
        return sorted(self.blobs)


@dataclass(frozen=True)
class Shelf:
    """Those blobs of others whose names begin with `label`, called without it."""

    blobs: Blobs
    label: str

    def get(self, name: str) -> bytes:
        return self.blobs.get(self.label + name)

    def put(self, name: str, data: bytes) -> None:
        self.blobs.put(self.label + name, data)

    def delete(self, name: str) -> None:
        self.blobs.delete(self.label + name)

    def names(self) -> list[str]:
        known = (name for name in self.blobs.names() if name.startswith(self.label))
        return [name.removeprefix(self.label) for name in known]


class SqliteBlobs:
    """Blobs in one SQLite file, synced to disk at every commit.

    Outside a transaction each write commits by itself. sqlite3.Error as SQLite
    raises it, a second `begin` included, and for a database of something else.
    """

    tables: ClassVar[tuple[str, ...]] = ("blobs",)

    def __init__(self, path: str | PathLike[str]) -> None:
        # closed by whatever thread the garbage collector runs in
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        found = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master")}
        if found and not found >= set(self.tables):
            raise sqlite3.DatabaseError("the file is a database of something else")
        # A write-ahead log takes one sync a commit; FULL makes that sync wait for the disk.
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA secure_delete = ON")  # what a TTL forgot is not left in free pages
        with self.transaction():
            for table in self.tables:
                columns = "(name TEXT PRIMARY KEY, data BLOB NOT NULL)"
                self._db.execute(f"CREATE TABLE IF NOT EXISTS {table} {columns}")

    def table_of(self, name: str) -> str:
        """Which of the tables has the blob."""
        return self.tables[0]

    def begin(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self._db.execute("COMMIT")

    def rollback(self) -> None:
        self._db.execute("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """`begin`, then `commit`; `rollback` where the block raises."""
        self.begin()
        try:
            yield
            self.commit()
        except BaseException:
            if self._db.in_transaction:
                self.rollback()
            raise

    def get(self, name: str) -> bytes:
        table = self.table_of(name)
        row = self._db.execute(f"SELECT data FROM {table} WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise KeyError(name)
        return bytes(row[0])

    def put(self, name: str, data: bytes) -> None:
        table = self.table_of(name)
        self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (name, data))

    def delete(self, name: str) -> None:
        self._db.execute(f"DELETE FROM {self.table_of(name)} WHERE name = ?", (name,))

    def names(self) -> list[str]:
        found = (self._db.execute(f"SELECT name FROM {table}") for table in self.tables)
        return sorted(name for rows in found for (name,) in rows)

    def close(self) -> None:
        self._db.close()
