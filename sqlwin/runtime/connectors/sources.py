"""What a script reads from: its streams' sources, checked before anything starts.

A source lists its splits, in an order that never changes, and reads pieces of them. A split
of `files` is a file; one of `nexmark` is a range of its events, and one piece; one of `kafka` is
a partition, whose pieces are between two offsets. A split is identified by its name, which the
checkpoint stores; see `names`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.options.checks import check_whole
from sqlwin.plan.options.connectors import STATIC, STREAMS, connector_of
from sqlwin.plan.options.option import boolean, duration
from sqlwin.plan.options.tuning import RELOAD
from sqlwin.runtime.files.ends import Files
from sqlwin.runtime.files.file_progress import FileProgress, check_piece, enough
from sqlwin.runtime.files.generated import Generated
from sqlwin.runtime.files.globbing import listing
from sqlwin.runtime.files.names import Names
from sqlwin.runtime.files.pieces import Piece, copied
from sqlwin.system.secrets import opened

if TYPE_CHECKING:  # the connectors that a script has not, and readers, are not imported
    from sqlwin.runtime.files.source import Decoded
    from sqlwin.runtime.nexmark.source import Nexmark

_PATTERN = re.compile(r"[*?\[\]{}\\\ud800-\udfff]|:/")
"""Of names that a reader of files would take for a pattern or a URL, or cannot take: bytes that
are no text. Such a file is read by another name."""

UNENDED = "has no line end: it is read when it has one, or by a run with --drain"


class Source(Protocol):
    """Of one stream."""

    def splits(self, base: Path) -> list[str]:
        """Names of those there are now; see `names`."""

    def name(self, kept: str, base: Path) -> str:
        """The name of a split that a checkpoint has, maybe an older one."""

    def split(self, name: str, base: Path) -> str:
        """The split of a name, to be read."""

    def weight(self, split: str) -> int:
        """About how many bytes it has."""

    def find(
        self, progress: FileProgress, base: Path, size: int | None = None, ends: bool = False
    ) -> bool:
        """Add what is new, see `FileProgress.refresh`."""

    def batch_end(self, progress: FileProgress, start: int, size: int) -> int:
        """One more than the number of the last piece of the batch that begins with `start`, at
        least `start` + 1. size: bytes that it may have; 0: no more than it must."""

    def left(self, progress: FileProgress, base: Path) -> dict[str, int]:
        """What is to be said of what is left unread, and from which byte on it is."""

    def read(self, piece: Piece, number: int, watermark: int | None = None) -> Decoded:
        """The `number`-th piece, of a split and not of its name. watermark: of its errors."""


@runtime_checkable
class TopicSource(Source, Protocol):
    """One whose splits are partitions of a topic."""

    def lags(self, progress: FileProgress) -> dict[str, int]:
        """As the function of this name."""


@dataclass(frozen=True)
class FileSource:
    stream: Stream
    path: str

    @property
    def format(self) -> str:
        return dict(self.stream.options).get("format", "json")

    @property
    def header(self) -> bool:
        return self.format == "csv" and boolean(dict(self.stream.options).get("header", "true"))

    @property
    def delimiter(self) -> str:
        return dict(self.stream.options).get("delimiter", ",")

    def splits(self, base: Path) -> list[str]:
        return self._names(base).all(listing(self.path, base))

    def name(self, kept: str, base: Path) -> str:
        return self._names(base).of(kept)

    def split(self, name: str, base: Path) -> str:
        return self._names(base).path(name)

    def _names(self, base: Path) -> Names:
        return Names(self.path, base)

    def weight(self, split: str) -> int:
        return Path(split).stat().st_size

    def find(
        self, progress: FileProgress, base: Path, size: int | None = None, ends: bool = False
    ) -> bool:
        return progress.refresh(self._files(base), size, ends)

    def batch_end(self, progress: FileProgress, start: int, size: int) -> int:
        return enough(progress, start, size)

    def left(self, progress: FileProgress, base: Path) -> dict[str, int]:
        behind = progress.behind(self._files(base))
        return {f"the last line of {path} {UNENDED}": hi for path, hi in behind.items()}

    def _files(self, base: Path) -> Files:
        names = self._names(base)
        splits = partial(self.splits, base)
        return Files(self.format, splits, names.path, self.delimiter, names.of)

    def read(self, piece: Piece, number: int, watermark: int | None = None) -> Decoded:
        """RunError where the file is no longer what it was when the piece was found."""
        from sqlwin.runtime.files.source import read

        before = check_piece(piece)
        if piece.lo == 0 and before[0] == piece.hi and not _PATTERN.search(piece.path):
            came = read(piece.path, number, self.stream, watermark)
            if check_piece(piece) == before:
                return came  # else a line may have come meanwhile that is of the next piece
        with copied(piece, self.header, self.delimiter) as path:
            return read(path, number, self.stream, watermark, shown=piece.path)


@dataclass(frozen=True)
class NexmarkSource(Generated):
    """Its rows' positions are those of the events, so the number of a split says nothing."""

    stream: Stream
    nexmark: Nexmark

    def splits(self, base: Path) -> list[str]:
        return self.nexmark.splits

    def weight(self, split: str) -> int:
        return self.nexmark.weight(split)

    def read(self, piece: Piece, number: int, watermark: int | None = None) -> Decoded:
        from sqlwin.runtime.files.source import Decoded
        from sqlwin.runtime.rows.error_stream import no_rejects

        columns = [column.name for column in self.stream.columns]
        return Decoded(self.nexmark.read(piece.path, columns), no_rejects())


def has_source(stream: Stream) -> bool:
    """Whether its options name one; rows of any other come from whoever embeds the query."""
    if stream.inline:
        return True
    options = dict(stream.options)
    connector = connector_of(options)
    read = connector in ("files", "nexmark", *STATIC)
    return read or (connector == "kafka" and "servers" in options)


def places(source: Source, progress: FileProgress) -> dict[int, str]:
    """The partitions of topics, by `__part`, as the error stream calls them."""
    if not isinstance(source, TopicSource):
        return {}
    from sqlwin.runtime.kafka import partitions

    return partitions.places(progress)


def lags(source: Source, progress: FileProgress) -> dict[str, int]:
    """By partition of a topic, how many offsets are not read yet; the broker is asked."""
    return source.lags(progress) if isinstance(source, TopicSource) else {}


def sizes(source: Source, progress: FileProgress) -> tuple[int, int] | None:
    """Bytes that were read, and that there are; None where a source does not know."""
    if not isinstance(source, FileSource | NexmarkSource):
        return None
    read = sum(end.hi for end in progress.files.values())
    return read, read + sum(piece.hi - piece.lo for piece in progress.pieces)


def source_of(stream: Stream, opens: bool = True) -> Source:
    """QueryError where the stream has none, or an option that says nothing.

    opens: whether it is going to be read, so that secrets and files are looked up.
    """
    if stream.inline:
        from sqlwin.runtime.inline.source import InlineSource

        return InlineSource(stream)
    written = dict(stream.options)
    stream = replace(stream, options=opened(stream.options)) if opens else stream
    options = dict(stream.options)
    check_whole(f"stream {stream.name}", options, STREAMS, written)
    if RELOAD in options:
        others = tuple(each for each in stream.options if each[0] != RELOAD)
        from sqlwin.runtime.connectors.reloads import ReloadedTable

        table = source_of(replace(stream, options=others), opens=False)
        return ReloadedTable(stream, table, duration(options[RELOAD]))
    connector = connector_of(options)
    if connector == "files":
        return FileSource(stream, options["path"])
    if connector == "nexmark":
        from sqlwin.runtime.nexmark import source as nexmark

        return NexmarkSource(stream, nexmark.declared(stream))
    if connector in STATIC:
        from sqlwin.runtime.tables.table_source import TableSource

        return TableSource(stream)
    if connector == "kafka" and "servers" in options:
        from sqlwin.runtime.kafka.declared import declared

        return declared(stream)
    raise QueryError(
        f"stream {stream.name} has no source to run from (connector {connector!r})",
        legal="WITH (connector = 'files', path = '…', format = 'json')",
    )
