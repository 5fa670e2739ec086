"""What a batch records for the next one: its watermarks and its deadline.

Written after the batch's results, before Spark commits it; read when the next
batch is planned, and from there on part of that batch's offset, so a replay sees
the same. It is named by the batch's number, so a stale one is never read.

>>> import tempfile
>>> folder = Folder(tempfile.mkdtemp())
>>> leave(folder, 7, After({0: 5_000_000}, deadline=None))
>>> after(folder, 7).watermarks, after(folder, 0).watermarks
({0: 5000000}, {})
"""

from __future__ import annotations

import json
from dataclasses import field
from pathlib import Path

from sqlwin.errors import StateError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.imports import batches_before
from sqlwin.state.blobs.sqlite_file import TO_DO


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
        raise folder.missing(_name(batch))
    watermarks = {int(query): instant for query, instant in found["watermarks"].items()}
    return After(watermarks, found["deadline"])


def committed(folder: Folder) -> After:
    """What the last batch left that Spark has committed."""
    return after(folder, last_committed(folder))


def last_committed(folder: Folder) -> int:
    """The number of the last batch that Spark has committed, 0 before."""
    return _last(folder, "commits")


def last_begun(folder: Folder) -> int:
    """Of the last one whose offset Spark has logged."""
    return _last(folder, "offsets")


def _last(folder: Folder, log: str) -> int:
    numbers = _numbers(_spark(folder) / log)
    return max(numbers) + 1 + batches_before(folder) if numbers else 0


def check_log(folder: Folder) -> None:
    """StateError where batches have left something, and Spark's log knows none of them: Spark
    would begin with the first row again."""
    left = max(_numbers(Path(folder.path) / "progress"), default=0)
    logged = last_begun(folder)
    if left > logged:
        raise StateError(
            f"{_spark(folder) / 'offsets'} is damaged: batch {left - 1} is gone from it; {TO_DO}"
        )


def _spark(folder: Folder) -> Path:
    return Path(folder.path).parent / "spark"


def _numbers(path: Path) -> list[int]:
    return [int(file.stem) for file in path.glob("[0-9]*") if file.stem.isdigit()]


def _name(batch: int) -> str:
    return f"progress/{batch}.json"
