"""The retention horizon: what ends before it takes no row any more, and is evicted.

| horizon          | is                                                                     |
|------------------|------------------------------------------------------------------------|
| by time          | the watermark less RETAIN, of all keys (`by_time`)                     |
| by key           | with RETAIN n ROWS the n-th newest row of a key (`nth_newest`)         |

Admission, emission and state queries read the same ones. What an operator makes of a horizon is
its own: windows go by their end, sessions by how far they reach, rows of a join by the reach of
its window, those of OVER by their frames (`retention` of `windows`, `sessions` and `joins`,
`over.row_horizons`).

Of rows that only come the instant of the n-th newest never goes back. Where rows may be retracted
it may; but what was evicted is gone, and a row that was refused for its age must not be retracted
later. So the greatest horizon that a key ever had stays (`Horizons`). It is noted with each
watermark, when all of a batch is there: a row that is replaced is not missing in between.

Invariant: one record a key, with the greatest horizon noted that is not beyond retention by time.

Worked example, RETAIN 2 ROWS, rows of tea at 10, 20 and 30: the horizon is 20. The one at 30 is
retracted: it stays 20, though the second newest is now the one at 10. One at 40 comes: 20 and
40 are there, and it is 20 still; with one at 50 it is 40.

>>> by_time(90, 60), by_time(90, 60, since=40), by_time(90, None) == START
(30, 40, True)
>>> counted = pl.DataFrame({"k": ["a", "a", "b"], "at": [60, 0, 0], ROWS: [1, 2, 1]})
>>> nth_newest(counted, ("k",), "at", 2).rows()
[('a', 0)]
>>> from sqlwin.state.stores.memory import MemoryStore
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

from abc import ABC, abstractmethod
from typing import Literal

import polars as pl

from sqlwin.instants import START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.operators.windows.grouping import ROWS
from sqlwin.polars_frames import empty
from sqlwin.state.combine import keep_all
from sqlwin.state.contract import HORIZON

STORE = "floors"
REACHED = "__reached"


def by_time(watermark: int, retain: int | None, since: int | None = None) -> int:
    """since: an instant that was reached under another RETAIN."""
    reached = START if retain is None else watermark - retain
    return reached if since is None else max(reached, since)


def nth_newest(counted: pl.DataFrame, keys: tuple[str, ...], at: str, n: int) -> pl.DataFrame:
    """`keys` and `__floor`: the greatest `at` from which on there are `n` rows of the keys.

    counted: keys, `at` (Int64) and `__rows`, in any cut. Keys with fewer rows have no line.
    """
    if counted[ROWS].sum() < n:
        return empty({**{key: counted.schema[key] for key in keys}, HORIZON: pl.Int64()})
    newest = counted.select(*keys, at, ROWS).sort(at, descending=True)
    until = pl.col(ROWS).cum_sum().over(keys) if keys else pl.col(ROWS).cum_sum()
    greatest = pl.col(at).max().alias(HORIZON)
    enough = newest.filter(until >= n)
    return enough.group_by(keys).agg(greatest) if keys else enough.select(greatest).drop_nulls()


def floored(windows: pl.DataFrame, horizons: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """`windows` with the `__floor` of their keys, NULL where these have none."""
    if keys:
        return windows.join(horizons, on=list(keys), how="left", nulls_equal=True)
    before = horizons[HORIZON][0] if len(horizons) else None
    return windows.with_columns(pl.lit(before, pl.Int64).alias(HORIZON))


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


class KeyHorizons(ABC):
    """The horizons of keys, with RETAIN n ROWS."""

    @property
    @abstractmethod
    def reached(self) -> Horizons | None:
        """Where the greatest are noted, for rows may be retracted."""

    @abstractmethod
    def newest(self, stores: Stores) -> pl.DataFrame:
        """Keys and `__floor`, of the rows now there; keys with fewer rows have no line."""

    def note(self, stores: Stores) -> None:
        """The horizons of the rows now there."""
        if self.reached is not None:
            self.reached.note(self.newest(stores), stores)

    def horizons(self, stores: Stores) -> pl.DataFrame:
        """Keys and `__floor`; keys that never had so many rows have no line."""
        return self.newest(stores) if self.reached is None else self.reached.of(stores)

    def expire(self, horizon: int, stores: Stores) -> None:
        """Forget the horizons that the one by time has overtaken."""
        if self.reached is not None:
            self.reached.expire(horizon, stores)
