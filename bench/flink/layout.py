"""The rows of the CSV files as Flink's source takes them: a file for each reader.

The parts are dealt to the readers in turns, so each file is in the order of time and two readers
pass through the same times together. A line is as it was, but for `T` and `Z` in its instant, which
Flink's CSV does not take.

>>> line("7,12,2024-01-01T00:00:01.250Z")
'7,12,2024-01-01 00:00:01.250'
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path


def line(text: str) -> str:
    return text.replace("T", " ").replace("Z", "")


def laid_out(folder: Path, readers: int, parts: int | None = None) -> Path:
    """A folder beside `folder`, made once. parts: how many of its first files, all by default."""
    files = sorted(folder.glob("part-*.csv"))[:parts]
    if not files:
        raise FileNotFoundError(f"no rows in {folder}")
    laid = folder.with_name(f"{folder.name}-for-flink-{readers}-{len(files)}")
    done = laid.with_name(f"{laid.name}.done")
    if not done.exists():
        shutil.rmtree(laid, ignore_errors=True)
        laid.mkdir(parents=True)
        for reader in range(readers):
            _join(files[reader::readers], laid / f"reader-{reader}.csv")
        done.touch()
    return laid


def _join(files: Sequence[Path], into: Path) -> None:
    with into.open("w", encoding="utf-8") as out:
        for path in files:
            _, _, rows = path.read_text(encoding="utf-8").partition("\n")
            out.write(line(rows))
