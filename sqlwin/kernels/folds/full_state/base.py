"""Folds of full state: an accumulator is the values themselves, in lists.

A list column for each thing that is kept of a row, parallel to one another. Parts are
merged by putting their lists behind each other, in any order: `finish` sorts what it
needs to, and looks at nothing else.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import polars as pl

from sqlwin.kernels.folds.base import Fold, FoldCall
from sqlwin.kernels.frames import Frames, Ints, Mask
from sqlwin.kernels.gather import among, chunks, lists_of, opened
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import PART, SEQ, TS

PLACE = (("ts", TS), ("part", PART), ("seq", SEQ))
OWNER = "__owner"


@dataclass(frozen=True)
class Kept(Fold):
    """Keeps, of each row whose argument is not NULL, what `sources` says.

    `known` and `present` say the same of which rows those are.
    """

    call: FoldCall
    full_state = True

    @abstractmethod
    def sources(self) -> list[tuple[str, pl.Expr]]:
        """(what is kept, where it is in a raw row); the values come first."""

    def known(self) -> pl.Expr:
        """Of a raw row: whether it is kept."""
        return self.call.arg().is_not_null()

    def present(self, rows: pl.DataFrame) -> Mask:
        """Which rows are kept."""
        return self.call.present(rows)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.call.named(what) for what, _ in self.sources())

    def lift(self) -> list[pl.Expr]:
        known = self.known()
        return [
            source.filter(known).implode().alias(self.call.named(what))
            for what, source in self.sources()
        ]

    def merge(self) -> list[pl.Expr]:
        return [pl.col(column).explode(empty_as_null=False).implode() for column in self.columns]

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        known = self.present(rows)
        kept = rows.select(source.alias(self.call.named(what)) for what, source in self.sources())
        kept = kept.filter(pl.Series(known))
        inner = among(known, frames)
        return pl.DataFrame([lists_of(column, inner) for column in kept])

    def values(self, rows: pl.DataFrame, frames: Frames) -> tuple[pl.Series, Frames]:
        """The arguments that take part, without NULLs, and the frames over them."""
        known = self.present(rows)
        return rows[self.call.args[0]].filter(pl.Series(known)), among(known, frames)

    def rows_kept(self, accumulators: pl.DataFrame) -> pl.DataFrame:
        """Everything kept, a row for each value, and OWNER: the accumulator it is of."""
        columns = [opened(accumulators[column]) for column in self.columns]
        frames = columns[0][1]
        owner = np.repeat(np.arange(len(frames)), frames.hi - frames.lo)
        whats = (what for what, _ in self.sources())
        series = [values.alias(w) for (values, _), w in zip(columns, whats, strict=True)]
        return pl.DataFrame([pl.Series(OWNER, owner), *series])


def position() -> list[tuple[str, pl.Expr]]:
    return [(what, pl.col(column)) for what, column in PLACE]


def lifted(fold: Fold, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
    """The accumulators of each frame by lifting its rows: for folds with no faster way."""
    rows = rows.select(name for name in fold.call.inputs if name in rows.columns)
    parts = [rows.clear().with_columns(_owner([])).group_by(OWNER).agg(fold.lift())]
    for chunk in chunks(frames):
        some = rows[chunk.index].with_columns(_owner(chunk.owner + chunk.frames.start))
        parts.append(some.group_by(OWNER, maintain_order=True).agg(fold.lift()))
    empty = np.flatnonzero(frames.lo == frames.hi)
    if len(empty):
        nothing = rows.clear().select(fold.lift())
        none = pl.DataFrame([_owner(empty)]).join(nothing, how="cross")
        parts.append(none.cast(parts[0].schema))
    return pl.concat(parts).sort(OWNER).drop(OWNER)


def _owner(values: Ints | list[int]) -> pl.Series:
    return pl.Series(OWNER, values, dtype=pl.Int64)
