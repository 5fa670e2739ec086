"""A table of a database as the source of a static table: all its rows, read once.

The rows are read in one transaction, by the names of the declared columns; what does not fit a
column's type is malformed, as of a file. The connection can only read, where its driver knows how.
"""

from __future__ import annotations

from pathlib import Path

from sqlwin.errors import QueryError, RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.options.table_options import table_name
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.runtime.files.pieces import Piece
from sqlwin.runtime.files.source import ROWS_IN_A_FILE, Decoded, decoded
from sqlwin.runtime.rows.conform import frame_of
from sqlwin.runtime.tables.database import Transaction, listed
from sqlwin.runtime.tables.statements import name_of
from sqlwin.runtime.tables.table_sink import DATABASES

WAIT_SECONDS = 5.0
"""For a lock of another process."""


@dataclass(frozen=True)
class TableSource:
    stream: Stream

    @property
    def options(self) -> dict[str, str]:
        return dict(self.stream.options)

    def splits(self, base: Path) -> list[str]:
        """One, whatever the table is called: a table is read once."""
        return ["table"]

    def name(self, kept: str, base: Path) -> str:
        return kept

    def split(self, name: str, base: Path) -> str:
        """The folder that a path is relative to."""
        return str(base)

    def weight(self, split: str) -> int:
        return 1

    def find(
        self, progress: FileProgress, base: Path, size: int | None = None, ends: bool = False
    ) -> bool:
        return progress.add(self.splits(base), self.weight)

    def batch_end(self, progress: FileProgress, start: int, size: int) -> int:
        return progress.end

    def left(self, progress: FileProgress, base: Path) -> dict[str, int]:
        return {}

    def read(self, piece: Piece, number: int, watermark: int | None = None) -> Decoded:
        database = DATABASES[self.options["connector"]](
            self.options, Path(piece.path), WAIT_SECONDS
        )
        failures: tuple[type[Exception], ...] = (*database.failures, OSError)
        try:
            with database.reading() as transaction:
                rows = self._rows(transaction)
        except failures as failure:
            why = " ".join(str(failure).split())
            message = f"cannot read the table {self.options['table']} of {self.stream.name}"
            raise RunError(f"{message}: {why}") from failure
        frame = frame_of(rows, self.stream.columns)
        return decoded(frame, number * ROWS_IN_A_FILE, self.stream, watermark)

    def _rows(self, transaction: Transaction) -> list[dict[str, object]]:
        table, names = table_name(self.options["table"]), [c.name for c in self.stream.columns]
        there = transaction.columns(table)
        if not there:
            raise RunError(f"there is no table {self.options['table']} for {self.stream.name}")
        missing = [name for name in names if name not in there]
        if missing:
            message = f"the table {self.options['table']} of {self.stream.name} has no column"
            raise QueryError(f"{message} {', '.join(missing)}", legal=", ".join(there))
        found = transaction.run(f"SELECT {listed(names)} FROM {name_of(table)}")
        return [dict(zip(names, row, strict=True)) for row in found]
