"""The files of one stream: which pieces were found, and how far each file was read.

Pieces are numbered in the order in which they were found, by the names of files; pieces found
later come after them. A row's position is (number of the piece, row in the piece), so the list
is part of the checkpoint. A piece that was read and committed leaves the list; of its file the
checkpoint keeps how far it was read, and a fingerprint of its beginning and end.

A file that was read may grow by whole lines, which are a new piece, and may be deleted. It may be
rotated, see `rotated`: it continues under its new name, and the old name is that of a new file.
Any other change is a RunError, since results already count rows that are no longer there.

>>> import tempfile
>>> from pathlib import Path
>>> base = Path(tempfile.mkdtemp())
>>> source = Files("json", lambda: sorted(map(str, base.iterdir())), path=str)
>>> _ = (base / "a").write_text('{"n": 1}\\n')
>>> found = FileProgress()
>>> found.refresh(source), [(at, found.piece(at).hi) for at in found.left()]
(True, [(0, 9)])
>>> found.read(1)
>>> with (base / "a").open("a") as file:
...     _ = file.write('{"n": 2}\\n{"n"')
>>> found.refresh(source), [(at, found.piece(at).lo, found.piece(at).hi) for at in found.left()]
(True, [(1, 9, 18)])
>>> found.refresh(source)
False
>>> _ = (base / "a").write_text("")
>>> found.refresh(source)  # doctest: +ELLIPSIS
Traceback (most recent call last):
sqlwin.errors.RunError: .../a has 0 bytes, and 18 of it were taken: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, field, replace
from functools import partial
from typing import Any

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.files.ends import UNKNOWN, End, Files, Stat, is_same, stat_of
from sqlwin.runtime.files.pieces import Piece, fingerprint, of_lines, pieces, within_a_line
from sqlwin.runtime.files.rotated import Rotation

LONGEST = 1 << 20
"""Bytes that a line may wait with."""
MEND = (
    "put it back as it was, or begin with a new checkpoint; new rows belong in a new file, and "
    "what a rotation moves stays beside it, not compressed, until it is read"
)


@dataclass
class FileProgress:
    """first: number of the first of `pieces`; those before it were read. files: of those read.
    Both know files by their names, see `names`.

    seen: what `stat_of` says of files that need not be looked into again. inodes: of each file its
    inode and time of change when it was last looked into, which a new name leaves as they are.
    """

    first: int = 0
    files: dict[str, End] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    seen: dict[str, Stat] = field(default_factory=dict, compare=False, repr=False)
    inodes: dict[str, tuple[int, int]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def end(self) -> int:
        """One more than the number of the last piece."""
        return self.first + len(self.pieces)

    def left(self) -> range:
        return range(self.first, self.end)

    def piece(self, number: int) -> Piece:
        return self.pieces[number - self.first]

    def read(self, end: int) -> None:
        """All pieces before the number `end` were read, and that is committed."""
        for number in range(self.first, end):
            piece = self.piece(number)
            self.files[piece.path] = End(piece.hi, piece.print)
        del self.pieces[: max(0, end - self.first)]
        self.first = max(self.first, end)

    def refresh(self, source: Files, size: int | None = None, ends: bool = False) -> bool:
        """Take up what is new; whether there was anything. size, ends: as of `pieces`."""
        before, listed = self.end, [*source.names()]
        turned = self._rotate(source, listed)
        known, there = self.known, {*listed}
        left = [name for name in known if name not in there]  # a rotation's, or another's by a link
        for name in dict.fromkeys((*left, *turned, *listed)):
            path = source.path(name)
            stat = stat_of(path)
            if stat is None or (self.seen.get(name) == stat and not ends):
                continue
            end = known.get(name)
            if end is not None and end.hi == UNKNOWN:
                self.files[name] = End(stat[0], fingerprint(path, stat[0]))
            else:
                cut = partial(
                    pieces, path, source.format, size, ends=ends, delimiter=source.delimiter
                )
                fresh = _fresh(path, source.format, end, stat[0], cut)
                self.pieces += [replace(piece, path=name) for piece in fresh]
            self.seen[name], self.inodes[name] = stat, stat[1:]
        return self.end > before or bool(turned)

    @property
    def known(self) -> dict[str, End]:
        """How far each file was read."""
        return self.files | {piece.path: End(piece.hi, piece.print) for piece in self.pieces}

    def _rotate(self, source: Files, listed: list[str]) -> list[str]:
        """Files that were rotated go on under their new names, which are returned."""
        rotation = Rotation(self.known, self.inodes, self.seen, source, frozenset(listed))
        moved, missing = rotation.moved, rotation.missing
        self.files = {moved.get(n, n): end for n, end in self.files.items() if n not in missing}
        self.inodes = {
            moved.get(n, n): inodes for n, inodes in self.inodes.items() if n not in missing
        }
        self.pieces = [replace(p, path=moved.get(p.path, p.path)) for p in self.pieces]
        for name in (*moved, *moved.values(), *missing):
            self.seen.pop(name, None)
        return [*moved.values()]

    def add(self, names: Iterable[str], weight: Callable[[str], int]) -> bool:
        """As `refresh`, of what is no file."""
        known = {*self.files, *(piece.path for piece in self.pieces)}
        fresh = [name for name in names if name not in known]
        self.pieces += [Piece(name, 0, weight(name), weight(name)) for name in fresh]
        return bool(fresh)

    def behind(self, source: Files) -> dict[str, int]:
        """Files with a last line that is not complete, by path, and where it begins."""
        known = self.known.items()
        found = {source.path(name): end.hi for name, end in known if end.hi != UNKNOWN}
        return {path: hi for path, hi in found.items() if _waits(path, source, hi)}

    def renamed(self, name: Callable[[str], str]) -> FileProgress:
        """Files under other names, as where a checkpoint of before has paths."""
        files = {name(path): end for path, end in self.files.items()}
        known = [replace(p, path=name(p.path)) for p in self.pieces]
        return FileProgress(
            self.first, files, known, inodes={name(p): at for p, at in self.inodes.items()}
        )

    def dump(self, all: bool = True) -> dict[str, Any]:
        """As JSON has it. all: also the pieces that were not read."""
        names = {*self.files, *(piece.path for piece in self.pieces if all)}
        saved = {
            "first": self.first,
            "files": {path: [end.hi, end.print] for path, end in self.files.items()},
            "kept": {path: [*at] for path, at in self.inodes.items() if path in names},
        }
        return {**saved, "pieces": [[*astuple(piece)] for piece in self.pieces]} if all else saved

    @staticmethod
    def load(found: Mapping[str, Any]) -> FileProgress:
        files = {path: End(*end) for path, end in found["files"].items()}
        inodes = {path: (at[0], at[1]) for path, at in found.get("kept", {}).items()}
        known = [Piece(*each) for each in found.get("pieces", ())]
        return FileProgress(found["first"], files, known, inodes=inodes)


def _fresh(
    path: str, format_: str, known: End | None, there: int, cut: Callable[..., list[Piece]]
) -> list[Piece]:
    """The pieces behind what is known of a file."""
    if known is None:
        return cut()
    _check_same(path, known, there)
    if there == known.hi:
        return []
    if not of_lines(path, format_):
        raise RunError(
            f"{path} grew by {there - known.hi:,} bytes after it was taken, which is for lines "
            f"alone, JSON or CSV that is not compressed: {MEND}"
        )
    if within_a_line(path, known.hi):
        raise RunError(
            f"{path} goes on in the middle of its last line, which was taken as it was at the "
            f"end of a run: {MEND}"
        )
    return cut(lo=known.hi)


def _waits(path: str, source: Files, hi: int) -> bool:
    """Whether there is something behind, and no whole line. Much of it was just not read yet."""
    there = (stat_of(path) or (0,))[0]
    if not hi < there < hi + LONGEST or not of_lines(path, source.format):
        return False
    found = pieces(path, source.format, lo=hi, ends=False, delimiter=source.delimiter)
    return all(piece.hi == hi for piece in found)


def enough(files: FileProgress, start: int, size: int) -> int:
    """Behind how many pieces `size` bytes were added to `start` pieces; at least one more."""
    added = 0
    for at in range(start, files.end):
        piece = files.piece(at)
        if at > start and (not size or added + piece.hi - piece.lo > size):
            return at
        added += piece.hi - piece.lo
    return files.end


def check_piece(piece: Piece) -> Stat:
    """RunError where a file is no longer what it was when the piece was found; else as `seen`."""
    stat = stat_of(piece.path)
    if stat is None:
        raise RunError(f"{piece.path} is gone, and was found but not read: put it back")
    _check_same(piece.path, End(piece.hi, piece.print), stat[0])
    return stat


def _check_same(path: str, known: End, there: int) -> None:
    if is_same(path, known, there):
        return
    if there < known.hi:
        raise RunError(f"{path} has {there:,} bytes, and {known.hi:,} of it were taken: {MEND}")
    raise RunError(f"{path} was replaced or changed after it was taken: {MEND}")
