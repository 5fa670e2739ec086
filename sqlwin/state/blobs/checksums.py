"""The checksum of every blob of a SQLite file, kept in a table of its own.

It is written with each commit, so a blob that was damaged, lost, or is that of another
commit is found out when the file is opened or the blob is read. A table that may be emptied
from outside (`losable`) may lack blobs.

Files of before have no ledger; they are read as they are, and given one by who writes.

>>> db = sqlite3.connect(":memory:")
>>> _ = db.execute("CREATE TABLE checksums (name PRIMARY KEY, data)")
>>> ledger = Checksums({"a": sum_of("a", b"1")})
>>> ledger.write(db)
>>> again = Checksums.read(db)
>>> again.check("a", b"1"), again.check_names(["a"], losable=lambda name: False)
(None, None)
>>> again.check("a", b"2")
Traceback (most recent call last):
sqlwin.errors.StateError: a is damaged: its checksum does not match its bytes
>>> again.check_names([], losable=lambda name: False)
Traceback (most recent call last):
sqlwin.errors.StateError: a: its bytes are gone
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping

from sqlwin.errors import StateError
from sqlwin.state.blobs.seal import checksum, sealed, unsealed

TABLE = "checksums"
ROOT = "checksums"
VERSION = 1


def sum_of(name: str, data: bytes) -> str:
    return checksum(name, data, length=8).hex()


class Checksums:
    """sums: of each blob, by name. commits: so many there were, see `Commits`; None in files of
    before.
    """

    def __init__(self, sums: Mapping[str, str], commits: int | None = None) -> None:
        self.sums, self.commits = dict(sums), commits

    @staticmethod
    def read(db: sqlite3.Connection) -> Checksums:
        """Of the last commit; StateError where it is not whole."""
        row = db.execute(f"SELECT data FROM {TABLE} WHERE name = ?", (ROOT,)).fetchone()
        if row is None or not isinstance(row[0], bytes):
            raise StateError("the list of checksums is gone")
        found = unsealed("the list of checksums", row[0])
        if found is row[0]:
            raise StateError("the list of checksums is damaged")
        known = json.loads(found)
        return Checksums(known["blobs"], known.get("commits"))

    def write(self, db: sqlite3.Connection) -> None:
        """With one commit more."""
        self.commits = (self.commits or 0) + 1
        content = {"version": VERSION, "commits": self.commits, "blobs": self.sums}
        plain = json.dumps(content).encode()
        data = sealed("the list of checksums", plain)
        db.execute(f"INSERT OR REPLACE INTO {TABLE} VALUES (?, ?)", (ROOT, data))

    def put(self, name: str, data: bytes) -> None:
        self.sums[name] = sum_of(name, data)

    def delete(self, name: str) -> None:
        self.sums.pop(name, None)

    def check(self, name: str, data: object) -> None:
        """StateError where a blob is not what the last commit wrote."""
        if not isinstance(data, bytes) or self.sums.get(name) != sum_of(name, data):
            raise StateError(f"{name} is damaged: its checksum does not match its bytes")

    def check_names(self, there: Collection[str], losable: Callable[[str], bool]) -> None:
        """StateError where a blob is missing that is not `losable`, or nobody wrote it."""
        known = set(there)
        for name in sorted(known - self.sums.keys()):
            raise StateError(f"{name} is there, which no commit wrote")
        if len(known) < len(there):
            raise StateError("a blob is there twice")
        for name in sorted(self.sums.keys() - known):
            if not losable(name):
                raise StateError(f"{name}: its bytes are gone")
