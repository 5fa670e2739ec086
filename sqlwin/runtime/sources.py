"""What a script reads from: its streams' sources, checked before anything starts.

A source lists its splits, in an order that never changes, and reads one of them. A
split of `files` is a file; one of `nexmark` is a stretch of its events. A split goes by its
name, which a checkpoint keeps; see `names`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sqlwin.errors import QueryError, RunError
from sqlwin.plan.facts import sources_of
from sqlwin.plan.nodes import Script, Stream
from sqlwin.runtime import files
from sqlwin.runtime.files import FORMATS, Decoded
from sqlwin.runtime.names import Names
from sqlwin.runtime.nexmark import source as nexmark
from sqlwin.runtime.nexmark.source import Nexmark
from sqlwin.runtime.options import RunOptions, only_known
from sqlwin.runtime.rejects import no_rejects

OPTIONS = ("connector", "path", "format", "header", "delimiter")


class Source(Protocol):
    """Of one stream."""

    def splits(self, base: Path) -> list[str]:
        """Names of those there are now; those that were there before are there still."""

    def name(self, kept: str, base: Path) -> str:
        """The name of a split that a checkpoint has, maybe an older one."""

    def split(self, name: str, base: Path) -> str:
        """The split of a name, to be read."""

    def weight(self, split: str) -> int:
        """About how many bytes it has."""

    def read(self, split: str, number: int, watermark: int | None = None) -> Decoded:
        """The `number`-th split. watermark: what the stream's errors are told with."""


@dataclass(frozen=True)
class FileSource:
    stream: Stream
    path: str

    @property
    def format(self) -> str:
        return dict(self.stream.options).get("format", "json")

    def splits(self, base: Path) -> list[str]:
        return Names(self.path, base).all(files.listing(self.path, base))

    def name(self, kept: str, base: Path) -> str:
        return Names(self.path, base).of(kept)

    def split(self, name: str, base: Path) -> str:
        return Names(self.path, base).path(name)

    def weight(self, split: str) -> int:
        return Path(split).stat().st_size

    def read(self, split: str, number: int, watermark: int | None = None) -> Decoded:
        return files.read(split, number, self.stream, watermark)


@dataclass(frozen=True)
class NexmarkSource:
    """Its rows' positions are those of the events, so the number of a split says nothing."""

    stream: Stream
    nexmark: Nexmark

    def splits(self, base: Path) -> list[str]:
        return self.nexmark.splits

    def name(self, kept: str, base: Path) -> str:
        return kept

    def split(self, name: str, base: Path) -> str:
        return name

    def weight(self, split: str) -> int:
        return self.nexmark.weight(split)

    def read(self, split: str, number: int, watermark: int | None = None) -> Decoded:
        columns = [column.name for column in self.stream.columns]
        return Decoded(self.nexmark.read(split, columns), no_rejects())


def check_sources(script: Script, options: RunOptions) -> None:
    """QueryError for a stream that cannot be read; RunError where there is no file at all.

    A run that follows waits for its files; a checkpoint may have read its own already.
    """
    waits = options.follow or options.checkpoint is not None
    for query in script.queries:
        for stream in sources_of(query.plan):
            source = source_of(stream)
            if isinstance(source, FileSource) and not waits and not source.splits(options.base):
                shown = _shown(source.path, options.base)
                raise RunError(f"no file matches {shown} of {stream.name}")


def has_source(stream: Stream) -> bool:
    """Whether its options name one; rows of any other come from whoever embeds the query."""
    options = dict(stream.options)
    return "connector" in options or "path" in options


def source_of(stream: Stream) -> Source:
    """QueryError where the stream has none, or an option that says nothing."""
    options = dict(stream.options)
    connector = options.get("connector", "files" if "path" in options else "none")
    if connector not in ("files", "nexmark"):
        raise QueryError(
            f"stream {stream.name} has no source to run from (connector {connector!r})",
            legal="WITH (connector = 'files', path = '…', format = 'json')",
        )
    own = [name for name in options if not name.startswith("state.")]  # checked when bound
    if connector == "nexmark":
        only_known(f"stream {stream.name}", own, nexmark.OPTIONS)
        return NexmarkSource(stream, nexmark.declared(stream))
    only_known(f"stream {stream.name}", own, OPTIONS)
    return FileSource(stream, _path(stream, options))


def _path(stream: Stream, options: dict[str, str]) -> str:
    if options.get("format", "json") not in FORMATS:
        raise QueryError(
            f"stream {stream.name} has an unknown format {options['format']!r}",
            legal=", ".join(FORMATS),
        )
    if len(options.get("delimiter", ",")) != 1:
        raise QueryError(
            f"stream {stream.name} has a delimiter of more than one character, or of none",
            legal="delimiter = ';'",
        )
    if not options.get("path"):
        raise QueryError(f"stream {stream.name} needs an option 'path'", legal="path = '…'")
    return options["path"]


def _shown(path: str, base: Path) -> str:
    return path if Path(path).is_absolute() else str(base / path)
