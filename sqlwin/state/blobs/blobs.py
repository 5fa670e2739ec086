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
from contextlib import contextmanager, nullcontext, suppress
from os import PathLike, fspath
from typing import ClassVar

from sqlwin.errors import InputError, RunError, StateError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.state.blobs.checksums import Checksums
from sqlwin.state.blobs.commits import Commits
from sqlwin.state.blobs.sqlite_file import STANDS, fill, has_ledger, make, translated
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
class PrefixedBlobs:
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
    """Blobs in one SQLite file, synced to disk at every commit, each with a checksum.

    Outside a transaction each write commits by itself. StateError for a file or a blob that is
    not as it was written, RunError where it cannot be written now, InputError where no
    file can be made there or it is a database of something else.
    """

    tables: ClassVar[tuple[str, ...]] = ("blobs",)

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = fspath(path)
        self._commits = Commits(self.path)
        try:
            with translated(self.path, "keep"):
                self._open()
        except StateError:
            raise
        except RunError as error:
            raise InputError(str(error).removesuffix(STANDS)) from error

    def _open(self) -> None:
        if make(self.path, self.tables):
            self._commits.forget()
        known = self._commits.known()
        # closed by whatever thread the garbage collector runs in
        self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        whole = has_ledger(self._db, self.path, self.tables)
        # A write-ahead log takes one sync a commit; FULL makes that sync wait for the disk.
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA secure_delete = ON")  # what a TTL forgot is not left in free pages
        if not whole:
            fill(self._db, self.tables)
        self._rooted = False
        self._read_ledger()
        if whole:
            self._commits.check(known, self._ledger.commits)
        self._commits.note(self._ledger.commits or 0)
        self._ledger.check_names(self.names(), self.losable)

    def _read_ledger(self) -> None:
        (self._seen,) = self._db.execute("PRAGMA data_version").fetchone()
        self._ledger = Checksums.read(self._db)

    def table_of(self, name: str) -> str:
        """Which of the tables has the blob."""
        return self.tables[0]

    def losable(self, name: str) -> bool:
        """Whether the blob may be deleted from outside."""
        return False

    def begin(self) -> None:
        with translated(self.path, "write"):
            self._db.execute("BEGIN IMMEDIATE")
            if self._db.execute("PRAGMA data_version").fetchone() != (self._seen,):
                self._read_ledger()  # another has written

    def commit(self) -> None:
        with translated(self.path, "write"):
            self._ledger.write(self._db)
            self._db.execute("COMMIT")
            with suppress(OSError):  # it is committed; the count is behind then
                self._commits.note(self._ledger.commits or 0)
            if not self._rooted:  # without its log the file is then not as if nothing was written
                self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")
                self._rooted = True

    def rollback(self) -> None:
        with translated(self.path, "write"):
            self._db.execute("ROLLBACK")
            self._read_ledger()

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
        with translated(self.path, "read"):
            one = f"SELECT data FROM {self.table_of(name)} WHERE name = ?"
            row = self._db.execute(one, (name,)).fetchone()
            if row is None:
                raise KeyError(name)
            self._ledger.check(name, row[0])
        return bytes(row[0])

    def put(self, name: str, data: bytes) -> None:
        with self._writing():
            table = self.table_of(name)
            self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (name, data))
            self._ledger.put(name, data)

    def delete(self, name: str) -> None:
        with self._writing():
            self._db.execute(f"DELETE FROM {self.table_of(name)} WHERE name = ?", (name,))
            self._ledger.delete(name)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """In the transaction there is, or in one of its own."""
        own = nullcontext() if self._db.in_transaction else self.transaction()
        with own, translated(self.path, "write"):
            yield

    def names(self) -> list[str]:
        with translated(self.path, "read"):
            found = (self._db.execute(f"SELECT name FROM {table}") for table in self.tables)
            return sorted(str(name) for rows in found for (name,) in rows)

    def settle(self) -> None:
        """Write the log back and empty it, so that it holds nothing that was erased.

        A reader that is in the middle of it keeps it until the next call.
        """
        with translated(self.path, "write"):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        if hasattr(self, "_db"):  # not if there was nothing to connect to
            self._db.close()
