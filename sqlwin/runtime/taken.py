"""What a run has found of one stream's files, and what of it was read.

Pieces are numbered in the order in which they were found, by the names of files, and those found
later come after those known: a row's position is (number of the piece, row in the piece), so
the list is kept with the checkpoint. A piece that was read and committed need not be known any
more; of its file it stays known how far it was read, and what it began and ended with.

A file that was read may grow by whole lines, which are a new piece, and may go. Any other
change is a RunError: what was read of it is counted, and is no longer there.

>>> import tempfile
>>> base = Path(tempfile.mkdtemp())
>>> source = Files("json", lambda: sorted(map(str, base.iterdir())), path=str)
>>> _ = (base / "a").write_text('{"n": 1}\\n')
>>> taken = Taken()
>>> taken.refresh(source), [(at, taken.piece(at).hi) for at in taken.left()]
(True, [(0, 9)])
>>> taken.read(1)
>>> with (base / "a").open("a") as file:
...     _ = file.write('{"n": 2}\\n{"n"')
>>> taken.refresh(source), [(at, taken.piece(at).lo, taken.piece(at).hi) for at in taken.left()]
(True, [(1, 9, 18)])
>>> taken.refresh(source)
False
>>> _ = (base / "a").write_text("")
>>> taken.refresh(source)  # doctest: +ELLIPSIS
Traceback (most recent call last):
sqlwin.errors.RunError: .../a has 0 bytes, and 18 of it were taken: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlwin.errors import RunError
from sqlwin.runtime.pieces import Piece, fingerprint, of_lines, pieces, within_a_line

UNKNOWN = -1
"""How far a file was read, in a checkpoint that does not say."""
MEND = "put it back as it was, or begin with a new checkpoint; new rows belong in a new file"


@dataclass(frozen=True)
class Files:
    """Files of one format. names: of those there are now, in order. path: where one of them is."""

    format: str
    names: Callable[[], Iterable[str]]
    path: Callable[[str], str]
    delimiter: str = ","


@dataclass(frozen=True)
class End:
    """How far a file was taken, and the print of the bytes before."""

    hi: int
    print: str


@dataclass
class Taken:
    """first: number of the first of `pieces`; those before it were read. files: of those read.
    Both know files by their names, see `names`.

    seen: size and time of change of files that need not be looked into again.
    """

    first: int = 0
    files: dict[str, End] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    seen: dict[str, tuple[int, int]] = field(default_factory=dict, compare=False, repr=False)

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
        known = self.files | {piece.path: End(piece.hi, piece.print) for piece in self.pieces}
        before = self.end
        for name in source.names():
            path = source.path(name)
            stat = _stat(path)
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
            self.seen[name] = stat
        return self.end > before

    def add(self, names: Iterable[str], weight: Callable[[str], int]) -> bool:
        """As `refresh`, of what is no file."""
        known = {*self.files, *(piece.path for piece in self.pieces)}
        fresh = [name for name in names if name not in known]
        self.pieces += [Piece(name, 0, weight(name), weight(name)) for name in fresh]
        return bool(fresh)

    def behind(self, source: Files) -> list[str]:
        """Paths of files that go on behind what was taken: a last line that is not complete."""
        known = self.files | {piece.path: End(piece.hi, piece.print) for piece in self.pieces}
        found = {source.path(name): end.hi for name, end in known.items() if end.hi != UNKNOWN}
        return [path for path, hi in found.items() if (_stat(path) or (0, 0))[0] > hi]

    def renamed(self, name: Callable[[str], str]) -> Taken:
        """Files under other names, as where a checkpoint of before has paths."""
        files = {name(path): end for path, end in self.files.items()}
        return Taken(self.first, files, [replace(p, path=name(p.path)) for p in self.pieces])

    def dump(self, all: bool = True) -> dict[str, Any]:
        """As JSON has it. all: also the pieces that were not read."""
        told = {"first": self.first, "files": {p: [e.hi, e.print] for p, e in self.files.items()}}
        return {**told, "pieces": [[*astuple(piece)] for piece in self.pieces]} if all else told

    @staticmethod
    def load(found: Mapping[str, Any]) -> Taken:
        files = {path: End(*end) for path, end in found["files"].items()}
        return Taken(found["first"], files, [Piece(*each) for each in found.get("pieces", ())])


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


def check_piece(piece: Piece) -> tuple[int, int]:
    """RunError where a file is no longer what it was when the piece was found; else as `seen`."""
    stat = _stat(piece.path)
    if stat is None:
        raise RunError(f"{piece.path} is gone, and was found but not read: put it back")
    _check_same(piece.path, End(piece.hi, piece.print), stat[0])
    return stat


def _check_same(path: str, known: End, there: int) -> None:
    if there < known.hi:
        raise RunError(f"{path} has {there:,} bytes, and {known.hi:,} of it were taken: {MEND}")
    if known.print and fingerprint(path, known.hi) != known.print:
        raise RunError(f"{path} was replaced or changed after it was taken: {MEND}")


def _stat(path: str) -> tuple[int, int] | None:
    """Size and time of change; None: it is gone."""
    try:
        found = Path(path).stat()
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns
