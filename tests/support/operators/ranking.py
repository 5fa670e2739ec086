"""A rank of group windows and its columns."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa

from sqlwin.kernels.folds import fold
from sqlwin.kernels.standings import Standing
from sqlwin.operators.ranks.cohorts import Ranks
from sqlwin.operators.windows.aggregator import WindowAggregator
from sqlwin.policies import Policy
from sqlwin.schema import Order
from sqlwin.windows.group import Cumulate, GroupWindow, Hop, Whole

COLUMNS: dict[str, pl.DataType] = {"k": pl.String(), "j": pl.Int64(), "x": pl.Int64()}


TOTAL = (Order("total", descending=True, nulls_last=True),)


FOLDS = (fold("total", "sum", ("x",), (pa.int64(),), pa.int64(), None),)


def ranker(
    window: GroupWindow | None = None,
    keys: tuple[str, ...] = ("k",),
    partition: tuple[str, ...] = (),
    function: str = "rank",
    order: tuple[Order, ...] = TOTAL,
    update_before: bool = False,
    retain: int | None = 1000,
    weighted: bool = False,
    **policy: Any,
) -> WindowAggregator:
    return WindowAggregator(
        "s",
        Hop(60, 60) if window is None else window,
        COLUMNS,
        {key: COLUMNS[key] for key in keys},
        FOLDS,
        (pl.Int64(),),
        Policy(retain, **policy),
        update_before,
        weighted=weighted,
        ranks=Ranks("place", Standing(function, partition, order)),
    )


WINDOWS: list[GroupWindow] = [Hop(20, 20), Hop(20, 5), Cumulate(20, 10), Whole()]
THERE_BY_ROWS = Cumulate(20, 10, only_on_update=True)
