"""What a query of a script reads next: pieces of its streams, decoded and prepared.

Of a stream the next piece, of a static table all of its files, once, or another version. What there
is to read is looked for when all that was found before is read; a run that does not follow looks
once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import reduce
from typing import TYPE_CHECKING

import polars as pl

from sqlwin.embedded.piece_size import piece_size
from sqlwin.embedded.run_progress import RunProgress
from sqlwin.embedded.shared_reads import SharedReads
from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Node
from sqlwin.plan.options.settings import RunSettings
from sqlwin.plan.properties.facts import names_folders
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.sources import FileSource, Source, lags, places, sizes
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.runtime.files.pieces import Piece
from sqlwin.runtime.lowering.chain import Chain
from sqlwin.runtime.lowering.input_pipelines import PreparedBatch, in_sequence, prepare_batch

if TYPE_CHECKING:
    from sqlwin.runtime.files.folder_filter import FolderFilters
    from sqlwin.runtime.files.source import Decoded


@dataclass(frozen=True)
class PiecesRead:
    """Pieces of one stream. end: one more than the number of the last. rows: in them, also bad
    ones. decoded: the others, of each piece."""

    batch: PreparedBatch
    malformed: pl.DataFrame
    end: int
    rows: int
    decoded: tuple[pl.DataFrame, ...]

    def then(self, more: PiecesRead) -> PiecesRead:
        """Both, in this order."""
        return PiecesRead(
            in_sequence(self.batch, more.batch),
            pl.concat([self.malformed, more.malformed]),
            more.end,
            self.rows + more.rows,
            self.decoded + more.decoded,
        )


@dataclass(frozen=True)
class InputReader:
    """sources: by stream, and `reloaded` those of tables that are read again. watermark: of a
    stream, as it is now. shared: with other queries of the script. folders: that are read; None:
    all."""

    chain: Chain
    progress: RunProgress
    sources: Mapping[str, Source]
    reloaded: frozenset[str]
    options: RunOptions
    settings: RunSettings
    watermark: Callable[[str], int]
    shared: SharedReads
    folders: FolderFilters | None
    listed: set[str] = field(default_factory=set)

    def read(self, at: int) -> dict[str, PiecesRead]:
        """Of each stream that has something. at: the time of the batch."""
        found = {name: self._next(name, at) for name in self.chain.streams}
        return {name: each for name, each in found.items() if each is not None}

    def left(self) -> dict[str, int]:
        """Last lines without a line end, see `Source.left`."""
        base, found = self.options.base, dict[str, int]()
        for name in self.chain.streams.keys() - self.chain.tables:
            found |= self.sources[name].left(self.progress.streams[name], base)
        return found

    def places(self) -> dict[str, dict[int, str]]:
        """What each piece is called in the error stream."""
        return {
            name: places(self.sources[name], files) for name, files in self.progress.streams.items()
        }

    def unread(self) -> dict[str, int]:
        return {name: len(files.left()) for name, files in self.progress.streams.items()}

    def lags(self) -> dict[str, dict[str, int]]:
        """Of each topic that lags."""
        found = {
            name: lags(each, self.progress.streams[name]) for name, each in self.sources.items()
        }
        return {name: lag for name, lag in found.items() if lag}

    def sizes(self) -> dict[str, tuple[int, int]]:
        """Bytes of each stream of files: those that were read, and those that there are."""
        found = {
            name: sizes(each, self.progress.streams[name]) for name, each in self.sources.items()
        }
        return {name: size for name, size in found.items() if size is not None}

    def _next(self, name: str, at: int) -> PiecesRead | None:
        static, files = name in self.chain.tables, self.progress.streams[name]
        if static and self.progress.batch and name not in self.reloaded:
            return None
        self._find(name, files, static)
        left = files.left()
        first, source = files.first, self.sources[name]
        numbers = left if static or not left else range(first, source.batch_end(files, first, 0))
        if name in self.reloaded:
            numbers = left[-1:]
        parts = [self._read(name, number, files.piece(number), at) for number in numbers]
        if static and not parts and not files.end:
            options = dict(self.chain.streams[name].options)
            where = f"file matches {options['path']}" if "path" in options else "row is there"
            raise RunError(f"no {where} of the static table {name}")
        return reduce(PiecesRead.then, parts) if parts else None

    def _find(self, name: str, files: FileProgress, static: bool) -> None:
        """What is there now, once nothing is left of what was found before."""
        bounded = self.chain.streams[name].bounded  # tables that are reloaded are not
        if files.left() or (name in self.listed and (bounded or not self.options.follow)):
            return
        self.listed.add(name)
        size = None if static else self._piece_size(self.sources[name])
        self.sources[name].find(
            files, self.options.base, size, static or bounded or self.options.ends
        )

    def _piece_size(self, source: Source) -> int | None:
        if not isinstance(source, FileSource):
            return None
        base = self.options.base
        watched = self.options.watched and self.settings.batch_bytes is None
        splits = source.splits(base) if watched else ()
        total = sum(source.weight(source.split(each, base)) for each in splits)
        return piece_size(self.settings.batch_bytes, total, self.options.watched)

    def _read(self, name: str, number: int, piece: Piece, at: int) -> PiecesRead:
        watermark, source = self.watermark(name), self.sources[name]
        located = replace(piece, path=source.split(piece.path, self.options.base))
        decoded = self._decoded(name, located, number, watermark)
        for warning in decoded.warnings:
            self.options.on_warning(warning)
        batch = prepare_batch(self.chain.pipelines, name, decoded.rows, watermark, now=at)
        rows = len(decoded.rows) + len(decoded.errors)
        return PiecesRead(batch, decoded.errors, number + 1, rows, (decoded.rows,))

    def _paths(self, name: str) -> Iterator[str]:
        """Of what is there to be read."""
        files, source = self.progress.streams[name], self.sources[name]
        for number in files.left():
            yield source.split(files.piece(number).path, self.options.base)

    def _decoded(self, name: str, piece: Piece, number: int, watermark: int) -> Decoded:
        """Without rows where the piece is of a folder that is not read."""
        stream, source = self.chain.streams[name], self.sources[name]
        folders = self.folders
        if folders is not None and not folders.reads(stream, piece.path, self._paths(name)):
            from sqlwin.runtime.files.source import nothing

            return nothing(stream)
        found: Decoded = self.shared.read(
            stream, (piece, number), watermark, lambda: source.read(piece, number, watermark)
        )
        return found


def folders_of(plan: Node) -> FolderFilters | None:
    """What of partitioned sources a query reads; None where WHERE says nothing of it."""
    if not names_folders(plan):
        return None
    from sqlwin.runtime.files.folder_filter import FolderFilters  # by need

    return FolderFilters.of(plan)
