"""How many commits a SQLite file of state has, in a small file beside it, `…-commits`.

What was committed last lies in SQLite's log, `…-wal`, until that is written back. A log that is
deleted or damaged takes its commits with it, and SQLite opens the file as it was before. The
file itself counts its commits; beside it the count is written after each commit, and not synced:
it may be behind, and is never ahead. So a file that has fewer has lost some.

>>> import tempfile
>>> commits = Commits(tempfile.mkdtemp() + "/orders.state")
>>> commits.known()
0
>>> commits.note(9)
>>> commits.check(commits.known(), 9)
>>> commits.check(commits.known(), 8)
Traceback (most recent call last):
sqlwin.errors.StateError: it has 8 commits, and 9 were made: its log ...
"""

from __future__ import annotations

import os
from pathlib import Path

from sqlwin.errors import StateError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.state.blobs.seal import checksum


@dataclass(frozen=True)
class Commits:
    """path: of the SQLite file."""

    path: str

    @property
    def beside(self) -> Path | None:
        """None of what is in memory. SQLite's own files are beside a link's target, too."""
        return None if self.path == ":memory:" else Path(f"{Path(self.path).resolve()}-commits")

    def known(self) -> int:
        """0 where nothing is known, as after power was lost. Ask before the SQLite file, which
        another may write meanwhile.
        """
        try:
            text = b"" if self.beside is None else self.beside.read_bytes()
        except FileNotFoundError:
            return 0
        if not text.strip(b"\0"):
            return 0
        count = text.split(b" ")[0]
        if text != _line(count):
            raise StateError(
                f"{self.beside} does not match its checksum; without it the state is used"
            )
        return int(count)

    def check(self, known: int, found: int | None) -> None:
        """StateError where the SQLite file has fewer than were made. None: it does not count."""
        if found is not None and found < known:
            name = Path(self.path).name
            raise StateError(
                f"it has {found} commits, and {known} were made: its log {name}-wal was deleted or "
                f"damaged, or an older copy is there, with which a run goes on if {name}-commits "
                f"is deleted"
            )

    def note(self, count: int) -> None:
        """There are so many. In place and at once, so that no kill leaves half of it."""
        if self.beside is not None:
            file = os.open(self.beside, os.O_WRONLY | os.O_CREAT, 0o666)
            try:
                os.pwrite(file, _line(b"%020d" % count), 0)
            finally:
                os.close(file)

    def forget(self) -> None:
        """The SQLite file begins anew."""
        if self.beside is not None:
            self.beside.unlink(missing_ok=True)


def _line(count: bytes) -> bytes:
    return count + b" " + checksum("commits", count, 8).hex().encode() + b"\n"
