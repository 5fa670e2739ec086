"""The pieces of a source that are there now, outside of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sqlwin.runtime.connectors.sources import Source
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.runtime.files.pieces import Piece


def every_piece(source: Source, base: Path) -> Iterator[tuple[Piece, int]]:
    """Each with its number, in the order in which a run reads them; base: of relative paths."""
    progress = FileProgress()
    source.find(progress, base, ends=True)
    for number in progress.left():
        piece = progress.piece(number)
        yield replace(piece, path=source.split(piece.path, base)), number
