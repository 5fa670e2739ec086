"""Rows that others have replaced, as they were: what is retracted has the old values."""

from __future__ import annotations

import polars as pl

from sqlwin.operators.joins.schema import REPLACED
from sqlwin.operators.joins.sides import Side


def as_they_were(side: Side, rows: pl.DataFrame, removed: pl.DataFrame) -> pl.DataFrame:
    """rows: of the side, `__replaced` among their columns. removed: rows retracted or replaced."""
    if removed.is_empty():
        return rows
    on = list(side.identity)
    others = rows.filter(~pl.col(REPLACED))
    old = rows.drop(*side.columns).join(removed.select(*side.columns, *on), on=on)
    return pl.concat([others, old.select(others.columns)])
