"""Rows that a script has itself as a source: one split, of one piece."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.streams import Stream
from sqlwin.runtime.files.generated import Generated
from sqlwin.runtime.files.pieces import Piece

if TYPE_CHECKING:
    from sqlwin.runtime.files.source import Decoded

SPLIT = "rows"
WEIGHT = 1
"""Of all of them: they come with the first batch, whatever its size."""


@dataclass(frozen=True)
class InlineSource(Generated):
    stream: Stream

    def splits(self, base: Path) -> list[str]:
        return [SPLIT]

    def weight(self, split: str) -> int:
        return WEIGHT

    def read(self, piece: Piece, number: int, watermark: int | None = None) -> Decoded:
        from sqlwin.runtime.files.source import Decoded
        from sqlwin.runtime.inline.rows import placed
        from sqlwin.runtime.rows.error_stream import no_rejects

        return Decoded(placed(self.stream), no_rejects())
