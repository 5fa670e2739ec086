"""KLL_SKETCH_AGG_… and KLL_MERGE_AGG_…: a sketch, as bytes that Spark reads.

| column | dtype | what |
|--------|-------|------|
| `values` | List of the argument's | all values, or all sketches, but NULLs, in any order |

The sketch is made of all of them at the end, for one that grew with its rows would have other
bytes in another order, see `sqlwin.functions.sketches.kll`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import polars as pl

from sqlwin.functions.sketches.kll import (
    DOUBLES,
    FLOATS,
    LONGS,
    K,
    Kll,
    merged,
    of_values,
    read,
    written,
)
from sqlwin.kernels.folds.full_state.base import Kept
from sqlwin.lazy_dataclass import dataclass

_OF = {"bigint": LONGS, "float": FLOATS, "double": DOUBLES}


@dataclass(frozen=True)
class KllFold(Kept):
    """What both have in common."""

    def sources(self) -> list[tuple[str, pl.Expr]]:
        return [("values", self.call.arg())]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        made = [written(self.made(values)) for values in accumulators[self.columns[0]]]
        return pl.Series(self.call.name, made, dtype=pl.Binary)

    @abstractmethod
    def made(self, values: pl.Series) -> Kll:
        """Of what was kept."""

    @property
    def dtype(self) -> np.dtype[Any]:
        return _OF[self.call.function.rpartition("_")[2]]

    @property
    def k(self) -> int | None:
        return self.call.params[0] if self.call.params else None


@dataclass(frozen=True)
class KllSketch(KllFold):
    """KLL_SKETCH_AGG_…(x, k)."""

    def made(self, values: pl.Series) -> Kll:
        return of_values(values.to_numpy().astype(self.dtype), self.k or K)


@dataclass(frozen=True)
class KllMerge(KllFold):
    """KLL_MERGE_AGG_…(x, k): of the least k of all, where none is given."""

    def made(self, values: pl.Series) -> Kll:
        sketches = [read(sketch, self.dtype) for sketch in values]
        if not sketches:
            return of_values(np.zeros(0, self.dtype), self.k or K)
        return merged(sketches, self.k or min(sketch.k for sketch in sketches))
