"""The path of an attempt: which variable each of its rows was mapped to, from the last row back.

Invariant: a path is never changed, so attempts that split after some rows share those rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Mapped(NamedTuple):
    """A row that is mapped to a variable, behind the rows before it. hidden: by an exclusion."""

    before: Any
    name: str
    hidden: bool = False


Path = Mapped | None
"""What rows are mapped to, the last first."""


def mapped(path: Path) -> list[str]:
    """Variables, by rows from the first."""
    made = []
    while path is not None:
        made.append(path.name)
        path = path.before
    return made[::-1]


Takes = Callable[[str], bool]
"""Whether rows of a variable are meant."""


def row_from_last(path: Path, row: int, takes: Takes, offset: int) -> int | None:
    """The row that is `offset` rows that are meant before the last; row: the last of the path."""
    while path is not None:
        if takes(path.name):
            if offset == 0:
                return row
            offset -= 1
        path, row = path.before, row - 1
    return None


def row_from_first(path: Path, row: int, takes: Takes, offset: int) -> int | None:
    names = mapped(path)
    first = row - len(names) + 1
    own = [first + at for at, name in enumerate(names) if takes(name)]
    return own[offset] if offset < len(own) else None
