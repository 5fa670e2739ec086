"""Rows a query rejected: kept for the error stream until read, and counted by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import field

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import stacked
from sqlwin.policies import Expired
from sqlwin.runtime.rows.error_stream import delivered, no_rejects, reasons


@dataclass
class ErrorRows:
    """expired: what becomes of expired rows."""

    expired: Expired
    counts: Counter[str] = field(default_factory=Counter)
    pending: list[pl.DataFrame] = field(default_factory=list)

    def add(self, *frames: pl.DataFrame) -> None:
        for frame in frames:
            if not frame.is_empty():
                self.counts.update(reasons(frame))
                self.pending.append(delivered(frame, self.expired))

    def rows(self) -> pl.DataFrame:
        return stacked([no_rejects(), *self.pending])
