"""How far files were read, and fingerprints that notice a file that has changed since.

>>> import tempfile
>>> file = Path(tempfile.mkdtemp()) / "a"
>>> _ = file.write_text("1\\n2\\n")
>>> end = End(2, fingerprint(str(file), 2))
>>> is_same(str(file), end, 4)
True
>>> _ = file.write_text("3\\n4\\n")
>>> is_same(str(file), end, 4)
False
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.files.pieces import fingerprint

UNKNOWN = -1
"""How far a file was read, in a checkpoint that does not say."""

Stat = tuple[int, int, int]
"""Size, inode, time of change."""


@dataclass(frozen=True)
class Files:
    """Files of one format. names: of those there are now, in order. path: where one of them is.
    name: what a path is called.
    """

    format: str
    names: Callable[[], Iterable[str]]
    path: Callable[[str], str]
    delimiter: str = ","
    name: Callable[[str], str] = str


@dataclass(frozen=True)
class End:
    """How far a file was read, and the print of the bytes before."""

    hi: int
    print: str


def is_same(path: str, known: End, there: int) -> bool:
    """Whether a file of `there` bytes still begins with what was read of it, as far as is known."""
    return there >= known.hi and (not known.print or fingerprint(path, known.hi) == known.print)


def stat_of(path: str) -> Stat | None:
    """None: it does not exist."""
    try:
        found = Path(path).stat()
    except FileNotFoundError:
        return None
    return found.st_size, found.st_ino, found.st_mtime_ns
