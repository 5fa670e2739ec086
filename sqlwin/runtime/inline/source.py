"""Rows that a script has itself as a source: one split, of one piece."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlwin.plan.ir.streams import Stream
from sqlwin.runtime.files.file_progress import FileProgress, enough
from sqlwin.runtime.files.pieces import Piece

if TYPE_CHECKING:
    from sqlwin.runtime.files.source import Decoded

SPLIT = "rows"
WEIGHT = 1
"""Of all of them: they come with the first batch, whatever its size."""


@dataclass(frozen=True)
class InlineSource:
    stream: Stream

    def splits(self, base: Path) -> list[str]:
        return [SPLIT]

    def name(self, kept: str, base: Path) -> str:
        return kept

    def split(self, name: str, base: Path) -> str:
        return name

    def weight(self, split: str) -> int:
        return WEIGHT

    def find(
        self, progress: FileProgress, base: Path, size: int | None = None, ends: bool = False
    ) -> bool:
        return progress.add(self.splits(base), self.weight)

    def batch_end(self, progress: FileProgress, start: int, size: int) -> int:
        return enough(progress, start, size)

    def left(self, progress: FileProgress, base: Path) -> dict[str, int]:
        return {}

    def read(self, piece: Piece, number: int, watermark: int | None = None) -> Decoded:
        from sqlwin.runtime.files.source import Decoded
        from sqlwin.runtime.inline.rows import placed
        from sqlwin.runtime.rows.error_stream import no_rejects

        return Decoded(placed(self.stream), no_rejects())
