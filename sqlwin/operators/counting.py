"""What operators over messages share: time passes them by.

Messages are numbered as they come and full windows go out with them, so neither
a watermark nor the clock ever has anything to emit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import polars as pl

from sqlwin.operators.changes import CHANGE_SCHEMA
from sqlwin.operators.contract import Stores


class Counting(ABC):
    """A window operator that counts messages."""

    @property
    @abstractmethod
    def output(self) -> dict[str, pl.DataType]:
        """The columns of an emission, before those of a change."""

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        stores.closed = max(stores.closed, watermark)
        return self.nothing()

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        return self.nothing()

    def next_deadline(self, stores: Stores) -> int | None:
        return None

    def nothing(self) -> pl.DataFrame:
        return pl.DataFrame(schema={**self.output, **CHANGE_SCHEMA})
