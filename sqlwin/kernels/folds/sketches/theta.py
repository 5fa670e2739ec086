"""THETA_SKETCH_AGG, THETA_UNION_AGG, THETA_INTERSECTION_AGG: sketches as bytes that Spark reads.

| column | dtype | what |
|--------|-------|------|
| `theta` | Binary | the sketch, see `sqlwin.functions.sketches.theta`; NULL of no rows |

It is exact in this: equal sets of values have equal bytes, however they were cut and merged. What
is left out of the sketch of a part is beyond the k least hashes of the whole, too.
"""

from __future__ import annotations

from abc import abstractmethod

import polars as pl
import pyarrow as pa

from sqlwin.functions.sketches.theta import LG, hashes, intersected, of_hashes, united
from sqlwin.kernels.folds.base import Fold, FoldCall
from sqlwin.kernels.folds.full_state.base import lifted
from sqlwin.kernels.folds.sketches.base import of_group
from sqlwin.kernels.frames import Frames
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class ThetaFold(Fold):
    """What the three have in common."""

    call: FoldCall

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.call.named("theta"),)

    def lift(self) -> list[pl.Expr]:
        values = self.call.arg().drop_nulls().unique()
        integers = pa.types.is_integer(self.call.arg_types[0])
        values = values.cast(pl.Int64) if integers else values
        return [of_group(values, self._lifted).alias(self.columns[0])]

    def merge(self) -> list[pl.Expr]:
        return [of_group(pl.col(self.columns[0]).drop_nulls(), self._merged)]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        nothing = of_hashes(hashes(pa.array([], pa.int64())), LG)
        return accumulators[self.columns[0]].fill_null(nothing).alias(self.call.name)

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        return lifted(self, rows, frames)

    def _lifted(self, values: pl.Series) -> bytes | None:
        """Of different ones."""
        return self._merged(values)

    def _merged(self, sketches: pl.Series) -> bytes | None:
        return self._of(sketches.to_list()) if len(sketches) else None

    @abstractmethod
    def _of(self, sketches: list[bytes]) -> bytes:
        """The sketch of several; there is at least one."""


@dataclass(frozen=True)
class ThetaUnion(ThetaFold):
    """THETA_UNION_AGG(x, lg)."""

    def _of(self, sketches: list[bytes]) -> bytes:
        return united(sketches, self.call.params[0])


@dataclass(frozen=True)
class ThetaSketch(ThetaUnion):
    """THETA_SKETCH_AGG(x, lg)."""

    def _lifted(self, values: pl.Series) -> bytes | None:
        return of_hashes(hashes(values.to_arrow()), self.call.params[0])


@dataclass(frozen=True)
class ThetaIntersection(ThetaFold):
    """THETA_INTERSECTION_AGG(x). No rows are no sketch, and so leave the others as they are."""

    def _of(self, sketches: list[bytes]) -> bytes:
        return intersected(sketches)
