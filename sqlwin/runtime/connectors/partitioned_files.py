"""Files of results in a folder for each value of some columns: `day=2024-01-01/part-00000007.csv`.

A batch is a file in each folder that it has rows of. Each appears whole, one after another, so a
reader may see some of a batch before the rest. A batch that is written again is to have the same
files and no others: those of its number in other folders go first, so that no crash leaves one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import iso_columns
from sqlwin.runtime.connectors.sinks import Files
from sqlwin.runtime.files.atomic_files import removed, synced
from sqlwin.runtime.files.partitions import folder_of

if TYPE_CHECKING:
    import polars as pl


@dataclass
class PartitionedFiles(Files):
    """names: of the columns, in the order of the folders. last: the number of the last batch."""

    names: tuple[str, ...] = ()
    last: int = 0

    def _write(self, batch: int, rows: pl.DataFrame, target: Path) -> None:
        parts = dict(self._parts(rows))
        if not self.begun or batch <= self.last:
            for folder in self._folders():
                self._clear(batch, folder)
                synced(folder)
                if folder not in parts:
                    removed(folder / target.name)
        self.begun, self.last = True, batch
        for folder, part in parts.items():
            self._put(part, folder / target.name)

    def _folders(self) -> Iterator[Path]:
        """Those that are there, and may have parts."""
        found = self.folder.glob("/".join(["*=*"] * len(self.names)))
        yield from (each for each in found if each.is_dir())

    def _parts(self, rows: pl.DataFrame) -> Iterator[tuple[Path, pl.DataFrame]]:
        """Rows by their folders, without the columns that say which."""
        from sqlwin.runtime.rows.render import cell

        own = {name.lower(): name for name in rows.columns}
        missing = [name for name in self.names if name.lower() not in own]
        if missing:
            has = ", ".join(rows.columns)
            raise RunError(f"cannot write {self.folder}: there is no {missing[0]} among {has}")
        names = [own[name.lower()] for name in self.names]
        for part in rows.partition_by(names, maintain_order=True):
            values = iso_columns(part.select(names).head(1)).row(0)
            texts = (None if value is None else cell(value) for value in values)
            folder = folder_of(zip(names, texts, strict=True))
            yield self.folder / folder, part.drop(names)
