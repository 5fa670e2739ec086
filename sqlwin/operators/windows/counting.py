"""What operators that event time does not move share: no watermark has anything to emit.

Messages are numbered, or ranked, as they come; a late one is like any other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import polars as pl

from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.polars_frames import empty
from sqlwin.state.contract import HORIZON


class Counting(ABC):
    """A window operator that the watermark passes by."""

    @property
    @abstractmethod
    def output(self) -> dict[str, pl.DataType]:
        """The columns of an emission, before those of a change."""

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        stores.watermark = max(stores.watermark, watermark)
        return self.nothing()

    def horizons(self, stores: Stores) -> pl.DataFrame:
        """None: what a message does not change, it need not be refused for."""
        return empty({HORIZON: pl.Int64()})

    def nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})
