"""The greatest horizon that each key ever had, where the rows that RETAIN n ROWS counts may go.

Of rows that only come the instant of the n-th newest never goes back. One that is withdrawn
counts no more, and then it may; but what was retired is gone, and a row that was refused for
its age must not be withdrawn later. So a horizon that was reached stays. It is noted with each
watermark, when all of a batch is there: a row that is replaced is not missing in between.

Invariant: one record a key, with the greatest horizon noted that is not beyond retention by time.

Worked example, RETAIN 2 ROWS, rows of tea at 10, 20 and 30: the horizon is 20. The one at 30 is
withdrawn: it stays 20, though the second newest is now the one at 10. One at 40 comes: 20 and
40 are there, and it is 20 still; with one at 50 it is 40.

>>> from sqlwin.state.memory import MemoryStore
>>> reached = Horizons({"k": pl.String()})
>>> spec = reached.spec(60)
>>> stores = Stores({spec.name: MemoryStore(spec.layout, spec.combine)})
>>> for horizon in (20, 10, 40):
...     reached.note(pl.DataFrame({"k": ["tea"], HORIZON: [horizon]}), stores)
...     print(reached.of(stores).rows())
[('tea', 20)]
[('tea', 20)]
[('tea', 40)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.state.combine import keep_all
from sqlwin.state.contract import HORIZON

STORE = "floors"
REACHED = "__reached"


@dataclass(frozen=True)
class Horizons:
    """keys: within which rows are counted. ttl: as of `StoreSpec`."""

    keys: dict[str, pl.DataType]
    name: str = STORE
    ttl: Literal["key"] | None = "key"

    def spec(self, slice_width: int) -> StoreSpec:
        """By the horizon, so one that time has overtaken is evicted."""
        columns = {**self.keys, REACHED: pl.Int64()}
        layout = layout_of(self.name, columns, tuple(self.keys), (REACHED,), slice_width)
        return StoreSpec(layout, keep_all(layout), "retention horizon of each key", ttl=self.ttl)

    def of(self, stores: Stores) -> pl.DataFrame:
        """Keys and `__floor`; keys that never had so many rows have no line."""
        return everything(stores, self.name).select(*self.keys, pl.col(REACHED).alias(HORIZON))

    def note(self, horizons: pl.DataFrame, stores: Stores) -> None:
        """horizons: keys and `__floor`, of the rows there; those that are lower than before say
        nothing."""
        on = [*self.keys, HORIZON]
        others = horizons.join(self.of(stores), on=on, how="anti", nulls_equal=True)
        if others.is_empty():
            return
        stores[self.name].put(others.select(*self.keys, pl.col(HORIZON).alias(REACHED)))
        stores[self.name].cut(others.select(on))

    def expire(self, horizon: int, stores: Stores) -> None:
        """Forget horizons that are below what retention by time keeps."""
        stores[self.name].expire(horizon)
