"""Which files a query in process has read, and its next batch: kept beside its state.

The first stream of FROM has its files where they were before a query could read two.

>>> place = Place("plan", {"orders": Files(["a", "b"], 1), "shipments": Files(["c"], 0)}, 4)
>>> Place.load(place.dump(), ["orders", "shipments"]) == place
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace

from sqlwin.runtime.kept import VERSION, check_version, parsed

PROGRESS = "progress"


@dataclass(frozen=True)
class Files:
    """files: names of those of one stream, in the order they were found; done: how many
    were read."""

    files: list[str]
    done: int

    def known(self, there: Iterable[str]) -> Files:
        """With those that are `there` now; new ones come after those known."""
        seen = set(self.files)
        return replace(self, files=self.files + [file for file in there if file not in seen])


@dataclass(frozen=True)
class Place:
    """plan: whose state it is. streams: in the order of FROM. batch: the last one's number.
    since: up to where windows were retired under another RETAIN, see `Policy`."""

    plan: str
    streams: Mapping[str, Files]
    batch: int
    since: int | None = None

    @staticmethod
    def start(plan: str, streams: Iterable[str]) -> Place:
        return Place(plan, {name: Files([], 0) for name in streams}, 0)

    def then(self, read: Mapping[str, Files]) -> Place:
        """After one more batch, which took the last file of those in `read`."""
        return replace(self, streams={**self.streams, **read}, batch=self.batch + 1)

    def named(self, name: Callable[[str, str], str]) -> Place:
        """With each file, of a stream, under the name it has by now."""
        return replace(
            self,
            streams={
                stream: replace(each, files=[name(stream, file) for file in each.files])
                for stream, each in self.streams.items()
            },
        )

    def dump(self) -> bytes:
        first, *others = self.streams
        told = {"plan": self.plan, **asdict(self.streams[first])}
        told |= {"batch": self.batch, "version": VERSION}
        if self.since is not None:
            told["since"] = self.since
        if others:
            told["others"] = {name: asdict(self.streams[name]) for name in others}
        return json.dumps(told).encode()

    @staticmethod
    def load(data: bytes, streams: Iterable[str]) -> Place:
        """StateError for a version that is not known."""
        found = parsed(PROGRESS, data)
        check_version(PROGRESS, found.get("version", VERSION))
        known = {name: Files(**each) for name, each in found.get("others", {}).items()}
        first, *others = streams
        read = {first: Files(found["files"], found["done"])}
        read |= {name: known.get(name, Files([], 0)) for name in others}
        return Place(found["plan"], read, found["batch"], found.get("since"))
