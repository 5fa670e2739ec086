"""A disk on which the n-th operation fails, and which forgets what was not synced.

It counts what a run does to files below its folder, and to its SQLite stores: transactions
begun and committed, blobs put and deleted, files written, synced, renamed and removed. At
one of them the process is *killed* (before it or after it, or in the middle of a write), the
machine *loses power*, or the disk is *full*, which the process hears of.

What survives a loss of power is what the systems below promise: of SQLite what was committed,
whole; of files what was synced, and their names once the folder was. A write that was not
synced may be cut short, and each change of a name in a folder that was not synced may be
undone, whatever became of those before and after it.

Invariant: once it is dead nothing more is done, not even by `finally`, as after SIGKILL.

>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     disk = Disk(Path(folder), Random(1), at=2, how=KILL_AFTER)
...     try:
...         with disk.attached():
...             for name in "abc":
...                 _ = (Path(folder) / name).write_text(name)
...     except Crash:
...         sorted(path.name for path in Path(folder).iterdir())
['a', 'b']
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

KILL_BEFORE, KILL_AFTER, KILL_AMID = "before", "after", "amid"
POWER = "power"
"""The loss of it; at random before the operation, after it or amid."""
FULL = "full"
WRITES = ("BEGIN", "COMMIT", "ROLLBACK", "INSERT", "DELETE", "UPDATE")
"""What begins a statement that counts."""
FAULTS = (KILL_BEFORE, KILL_AFTER, KILL_AMID, POWER, POWER, FULL)
Act = Callable[[], Any]


class Crash(BaseException):
    """The process is gone."""


@dataclass
class Cached:
    """What is not synced: files, and by folder what undoes a change of its names. It outlives a
    process that is killed."""

    files: set[Path] = field(default_factory=set)
    names: list[tuple[Path, Act]] = field(default_factory=list)

    def synced(self, same: os.stat_result) -> None:
        self.files = {each for each in self.files if not _is(each, same)}
        self.names = [each for each in self.names if not _is(each[0], same)]

    def lose(self, random: Random) -> None:
        """Each change is lost, or not."""
        for _, undo in reversed(self.names):
            if random.random() < 0.5:
                undo()
        for path in sorted(self.files):
            with suppress(FileNotFoundError):
                data = path.read_bytes()
                path.write_bytes(data[: random.randrange(len(data) + 1)])
        self.files.clear()
        self.names.clear()


@dataclass
class Disk:
    """at: the operation that fails; None: none of them. done: how many there were."""

    home: Path
    random: Random
    at: int | None = None
    how: str = KILL_BEFORE
    cached: Cached = field(default_factory=Cached)
    done: int = 0
    dead: bool = False
    _stores: list[sqlite3.Connection] = field(default_factory=list)

    @contextmanager
    def attached(self) -> Iterator[Disk]:
        """In the block all that this process writes goes to the disk."""
        try:
            with ExitStack() as patches:
                for owner, name, made in self._replaced():
                    patches.enter_context(patch.object(owner, name, made))
                yield self
        finally:
            for store in self._stores:
                store.close()
            if self.dead and self.how == POWER:
                self.cached.lose(self.random)

    def operation(self, act: Act, amid: Act | None = None, full: Act | None = None) -> Any:
        """amid: what half of it does, where it is no single step. full: raise what a full disk
        does."""
        if self.dead:
            raise Crash
        self.done += 1
        if self.done != self.at:
            return act()
        if self.how == FULL:
            if amid is not None:
                amid()
            return (full or _no_space)()
        self.dead = True
        how = self.how
        if how == POWER:
            how = self.random.choice((KILL_BEFORE, KILL_AFTER, KILL_AMID))
        if how == KILL_AFTER:
            act()
        elif how == KILL_AMID and amid is not None:
            amid()
        raise Crash

    # --- what is replaced while it is attached ---

    def _replaced(self) -> list[tuple[Any, str, Any]]:
        return [
            (Path, "write_text", self._file_call(Path.write_text, self._write)),
            (Path, "replace", self._file_call(Path.replace, self._rename)),
            (Path, "unlink", self._file_call(Path.unlink, self._unlink)),
            (Path, "mkdir", self._file_call(Path.mkdir, self._mkdir)),
            (os, "fsync", self._fsync(os.fsync)),
            (sqlite3, "connect", self._connect(sqlite3.connect)),
        ]

    def _file_call(self, real: Any, ours: Any) -> Any:
        def call(path: Path, *arguments: Any, **named: Any) -> Any:
            if self.home not in path.parents:
                return real(path, *arguments, **named)
            return ours(lambda: real(path, *arguments, **named), path, *arguments)

        return call

    def _write(self, act: Act, path: Path, text: str) -> Any:
        def half() -> None:
            path.write_bytes(text.encode()[: self.random.randrange(len(text) + 1)])

        self.cached.files.add(path)
        return self.operation(act, half)

    def _rename(self, act: Act, path: Path, target: Path) -> Any:
        def renamed() -> Any:
            self.cached.names.append((target.parent, _restored(target)))
            if path in self.cached.files:
                self.cached.files.add(target)
            return act()

        return self.operation(renamed)

    def _unlink(self, act: Act, path: Path) -> Any:
        if not path.exists():
            return act()

        def unlinked() -> Any:
            self.cached.names.append((path.parent, _restored(path)))
            return act()

        return self.operation(unlinked)

    def _mkdir(self, act: Act, path: Path) -> Any:
        if path.exists():
            return act()

        def made() -> Any:
            self.cached.names.append((path.parent, lambda: shutil.rmtree(path, ignore_errors=True)))
            return act()

        return self.operation(made)

    def _fsync(self, real: Any) -> Any:
        def fsync(file: int) -> Any:
            def synced() -> None:
                real(file)
                self.cached.synced(os.fstat(file))

            return self.operation(synced)

        return fsync

    def _connect(self, real: Any) -> Any:
        disk = self

        class Connection(sqlite3.Connection):
            def execute(self, statement: str, *arguments: Any) -> sqlite3.Cursor:
                def act() -> sqlite3.Cursor:
                    return sqlite3.Connection.execute(self, statement, *arguments)

                if statement.split(None, 1)[0] not in WRITES:
                    return act()
                done: sqlite3.Cursor = disk.operation(act, full=_database_full)
                return done

        def connect(path: Any, *arguments: Any, **named: Any) -> sqlite3.Connection:
            if str(self.home) not in str(path):
                return real(path, *arguments, **named)
            made: sqlite3.Connection = real(path, *arguments, factory=Connection, **named)
            self._stores.append(made)
            return made

        return connect


def _restored(path: Path) -> Act:
    """What puts back what is there now."""
    before = path.read_bytes() if path.exists() else None

    def restore() -> None:
        if before is None:
            path.unlink(missing_ok=True)
        elif path.parent.exists():
            path.write_bytes(before)

    return restore


def _is(path: Path, same: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), same)
    except FileNotFoundError:
        return False


def _no_space() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _database_full() -> None:
    raise sqlite3.OperationalError("database or disk is full")
