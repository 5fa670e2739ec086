"""Ready-made ways to fold the records of one identity into one.

Each takes a layout and gives a `Combine`; all keep the laws in `Store`. `on` gives the
same for records that have more key columns.

>>> from sqlwin.state.contract import Layout
>>> layout = Layout("panes", (("t", pl.Int64()), ("n", pl.Int64())), (), ("t",), 10)
>>> written = pl.DataFrame({"t": [1, 1, 2], "n": [10, 20, 30]})
>>> last_written(layout)(written).sort("t").rows()
[(1, 20), (2, 30)]
>>> merged(layout, [pl.col("n").sum()])(written).sort("t").rows()
[(1, 30), (2, 30)]
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.state.contract import Layout


@dataclass(frozen=True)
class OneOf:
    """Of the records of one identity the one put last stays, or any."""

    layout: Layout
    keep: Literal["any", "last"]

    def __call__(self, records: pl.DataFrame) -> pl.DataFrame:
        return records.unique(self.layout.identity, keep=self.keep)

    def on(self, layout: Layout) -> OneOf:
        return replace(self, layout=layout)


@dataclass(frozen=True)
class Merged:
    """`merge` folds every column beside the identity, each to its own name and type."""

    layout: Layout
    merge: tuple[pl.Expr, ...]

    def __call__(self, records: pl.DataFrame) -> pl.DataFrame:
        groups = records.group_by(self.layout.identity)
        return groups.agg(*self.merge)[self.layout.schema.names()]

    def on(self, layout: Layout) -> Merged:
        return replace(self, layout=layout)


def keep_all(layout: Layout) -> OneOf:
    """Records that are written once: the identity is a position, which no two share.

    A replay writes equal records again and changes nothing. Where unequal ones of
    one identity are written, use `last_written`: here either may stay.
    """
    return OneOf(layout, "any")


def last_written(layout: Layout) -> OneOf:
    """The record put last stays."""
    return OneOf(layout, "last")


def merged(layout: Layout, merge: list[pl.Expr]) -> Merged:
    """Accumulators: `merge` folds every other column."""
    return Merged(layout, tuple(merge))
