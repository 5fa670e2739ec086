"""The partitions of rows: each once, and rows with what is known of their partitions.

Without PARTITION BY all rows are one partition. A frame of partitions has one line then, and a
frame of what is known of partitions is one line, too.
"""

from __future__ import annotations

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.matches.progress import before
from sqlwin.schema import POSITION


@dataclass(frozen=True)
class Partitions:
    """by: the columns of PARTITION BY."""

    by: tuple[str, ...]

    def of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Each once; one line without columns where there is but one, none of no rows."""
        if self.by:
            return rows.select(self.by).unique(maintain_order=True)
        return pl.DataFrame({"__all": [True] * min(len(rows), 1)})

    def keys(self, records: pl.DataFrame) -> pl.DataFrame | None:
        """Of what is known of partitions, for scans of stores; None: all."""
        return records.select(self.by) if self.by else None

    def joined(self, rows: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
        """Rows with what is known of their partitions."""
        if self.by:
            on = list(self.by)
            return rows.join(records, on=on, how="left", nulls_equal=True, maintain_order="left")
        return rows.join(records, how="cross", maintain_order="left")

    def between(
        self, rows: pl.DataFrame, records: pl.DataFrame, lo: tuple[str, ...], hi: tuple[str, ...]
    ) -> pl.DataFrame:
        """Those whose position is at `lo` of their partition or later, and before `hi`."""
        places = records.select(*self.by, *dict.fromkeys((*lo, *hi)))
        joined = self.joined(rows, places)
        return joined.filter(~before(POSITION, lo), before(POSITION, hi)).select(rows.columns)
