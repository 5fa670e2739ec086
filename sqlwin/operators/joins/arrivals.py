"""What a batch does to a side of a join."""

from __future__ import annotations

import polars as pl

from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Arrivals:
    """What a batch does to a side: rows it adds, rows it retracts. A row replaced is in both.

    moved: rows of which the number alone is another, as they were; as they are, they are among
    the new ones.
    """

    new: pl.DataFrame
    removed: pl.DataFrame
    moved: pl.DataFrame | None = None

    def __bool__(self) -> bool:
        return not (self.new.is_empty() and self.removed.is_empty())

    @property
    def were(self) -> pl.DataFrame:
        """Rows that are no longer there as they were."""
        return self.removed if self.moved is None else pl.concat([self.removed, self.moved])
