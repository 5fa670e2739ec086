"""The durable local store of an embedded query: one SQLite file, three tables.

| table      | holds |
|------------|-------|
| `messages` | segments of the message store |
| `windows`  | segments of the window store and of all others |
| `offsets`  | the header with every index, positions, clock, outputs not sent |

They are written in one transaction, so that no offset is ever ahead of the
messages it stands for. The message store may be deleted (`DELETE FROM
messages`): a replay fills it again, see `sqlwin.runtime.recovery`.

>>> store = DurableStore(":memory:")
>>> with store.transaction():
...     store.put("messages-t-0", b"1")
...     store.put("header", b"2")
>>> store.names(), store.table_of("panes-t-0")
(['header', 'messages-t-0'], 'windows')
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath

from sqlwin.errors import InputError
from sqlwin.runtime.admission import MESSAGES

TABLES = ("messages", "windows", "offsets")


class DurableStore:
    """`Blobs` in the tables above; sqlite3.Error as SQLite raises it.

    InputError for a file that cannot be opened, or is something else.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        try:
            # closed by whatever thread the garbage collector runs in
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._open()
        except sqlite3.Error as error:
            self.close()
            raise InputError(f"cannot keep state in {fspath(path)}: {error}") from error

    def _open(self) -> None:
        found = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master")}
        if found and not found >= set(TABLES):
            raise sqlite3.DatabaseError("the file is a database of something else")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA secure_delete = ON")  # as SqliteBlobs
        with self.transaction():
            for table in TABLES:
                columns = "(name TEXT PRIMARY KEY, data BLOB NOT NULL)"
                self._db.execute(f"CREATE TABLE IF NOT EXISTS {table} {columns}")

    def table_of(self, name: str) -> str:
        """Segments are called `store-token-number`; what has no dash is of the host."""
        store, dash, _ = name.partition("-")
        if not dash:
            return "offsets"
        return "messages" if store in MESSAGES else "windows"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
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
        found = (self._db.execute(f"SELECT name FROM {table}") for table in TABLES)
        return sorted(name for rows in found for (name,) in rows)

    def close(self) -> None:
        if hasattr(self, "_db"):  # not if there was nothing to connect to
            self._db.close()

    def __del__(self) -> None:
        self.close()
