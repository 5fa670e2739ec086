"""MODE: the most frequent value; of several, the one that came first. NULL on nothing.

WITHIN GROUP (ORDER BY x) takes the least of several, with DESC the greatest.

| column | dtype | what |
|--------|-------|------|
| `values` | List of the argument's | all values but NULLs |
| `ts`, `part`, `seq` | Lists of Int64, Int32, Int64 | their positions |
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.kernels.folds.full_state.base import OWNER, PLACE, Kept, position
from sqlwin.kernels.frames import Frames, Ints
from sqlwin.kernels.gather import chunks
from sqlwin.kernels.ranks import ranked
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Mode(Kept):
    """MODE(x)."""

    def sources(self) -> list[tuple[str, pl.Expr]]:
        return [("values", self.call.arg()), *position()]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        kept = self.rows_kept(accumulators).sort(OWNER, *(what for what, _ in PLACE))
        owner, at = kept[OWNER].to_numpy(), np.arange(len(kept))
        codes, distinct = ranked(kept["values"])
        places, values = self._places(codes, at, kept["values"], distinct)
        chosen = most_frequent(owner, codes, places, len(accumulators))
        return values.gather(chosen).alias(self.call.name)

    def slide(self, rows: pl.DataFrame, frames: Frames) -> pl.Series:
        values, inner = self.values(rows, frames)
        codes, distinct = ranked(values)
        places, places_of = self._places(codes, np.arange(len(codes)), values, distinct)
        found = [values.clear()]
        for chunk in chunks(inner):
            index = chunk.index
            chosen = most_frequent(chunk.owner, codes[index], places[index], len(chunk))
            found.append(places_of.gather(chosen))
        return pl.concat(found).alias(self.call.name)

    def _places(
        self, codes: Ints, at: Ints, values: pl.Series, distinct: pl.Series
    ) -> tuple[Ints, pl.Series]:
        """Of each row what goes first among equally frequent ones, and the values by that."""
        if not self.call.order:
            return at, values
        if self.call.order[0].descending:
            return len(distinct) - 1 - codes, distinct.reverse()
        return codes, distinct


def most_frequent(owner: Ints, codes: Ints, at: Ints, owners: int) -> pl.Series:
    """Of each owner, the `at` of the first row of its most frequent code; NULL without rows.

    owner: ascending. at: ascending within a code of an owner, not negative.
    """
    span, rows = int(codes.max(initial=0)) + 1, int(at.max(initial=0)) + 1
    keys = owner * span + codes
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    counts = np.diff(starts, append=len(keys))
    first = at[order[starts]]
    # the greatest count, then the first place, in one number
    scores = counts * rows + (rows - 1 - first)
    mine = owner[order[starts]]
    edges = np.flatnonzero(np.diff(mine, prepend=-1))
    chosen = np.full(owners, -1, dtype=np.int64)
    if len(edges):
        chosen[mine[edges]] = rows - 1 - np.maximum.reduceat(scores, edges) % rows
    found = pl.Series("at", chosen)
    return pl.select(pl.when(found >= 0).then(found)).to_series()
