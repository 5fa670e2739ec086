"""A top-n and its columns."""

from __future__ import annotations

from typing import Any

import polars as pl

from sqlwin.kernels.standings import Standing
from sqlwin.operators.top_n.operator import TopRows
from sqlwin.policies import Early, Policy
from sqlwin.schema import Order

COLUMNS: dict[str, pl.DataType] = {"k": pl.String(), "x": pl.Float64()}


BEST = (Order("x", descending=True, nulls_last=True),)


def top(
    limit: int = 1,
    function: str = "row_number",
    order: tuple[Order, ...] = BEST,
    partition: tuple[str, ...] = ("k",),
    update_before: bool = False,
    **kwargs: Any,
) -> TopRows:
    policy = Policy(None, **{"early": Early.ON_UPDATE, **kwargs})
    standing = Standing(function, partition, order)
    return TopRows("s", COLUMNS, "place", standing, limit, policy, update_before)
