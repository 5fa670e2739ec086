"""What sketches have in common: one column of bytes, made and merged in Python."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import polars as pl

from sqlwin.kernels.folds.base import Fold, FoldCall
from sqlwin.kernels.folds.full_state.base import lifted
from sqlwin.kernels.frames import Frames
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Sketch(Fold):
    """What both have in common: one column of bytes, made and merged in Python."""

    call: FoldCall

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        return lifted(self, rows, frames)

    @abstractmethod
    def exact(self) -> Fold:
        """The fold that answers the same of rows that are at hand."""

    @abstractmethod
    def slide(self, rows: pl.DataFrame, frames: Frames) -> pl.Series:
        """As Fold; by `exact`."""


def of_group(values: pl.Expr, of: Callable[[pl.Series], bytes | None]) -> pl.Expr:
    def one(series: list[pl.Series] | Any) -> pl.Series:
        return pl.Series([of(series[0])], dtype=pl.Binary)

    return pl.map_groups([values], one, return_dtype=pl.Binary, returns_scalar=True)
