"""Sources that make their rows, as files have them: pieces that are known from the start.

Invariant: a piece keeps its name and its rows, so a run that goes on reads the rest of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from sqlwin.runtime.files.file_progress import FileProgress, enough


class Generated(ABC):
    """What a source has in common with others that make their rows: splits that are known from the
    start and keep their names, each a piece."""

    @abstractmethod
    def splits(self, base: Path) -> list[str]: ...

    @abstractmethod
    def weight(self, split: str) -> int: ...

    def name(self, kept: str, base: Path) -> str:
        return kept

    def split(self, name: str, base: Path) -> str:
        return name

    def find(
        self, progress: FileProgress, base: Path, size: int | None = None, ends: bool = False
    ) -> bool:
        return progress.add(self.splits(base), self.weight)

    def batch_end(self, progress: FileProgress, start: int, size: int) -> int:
        return enough(progress, start, size)

    def left(self, progress: FileProgress, base: Path) -> dict[str, int]:
        return {}
