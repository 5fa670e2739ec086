"""What a query has said: what is new since it was last asked, and what now holds.

Invariant: `last` has one row for each row_key whose highest revision was not
withdrawn.
"""

from __future__ import annotations

import polars as pl


class Board:
    """Collects emissions; `empty` has their columns."""

    def __init__(self, empty: pl.DataFrame) -> None:
        self._fresh = [empty]
        self._folded = empty
        self._unfolded = [empty]

    def add(self, emitted: pl.DataFrame) -> None:
        self._fresh.append(emitted)
        self._unfolded.append(emitted)

    def fresh(self) -> pl.DataFrame:
        out = pl.concat(self._fresh)
        self._fresh = [out.clear()]
        return out

    def last(self) -> pl.DataFrame:
        """The last revision of every row_key, in the order of first emission."""
        every = pl.concat([self._folded, *self._unfolded])
        self._folded, self._unfolded = fold(every), [every.clear()]
        return self._folded.filter(pl.col("op") != "-D")


def fold(emitted: pl.DataFrame) -> pl.DataFrame:
    """The row of the highest revision of each row_key."""
    highest = pl.col("revision") == pl.col("revision").max().over("row_key")
    return emitted.filter(highest).unique("row_key", keep="last", maintain_order=True)
