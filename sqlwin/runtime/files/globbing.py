"""The files that a path of WITH names: a file, a folder with all below it, or a glob.

What exists under a name is meant by it, whatever signs the name has: `a[1].jsonl` is that
file where there is one, and a pattern only where there is none. So it is with each folder on
the way.

>>> import tempfile
>>> base = Path(tempfile.mkdtemp())
>>> for name in ("a[1].jsonl", "a1.jsonl", "a*.jsonl"):
...     (base / name).touch()
>>> [Path(file).name for file in listing("a[1].jsonl", base)]
['a[1].jsonl']
>>> [Path(file).name for file in listing("a?.jsonl", base)]
['a*.jsonl', 'a1.jsonl']
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path


def listing(path: str, base: Path) -> list[str]:
    """Sorted by name. base: of relative paths. Folders and globs leave out names in `.` and `_`."""
    try:
        return _listed(*_parted(path, base))
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return []  # nothing can be there


def _listed(known: Path, pattern: str) -> list[str]:
    if known.is_file() and not pattern:
        return [str(known)]
    found: Iterable[Path] = known.glob(pattern) if pattern else known.rglob("*")
    return sorted(
        str(file) for file in found if file.is_file() and not file.name.startswith((".", "_"))
    )


def is_glob(path: str) -> bool:
    """Whether the path may be a pattern, and so match later what it does not yet."""
    return any(sign in path for sign in "*?[")


def _parted(path: str, base: Path) -> tuple[Path, str]:
    """What is there under its name, and the rest, which is a pattern; "" where nothing is left."""
    given = Path(path)
    known = Path(given.anchor) if given.is_absolute() else base.absolute()
    parts = given.relative_to(given.anchor).parts if given.is_absolute() else given.parts
    for at, part in enumerate(parts):
        if not (known / part).exists():
            return known, str(Path(*parts[at:]))
        known = known / part
    return known, ""
