"""What a query has said: what is new since it was last asked, and what now holds.

Emissions are folded as they come, a pile at a time, so that the board holds no
more than is new and a few times one row for each row_key ever told.

Invariant: `last` has one row for each row_key whose highest revision since its last
`+I` was not withdrawn: a key that a TTL has forgotten begins anew with revision 0.
"""

from __future__ import annotations

import polars as pl

PILE = 100_000
"""Emissions that lie unfolded; more than that, as many as there are row_keys."""


class Board:
    """Collects emissions; `empty` has their columns."""

    def __init__(self, empty: pl.DataFrame, pile: int = PILE) -> None:
        self.pile = pile
        self._fresh = [empty]
        self._folded = empty
        self._unfolded = [empty]
        self._piled = 0

    def add(self, emitted: pl.DataFrame) -> None:
        if emitted.is_empty():
            return
        self._fresh.append(emitted)
        self._unfolded.append(emitted)
        self._piled += len(emitted)
        if self._piled > max(self.pile, len(self._folded)):
            self._fold()

    def fresh(self) -> pl.DataFrame:
        """What was added since it was last dropped."""
        out = pl.concat(self._fresh)
        self._fresh = [out]
        return out

    def drop(self, rows: int | None = None) -> None:
        """Let go of the first `rows` of what is fresh; None: of all of it."""
        kept = self.fresh()
        self._fresh = [kept.clear() if rows is None else kept[rows:]]

    def last(self) -> pl.DataFrame:
        """The last revision of every row_key, in the order of first emission."""
        self._fold()
        return self._folded.filter(pl.col("op") != "-D")

    def _fold(self) -> None:
        self._folded = fold(pl.concat([self._folded, *self._unfolded]))
        self._unfolded, self._piled = [self._folded.clear()], 0


def fold(emitted: pl.DataFrame) -> pl.DataFrame:
    """The row of the highest revision of each row_key, since it was last inserted."""
    begun = (pl.col("op") == "+I").cum_sum().over("row_key")
    newest = emitted.filter(begun == begun.max().over("row_key"))
    highest = pl.col("revision") == pl.col("revision").max().over("row_key")
    return newest.filter(highest).unique("row_key", keep="last", maintain_order=True)
