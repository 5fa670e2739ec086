"""The outputs of a query: those not read yet, and the last revision of each row_key.

Emissions are folded by row_key, many at a time, so that memory holds the unread outputs and
a few times one row for each row_key ever emitted.

Invariant: `last` has one row for each row_key whose highest revision since its last
`+I` was not retracted: a key whose state a TTL has evicted begins again with revision 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from sqlwin.polars_frames import stacked

UNFOLDED_ROWS = 100_000
"""Emissions that are kept unfolded; more where there are more row_keys."""
_AT = "__at"


class OutputBuffer:
    """Collects emissions; `empty` has their columns."""

    def __init__(self, empty: pl.DataFrame, max_unfolded: int = UNFOLDED_ROWS) -> None:
        self.max_unfolded = max_unfolded
        self._fresh = [empty]
        self._folded = empty
        self._unfolded = [empty]
        self._unfolded_rows = 0

    def add(self, emitted: pl.DataFrame) -> None:
        if emitted.is_empty():
            return
        self._fresh.append(emitted)
        self._unfolded.append(emitted)
        self._unfolded_rows += len(emitted)
        if self._unfolded_rows > max(self.max_unfolded, len(self._folded)):
            self._fold()

    def fresh(self) -> pl.DataFrame:
        """Outputs added and not dropped yet."""
        out = stacked(self._fresh)
        self._fresh = [out]
        return out

    @property
    def waits(self) -> bool:
        """Whether any output was not dropped yet."""
        return any(frame.height for frame in self._fresh)

    def drop(self, rows: int | None = None) -> None:
        """Drop the first `rows` of the fresh outputs; None: all of them."""
        fresh = self.fresh()
        self._fresh = [fresh.clear() if rows is None else fresh[rows:]]

    def last(self) -> pl.DataFrame:
        """The last revision of every row_key, in the order of these."""
        self._fold()
        return self._folded.filter(pl.col("op") != "-D")

    def _fold(self) -> None:
        self._folded = fold(pl.concat([self._folded, *self._unfolded]))
        self._unfolded, self._unfolded_rows = [self._folded.clear()], 0


def fold(emitted: pl.DataFrame) -> pl.DataFrame:
    """The row of the highest revision of each row_key, since it was last inserted."""
    several = _maybe_several(emitted["row_key"])
    if not several.any():  # of results that nothing corrects
        return emitted
    corrected = _newest(emitted.with_row_index(_AT).filter(pl.Series(several)))[_AT]
    kept = ~several
    kept[corrected.to_numpy()] = True
    return emitted.filter(pl.Series(kept))


def _maybe_several(keys: pl.Series) -> npt.NDArray[np.bool_]:
    """Which keys are not known to be there once: their hashes are there again."""
    hashes = keys.hash().to_numpy()
    order = np.argsort(hashes)
    again = np.flatnonzero(np.diff(hashes[order]) == 0)
    several = np.zeros(len(keys), dtype=np.bool_)
    several[order[again]] = several[order[again + 1]] = True
    return several


def _newest(numbered: pl.DataFrame) -> pl.DataFrame:
    """Those of the highest revision of each row_key; numbered: with their order."""
    at = pl.col(_AT)
    # of a window over a window, each group costs 10 µs
    begun = pl.when(pl.col("op") == "+I").then(at).max().over("row_key")
    newest = numbered.filter(at >= begun.fill_null(0))
    highest = pl.col("revision") == pl.col("revision").max().over("row_key")
    return newest.filter(highest).unique("row_key", keep="last", maintain_order=True)
