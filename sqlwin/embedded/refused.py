"""Rows a query did not take: kept for the error stream, and counted by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import polars as pl

from sqlwin.policies import Expired
from sqlwin.runtime.rows.rejects import delivered, no_rejects, reasons


@dataclass
class Refused:
    """expired: what becomes of expired rows."""

    expired: Expired
    counts: Counter[str] = field(default_factory=Counter)
    kept: list[pl.DataFrame] = field(default_factory=list)

    def add(self, *frames: pl.DataFrame) -> None:
        for frame in frames:
            if not frame.is_empty():
                self.counts.update(reasons(frame))
                self.kept.append(delivered(frame, self.expired))

    def rows(self) -> pl.DataFrame:
        return pl.concat([no_rejects(), *self.kept])
