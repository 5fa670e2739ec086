"""How far back the newest n rows of each key go: RETAIN n ROWS.

>>> counted = pl.DataFrame({"k": ["a", "a", "b"], "at": [60, 0, 0], ROWS: [1, 2, 1]})
>>> nth_newest(counted, ("k",), "at", 2).rows()
[('a', 0)]
"""

from __future__ import annotations

import polars as pl

from sqlwin.operators.windows.contents import ROWS
from sqlwin.state.contract import HORIZON


def nth_newest(counted: pl.DataFrame, keys: tuple[str, ...], at: str, n: int) -> pl.DataFrame:
    """`keys` and `__floor`: the greatest `at` from which on there are `n` rows of the keys.

    counted: keys, `at` (Int64) and `__rows`, in any cut. Keys with fewer rows have no line.
    """
    if counted[ROWS].sum() < n:
        counted = counted.clear()
    newest = counted.select(*keys, at, ROWS).sort(at, descending=True)
    until = pl.col(ROWS).cum_sum().over(keys) if keys else pl.col(ROWS).cum_sum()
    greatest = pl.col(at).max().alias(HORIZON)
    enough = newest.filter(until >= n)
    return enough.group_by(keys).agg(greatest) if keys else enough.select(greatest).drop_nulls()


def floored(windows: pl.DataFrame, horizons: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """`windows` with the `__floor` of their keys, NULL where these have none."""
    if keys:
        return windows.join(horizons, on=list(keys), how="left", nulls_equal=True)
    floor = horizons[HORIZON][0] if len(horizons) else None
    return windows.with_columns(pl.lit(floor, pl.Int64).alias(HORIZON))
