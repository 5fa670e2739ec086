"""BITMAP_CONSTRUCT_AGG, BITMAP_OR_AGG and BITMAP_AND_AGG: bitmaps of 32,768 bits, as Spark's.

| column | dtype | what |
|--------|-------|------|
| `bits` | Binary | the bits that are set, without zeros at the end; NULL of no rows |

Bit n is bit n % 8, from the right, of byte n // 8. A value has 4096 bytes: what a shorter bitmap
lacks is zero, and what a longer one has more is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_, or_

import numpy as np
import polars as pl

from sqlwin.kernels.folds.base import Fold, FoldCall
from sqlwin.kernels.folds.full_state.base import lifted
from sqlwin.kernels.folds.sketches.base import of_group
from sqlwin.kernels.frames import Frames
from sqlwin.lazy_dataclass import dataclass

BYTES = 4096


@dataclass(frozen=True)
class Bitmap(Fold):
    """Of positions, or with `bitmaps` of bitmaps, all of whose bits `both` joins."""

    call: FoldCall
    bitmaps: bool
    both: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.call.named("bits"),)

    def lift(self) -> list[pl.Expr]:
        values = self.call.arg().drop_nulls().unique()
        of = self._joined if self.bitmaps else _constructed
        return [of_group(values, of).alias(self.columns[0])]

    def merge(self) -> list[pl.Expr]:
        return [of_group(pl.col(self.columns[0]).drop_nulls(), self._joined)]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        nothing = (b"\xff" if self.both else b"") * BYTES
        bits = accumulators[self.columns[0]].fill_null(nothing)
        whole = [each.ljust(BYTES, b"\0") for each in bits]
        return pl.Series(self.call.name, whole, dtype=pl.Binary)

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        return lifted(self, rows, frames)

    def _joined(self, bitmaps: pl.Series) -> bytes | None:
        join: Callable[[int, int], int] = and_ if self.both else or_
        numbers = [int.from_bytes(each[:BYTES], "little") for each in bitmaps]
        return _bytes(reduce(join, numbers)) if numbers else None


def _constructed(positions: pl.Series) -> bytes | None:
    if not len(positions):
        return None
    bits = np.zeros(8 * BYTES, dtype=np.bool_)
    bits[positions.to_numpy()] = True
    return np.packbits(bits, bitorder="little").tobytes().rstrip(b"\0")


def _bytes(bits: int) -> bytes:
    return bits.to_bytes((bits.bit_length() + 7) // 8, "little")
