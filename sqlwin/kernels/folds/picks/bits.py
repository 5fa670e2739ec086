"""BIT_AND, BIT_OR and BIT_XOR of integers; NULL on nothing.

| column | dtype | what |
|--------|-------|------|
| `bits`  | Int64 | so far, with the sign's bit repeated; NULL before the first value |

>>> import pyarrow as pa
>>> both = Bits(FoldCall("b", "bit_and", ("x",), (pa.int8(),), pa.int8()))
>>> rows = pl.DataFrame({"x": [-2, None, 7]}, schema={"x": pl.Int8})
>>> both.finish(rows.select(both.lift())).to_list()
[6]
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.kernels.dyadic import Operation, fold_frames, of_ufunc
from sqlwin.kernels.folds.base import Fold, FoldCall, counted
from sqlwin.kernels.frames import Frames
from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import polars_type

OPERATIONS: dict[str, Operation] = {
    "bit_and": of_ufunc(np.bitwise_and, -1),
    "bit_or": of_ufunc(np.bitwise_or, 0),
    "bit_xor": of_ufunc(np.bitwise_xor, 0),
}


@dataclass(frozen=True)
class Bits(Fold):
    """Of the bits of all values."""

    call: FoldCall

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.call.named("bits"),)

    def lift(self) -> list[pl.Expr]:
        return [self._of(self.call.arg().cast(pl.Int64)).alias(self.columns[0])]

    def merge(self) -> list[pl.Expr]:
        return [self._of(pl.col(self.columns[0]))]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        return accumulators[self.columns[0]].cast(polars_type(self.call.type)).alias(self.call.name)

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        mask, operation = self.call.present(rows), OPERATIONS[self.call.function]
        bits = rows[self.call.args[0]].cast(pl.Int64).fill_null(0).to_numpy()
        bits = np.where(mask, bits, operation.identity[0])
        found = pl.Series(fold_frames(operation, (bits,), frames)[0])
        some = pl.Series(counted(mask, frames) > 0)
        return pl.select(pl.when(some).then(found).alias(self.columns[0]))

    def _of(self, bits: pl.Expr) -> pl.Expr:
        if self.call.function == "bit_and":
            return bits.bitwise_and()
        return bits.bitwise_or() if self.call.function == "bit_or" else bits.bitwise_xor()
