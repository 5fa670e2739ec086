"""HISTOGRAM and MAP_AGG: a map, of values and how often each came, or of keys and values.

| column | dtype | what |
|--------|-------|------|
| `values` | List of the first argument's | all keys but NULLs |
| `items` | List of the second argument's | their values, NULLs too; not of HISTOGRAM |
| `by0`, `by1`, … | Lists | of ORDER BY, if there is one |
| `ts`, `part`, `seq` | Lists of Int64, Int32, Int64 | their positions |

Rows stand in the order of ORDER BY, ties, and all without it, by position; of a key that came
again the map has the value of the last row. Its keys ascend, so that equal maps are the same value,
and no update of one another. NaN is one key, and -0.0 is 0.0. Of nothing: an empty map.

Of the rows (b, 1), (a, 2), (b, 3) HISTOGRAM is {a: 1, b: 2}, MAP_AGG {a: 2, b: 3}.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.kernels.folds.base import FoldCall
from sqlwin.kernels.folds.full_state.base import OWNER
from sqlwin.kernels.folds.full_state.collects import Collect, unsigned
from sqlwin.kernels.gather import listed
from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import polars_type

KEYS, ITEMS = "values", "items"


@dataclass(frozen=True)
class Entries(Collect):
    """A map of the rows; `counted`: of each key how many there are."""

    counted: bool = False

    def sources(self) -> list[tuple[str, pl.Expr]]:
        keys, *rest = super().sources()
        return [keys, *((ITEMS, pl.col(arg)) for arg in self.call.args[1:]), *rest]

    def taken(self, rows: pl.DataFrame) -> pl.DataFrame:
        arguments = zip((KEYS, ITEMS), self.call.args, strict=False)
        return rows.select(pl.col(arg).alias(what) for what, arg in arguments)

    def shown(self, kept: pl.DataFrame, owners: int) -> pl.Series:
        item = pl.len().cast(pl.Int64) if self.counted else pl.col(ITEMS).last()
        entries = kept.group_by(OWNER, KEYS, maintain_order=True).agg(item.alias("value"))
        entries = entries.with_columns(unsigned(entries, KEYS).alias("key")).sort(OWNER, "key")
        lengths = np.bincount(entries[OWNER].to_numpy(), minlength=owners)
        lists = listed(entries.select(pl.struct("key", "value")).to_series(), lengths)
        return lists.cast(polars_type(self.call.type)).alias(self.call.name)


def entries(call: FoldCall, counted: bool) -> Entries:
    return Entries(call, distinct=False, counted=counted)
