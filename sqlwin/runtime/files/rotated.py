"""Where a log is after its rotation: under the name that a rotation gives it, beside the new one.

A rotation renames `app.log` to `app.log.1`, or copies it there and empties it. Either way
what was read of it is found again in a file beside it whose name is that of the log with digits
added, and the log's own name stands for a new file. What a number or a date is not part of,
`app.log.bak` or `app.log~`, is a copy that an editor has left: the file was changed, not
rotated.

>>> is_rotated("logs/app.log.1", "logs/app.log"), is_rotated("app-2024-01-31.log", "app.log")
(True, True)
>>> is_rotated("app.log.bak", "app.log"), is_rotated("app.log.1.gz", "app.log")
(False, False)
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.files.ends import UNKNOWN, End, Files, Stat, is_same, stat_of

_ADDED = re.compile(r"[-._T:\d]*\d[-._T:\d]*")
_COUNT = re.compile(r"\.\d+$")


def is_rotated(path: str, of: str) -> bool:
    """Whether a rotation calls one file of a folder so that was called `of`, maybe after others."""
    file, log = Path(path), Path(of)
    whole = _COUNT.sub("", log.name)
    if file.parent != log.parent or file.name == log.name:
        return False
    if file.name.startswith(whole) and _ADDED.fullmatch(file.name[len(whole) :]):
        return True
    stem, ending = log.stem, log.suffix
    inner = file.name.removeprefix(stem).removesuffix(ending)
    return len(inner) + len(stem + ending) == len(file.name) and bool(_ADDED.fullmatch(inner))


@dataclass(frozen=True)
class Rotation:
    """What became of files that were read. known: by name. kept: inode and time of change of
    each when it was last looked into. seen: those that need not be looked into. listed: the names
    that the source has now.
    """

    known: Mapping[str, End]
    inodes: Mapping[str, tuple[int, int]]
    seen: Mapping[str, Stat]
    source: Files
    listed: frozenset[str]

    @cached_property
    def moved(self) -> dict[str, str]:
        """New names by those before.

        RunError where a file was rotated more than once, and what came between is not read.
        """
        for name, path in self._found.items():
            self._check_next(name, path, {*self._beside(name)} - {*self._found.values()})
        return {n: self.source.name(path) for n, path in self._found.items()} | self._renamed

    @cached_property
    def missing(self) -> frozenset[str]:
        """Names whose files are no more, as those that a rotation deletes, and others have."""
        turned = {*self.moved.values()} | (self._changed - self.listed)
        return frozenset((turned & self._changed) - self.moved.keys())

    @cached_property
    def _there(self) -> dict[str, Stat | None]:
        known = (name for name, end in self.known.items() if end.hi != UNKNOWN)
        return {name: stat_of(self.source.path(name)) for name in known}

    @cached_property
    def _changed(self) -> frozenset[str]:
        """Those whose names other bytes have now, or another file, they themselves beside it."""
        there = ((name, stat) for name, stat in self._there.items() if stat is not None)
        return frozenset(
            name
            for name, stat in there
            if self.seen.get(name) != stat and not self._same(name, stat)
        )

    def _same(self, name: str, stat: Stat) -> bool:
        path, inode = self.source.path(name), self._inode(name)
        itself = None if inode in (0, stat[1]) else self._inodes(path).get(inode)
        if itself is not None and is_rotated(itself, path):
            return False
        return is_same(path, self.known[name], stat[0])

    def _inodes(self, path: str) -> dict[int, str]:
        """The files of a file's folder, which is looked through once."""
        folder = os.path.dirname(path)  # noqa: PTH120 - of each file there is
        if folder not in self._folders:
            with os.scandir(folder) as found:
                self._folders[folder] = {each.inode(): each.path for each in found}
        return self._folders[folder]

    @cached_property
    def _folders(self) -> dict[str, dict[int, str]]:
        return {}

    @property
    def _renamed(self) -> dict[str, str]:
        """Files that were renamed, and whose old names do not exist."""
        inodes = {self._inode(n): n for n, stat in self._there.items() if stat is None}
        new = {n: stat_of(self.source.path(n)) for n in self.listed - self.known.keys() if inodes}
        pairs = ((inodes.get(stat[1]), name, stat) for name, stat in new.items() if stat)
        return {old: name for old, name, stat in pairs if old and self._is_it(old, name, stat)}

    def _is_it(self, old: str, name: str, stat: Stat) -> bool:
        """A new file with the inode and the bytes of a deleted one has another time of change."""
        end, path = self.known[old], self.source.path(name)
        untouched = stat[0] > end.hi or self.inodes[old] == stat[1:]
        return untouched and is_rotated(path, self.source.path(old)) and is_same(path, end, stat[0])

    @cached_property
    def _found(self) -> dict[str, str]:
        """Where those that changed are now, each in another file."""
        found: dict[str, str] = {}
        for name in sorted(self._changed):
            free = (each for each in self._beside(name) if each not in found.values())
            path = next((each for each in free if self._has(each, name)), None)
            found |= {} if path is None else {name: path}
        return found

    def _has(self, path: str, name: str) -> bool:
        """Whether a file begins with what was read of another; if nothing was, is the same."""
        end, stat = self.known[name], stat_of(path)
        if stat is None or not (end.hi and end.print):
            return stat is not None and self._inode(name) == stat[1]
        return is_same(path, end, stat[0])

    def _inode(self, name: str) -> int:
        return self.inodes.get(name, (0, 0))[0]

    def _beside(self, name: str) -> list[str]:
        """Its rotations that were not read: first the file itself, then the newest first."""
        taken = self.known.keys() - self._changed
        found = _rotations(self.source.path(name))
        others = [file for file in found if self.source.name(file) not in taken]
        return sorted(others, key=lambda file: _inode_of(file) != self._inode(name))

    def _check_next(self, name: str, found: str, others: set[str]) -> None:
        unread = (file for file in others if self.source.name(file) not in self.listed)
        later = [file for file in unread if _changed_at(file) > _changed_at(found)]
        if later:
            path = self.source.path(name)
            raise RunError(
                f"{path} was rotated more than once: what was taken of it is in {found}, and "
                f"{min(later)} was not read; put it in the path of a stream in a new checkpoint, "
                f"as {path}* does"
            )


def _rotations(path: str) -> list[str]:
    """The files that a rotation may have called so, the newest first."""
    beside = (str(file) for file in Path(path).parent.iterdir())
    return sorted((f for f in beside if is_rotated(f, path)), key=_changed_at, reverse=True)


def _changed_at(path: str) -> int:
    return (stat_of(path) or (0, 0, 0))[2]


def _inode_of(path: str) -> int:
    return (stat_of(path) or (0, 0, 0))[1]
