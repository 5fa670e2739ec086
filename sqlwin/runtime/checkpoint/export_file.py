"""An exported checkpoint: one file, which either host makes, and continues from.

It is a SQLite file of state as others, with a checksum for each blob, so damage is detected as
there. It has one blob `export`, JSON:

| field            | what                                                              |
|------------------|-------------------------------------------------------------------|
| `version`        | 1                                                                 |
| `text`           | the script's, as `query` of a checkpoint has it                   |
| `now`            | time of the last batch that recorded it, in microseconds, or 0    |
| `ends`, `unread` | how often input has ended; whether anything was read since        |
| `queries`        | of each: `plan`, its fingerprint; `batch`, the number of its last |
|                  | one; `streams`, by name how far its files were read, as in        |
|                  | `progress`; `since`, see `Policy`                                 |
| `buckets`        | of each stage, how many there are                                 |

and, behind `{stage}/{bucket}/`, the header of each bucket of each stage with the blobs it names.
Stages are numbered as on Spark: first the last stage of each query, then those below.

>>> import tempfile
>>> file = Path(tempfile.mkdtemp()) / "orders.export"
>>> with exporting(file) as blobs:
...     about = Exported("{}", [ExportedQuery("plan", 7, {})], [1])
...     write(blobs, about, [[DictBlobs({"header": b"{}"})]])
>>> with opened(file) as (found, blobs):
...     found.batch, bucket(blobs, 0, 0).names()
(7, ['header'])
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from sqlwin.errors import InputError, StateError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.checkpoint.versions import check_version, parsed
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.state.blobs.blobs import DictBlobs, PrefixedBlobs, SqliteBlobs
from sqlwin.state.blobs.sqlite_file import check_kind
from sqlwin.state.contract import Blobs

EXPORT = "export"
VERSION = 1


@dataclass(frozen=True)
class ExportedQuery:
    """plan: its fingerprint. batch: the last one's number. streams: by name, how far each was
    read. since: see `Policy`."""

    plan: str
    batch: int
    streams: dict[str, dict[str, Any]]
    since: int | None = None

    def progress(self) -> dict[str, FileProgress]:
        return {name: FileProgress.load(found) for name, found in self.streams.items()}


@dataclass(frozen=True)
class Exported:
    """text: the source text as it is stored. buckets: of each stage. The rest as in the table
    above."""

    text: str
    queries: Sequence[ExportedQuery]
    buckets: Sequence[int]
    now: int = 0
    ends: int = 0
    unread: bool = True
    version: int = field(default=VERSION)

    @property
    def batch(self) -> int:
        """The number of the last batch of all queries."""
        return max(each.batch for each in self.queries)


def write(blobs: SqliteBlobs, about: Exported, stages: Sequence[Sequence[DictBlobs]]) -> None:
    """All in one transaction. stages: of each stage its buckets."""
    with blobs.transaction():
        for stage, buckets in enumerate(stages):
            for number, each in enumerate(buckets):
                for name in each.names():
                    blobs.put(f"{stage}/{number}/{name}", each.get(name))
        blobs.put(EXPORT, json.dumps(asdict(about)).encode())


def bucket(blobs: Blobs, stage: int, number: int) -> PrefixedBlobs:
    """The blobs of a bucket of a stage."""
    return PrefixedBlobs(blobs, f"{stage}/{number}/")


@contextmanager
def exporting(file: Path) -> Iterator[SqliteBlobs]:
    """A new file, which appears when it is whole. InputError where there is one."""
    if file.exists():
        raise InputError(f"{file} is there already; an export makes a new file")
    if not file.absolute().parent.is_dir():
        raise InputError(f"cannot export to {file}: there is no folder {file.absolute().parent}")
    unfinished = file.with_name(f".{file.name}.unfinished")
    _remove(unfinished)
    blobs = SqliteBlobs(unfinished)
    try:
        yield blobs
        blobs.settle()
        blobs.close()
        unfinished.replace(file)
    finally:
        blobs.close()
        _remove(unfinished)


def _remove(file: Path) -> None:
    for ending in ("", "-wal", "-shm", "-commits"):
        file.with_name(file.name + ending).unlink(missing_ok=True)


@contextmanager
def opened(file: Path) -> Iterator[tuple[Exported, SqliteBlobs]]:
    """InputError where there is no export, StateError for one that is damaged or newer."""
    if not file.is_file():
        raise InputError(f"there is no file {file}; --import takes one that --export made")
    check_kind(file, "import")
    blobs = SqliteBlobs(file)
    try:
        if EXPORT not in blobs.names():
            raise InputError(f"{file} is no export; --import takes a file that --export made")
        yield load(blobs.get(EXPORT)), blobs
    finally:
        blobs.close()
        for ending in ("-wal", "-shm", "-commits"):
            file.with_name(file.name + ending).unlink(missing_ok=True)


def load(data: bytes) -> Exported:
    """StateError for a version that is not known."""
    found = parsed(EXPORT, data)
    check_version("the export", found.get("version"), VERSION)
    try:
        queries = [ExportedQuery(**each) for each in found.pop("queries")]
        return Exported(queries=queries, **found)
    except (TypeError, KeyError) as wrong:
        raise StateError(f"{EXPORT} is damaged: {wrong}") from wrong
