"""Ready-made ways to fold the records of one identity into one.

Each takes a layout and gives a `Combine`; all keep the laws in `Store`.

>>> from sqlwin.state.contract import Layout
>>> layout = Layout("panes", (("t", pl.Int64()), ("n", pl.Int64())), (), ("t",), 10)
>>> written = pl.DataFrame({"t": [1, 1, 2], "n": [10, 20, 30]})
>>> last_written(layout)(written).sort("t").rows()
[(1, 20), (2, 30)]
>>> merged(layout, [pl.col("n").sum()])(written).sort("t").rows()
[(1, 30), (2, 30)]
"""

from __future__ import annotations

import polars as pl

from sqlwin.state.contract import Combine, Layout


def keep_all(layout: Layout) -> Combine:
    """Records that are written once: the identity is a position, which no two share.

    A replay writes equal records again and changes nothing. Where unequal ones of
    one identity are written, use `last_written`: here either may stay.
    """

    def combine(records: pl.DataFrame) -> pl.DataFrame:
        return records.unique(layout.identity, keep="any")

    return combine


def last_written(layout: Layout) -> Combine:
    """The record put last stays."""

    def combine(records: pl.DataFrame) -> pl.DataFrame:
        return records.unique(layout.identity, keep="last")

    return combine


def merged(layout: Layout, merge: list[pl.Expr]) -> Combine:
    """Accumulators: `merge` folds every other column, each to its own name and type."""

    def combine(records: pl.DataFrame) -> pl.DataFrame:
        groups = records.group_by(layout.identity)
        return groups.agg(merge).select(layout.schema.names())

    return combine
