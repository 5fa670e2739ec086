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
from os import PathLike


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


class SqliteBlobs:
    """Blobs in one SQLite file, synced to disk at every commit.

    Outside a transaction each write commits by itself. sqlite3.Error as SQLite
    raises it, a second `begin` included.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        # A write-ahead log takes one sync a commit; FULL makes that sync wait for the disk.
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA secure_delete = ON")  # what a TTL forgot is not left in free pages
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS blobs (name TEXT PRIMARY KEY, data BLOB NOT NULL)"
        )

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
        row = self._db.execute("SELECT data FROM blobs WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise KeyError(name)
        return bytes(row[0])

    def put(self, name: str, data: bytes) -> None:
        self._db.execute("INSERT OR REPLACE INTO blobs VALUES (?, ?)", (name, data))

    def delete(self, name: str) -> None:
        self._db.execute("DELETE FROM blobs WHERE name = ?", (name,))

    def names(self) -> list[str]:
        return [name for (name,) in self._db.execute("SELECT name FROM blobs ORDER BY name")]

    def close(self) -> None:
        self._db.close()
