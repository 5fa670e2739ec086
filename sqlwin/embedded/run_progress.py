"""How far a run has read each stream's files, and its batch number; committed with the state.

Files that were found and not read are found again by the next run, so they are not kept.

>>> files = FileProgress(2, {"a": End(9, "print")})
>>> progress = RunProgress("plan", {"orders": files, "shipments": FileProgress()}, 4)
>>> RunProgress.load(progress.dump(), ["orders", "shipments"]) == progress
True

Version 1 knew the files by name alone: the first stream of FROM had its own where they were
before a query could read two. How far they were read it does not say: as far as they go now.

>>> old = b'{"plan": "p", "files": ["a", "b"], "done": 1, "batch": 1, "version": 1}'
>>> RunProgress.load(old, ["orders"]).streams["orders"]
FileProgress(first=1, files={'a': End(hi=-1, print='')}, pieces=[])
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.checkpoint.versions import check_version, parsed
from sqlwin.runtime.files.ends import UNKNOWN, End
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.state.blobs.blobs import SqliteBlobs

PROGRESS, ENDED = "progress", "ended"
VERSION = 2


@dataclass
class RunProgress:
    """plan: whose state it is. streams: in the order of FROM. batch: the last one's number.
    since: up to where windows were retired under another RETAIN, see `Policy`."""

    plan: str
    streams: dict[str, FileProgress]
    batch: int
    since: int | None = None

    @staticmethod
    def start(plan: str, streams: Iterable[str]) -> RunProgress:
        return RunProgress(plan, {name: FileProgress() for name in streams}, 0)

    def move(self, read: Mapping[str, int]) -> None:
        """After one more batch, which took the pieces before those numbers."""
        for name, end in read.items():
            self.streams[name].read(end)
        self.batch += 1

    def renamed(self, name: Callable[[str, str], str]) -> RunProgress:
        """With each file, of a stream, under another name."""
        streams = {each: files.renamed(partial(name, each)) for each, files in self.streams.items()}
        return RunProgress(self.plan, streams, self.batch, self.since)

    def dump(self) -> bytes:
        streams = {name: files.dump(all=False) for name, files in self.streams.items()}
        fields = {"plan": self.plan, "streams": streams, "batch": self.batch, "version": VERSION}
        if self.since is not None:
            fields["since"] = self.since
        return json.dumps(fields).encode()

    @staticmethod
    def load(data: bytes, streams: Iterable[str]) -> RunProgress:
        """StateError for a version that is not known."""
        found = parsed(PROGRESS, data)
        if found.get("version", 1) == 1:
            read = _of_version_1(found, streams)
        else:
            check_version(PROGRESS, found["version"], VERSION)
            known = found["streams"]
            read = {
                name: FileProgress.load(known[name]) if name in known else FileProgress()
                for name in streams
            }
        return RunProgress(found["plan"], read, found["batch"], found.get("since"))


def note_end(blobs: SqliteBlobs, batch: int) -> None:
    """A run has ended after this batch, which its sinks have, and has begun no other."""
    with blobs.transaction():
        blobs.put(ENDED, json.dumps({"batch": batch}).encode())


def forget_end(blobs: SqliteBlobs | None) -> None:
    """Another run begins."""
    if blobs is not None and ENDED in blobs.names():
        with blobs.transaction():
            blobs.delete(ENDED)


def has_ended(blobs: SqliteBlobs) -> bool:
    """Whether the last run ended by itself, and was not killed in a batch."""
    return ENDED in blobs.names()


def _of_version_1(found: Mapping[str, Any], streams: Iterable[str]) -> dict[str, FileProgress]:
    first, *others = streams
    known = {first: found, **found.get("others", {})}
    nothing: dict[str, Any] = {"files": [], "done": 0}
    fields = {name: known.get(name, nothing) for name in (first, *others)}
    return {
        name: FileProgress(
            each["done"], {file: End(UNKNOWN, "") for file in each["files"][: each["done"]]}
        )
        for name, each in fields.items()
    }
