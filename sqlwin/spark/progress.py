"""What a batch left behind for the next one: its watermarks and its deadline.

Written after the batch's results, before Spark commits it; read when the next
batch is planned, and from there on part of that batch's offset, so a replay sees
the same. It is kept by the batch's number, so a stale one is never taken.

>>> import tempfile
>>> folder = Folder(tempfile.mkdtemp())
>>> leave(folder, 7, After({0: 5_000_000}, deadline=None))
>>> after(folder, 7).watermarks, after(folder, 0).watermarks
({0: 5000000}, {})
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from sqlwin.spark.folder import Folder


def number_of(query: int, at: int) -> int:
    """The number of an input; that of a query's first input is the number of the query.

    >>> number_of(3, 0), number_of(3, 1)
    (3, 65539)
    """
    return query + (at << 16)


@dataclass(frozen=True)
class After:
    """watermarks: by number of the input. deadline: the first tick any bucket waits for."""

    watermarks: dict[int, int] = field(default_factory=dict)
    deadline: int | None = None


def leave(folder: Folder, batch: int, state: After) -> None:
    text = json.dumps({"watermarks": state.watermarks, "deadline": state.deadline})
    folder.write(_name(batch), text)
    folder.remove(_name(batch - 2))


def after(folder: Folder, batch: int) -> After:
    """What batch `batch` left; nothing before the first one. StateError where that is gone."""
    if not batch:
        return After()
    found = folder.json(_name(batch))
    if found is None:
        raise folder.gone(_name(batch))
    watermarks = {int(query): instant for query, instant in found["watermarks"].items()}
    return After(watermarks, found["deadline"])


def _name(batch: int) -> str:
    return f"progress/{batch}.json"
