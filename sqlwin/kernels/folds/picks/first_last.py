"""FIRST, LAST, ARG_MIN, ARG_MAX: the value of one row, chosen.

| column  | dtype | what |
|---------|-------|------|
| `value` | the argument's | the chosen row's value, which may be NULL |
| `by`    | of the second argument | what it was chosen by; ARG_MIN and ARG_MAX only |
| `by0`, `by1`, … | of the keys | of ORDER BY, if there is one |
| `ts`, `part`, `seq` | Int64, Int32, Int64 | its position; NULL: no row yet |

FIRST and LAST choose by position and take NULLs as they are, FIRST with an ORDER BY the first row
in that order. ARG_MIN and ARG_MAX pass over rows whose second argument is NULL. Of a tie all take
the first row by position.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from sqlwin.kernels.dyadic import fold_frames
from sqlwin.kernels.folds.base import Fold, FoldCall, counted
from sqlwin.kernels.folds.full_state.base import PLACE, position
from sqlwin.kernels.folds.picks.extremes import MIN_INT, extreme
from sqlwin.kernels.frames import Frames, Ints, Mask
from sqlwin.kernels.ranks import arranged, ranked
from sqlwin.lazy_dataclass import dataclass

_FIRST, _LAST = [False] * len(PLACE), [True] * len(PLACE)


@dataclass(frozen=True)
class Pick(Fold):
    """The value of one row; subclasses say which."""

    call: FoldCall
    ordered = True

    def sources(self) -> list[tuple[str, pl.Expr]]:
        """(what is kept, where it is in a raw row)."""
        return [("value", pl.col(self.call.args[0])), *position()]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.call.named(what) for what, _ in self.sources())

    def kept(self, what: str) -> pl.Expr:
        return pl.col(self.call.named(what))

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        return accumulators[self.call.named("value")].alias(self.call.name)

    def merge(self) -> list[pl.Expr]:
        by, down, last = self.order()
        # a part with no row has no position, and must not come first
        return [
            pl.col(column).sort_by(by, descending=down, nulls_last=last).first()
            for column in self.columns
        ]

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        chosen = self.rows_of(rows, frames)
        kept = rows.select(source.alias(self.call.named(what)) for what, source in self.sources())
        return kept.select(pl.all().gather(pl.lit(chosen)))

    @abstractmethod
    def order(self) -> tuple[list[pl.Expr], list[bool], list[bool]]:
        """What accumulators are sorted by, which of it descending, which with NULL last.

        The first one stays.
        """

    @abstractmethod
    def rows_of(self, rows: pl.DataFrame, frames: Frames) -> pl.Series:
        """The row each frame picks, NULL for none."""


@dataclass(frozen=True)
class AtEdge(Pick):
    """FIRST(x), or LAST(x) with `last`."""

    last: bool

    def lift(self) -> list[pl.Expr]:
        taking = [(what, self.call.taking(source)) for what, source in self.sources()]
        return [
            (rows.last() if self.last else rows.first()).alias(self.call.named(what))
            for what, rows in taking
        ]

    def order(self) -> tuple[list[pl.Expr], list[bool], list[bool]]:
        return [self.kept(what) for what, _ in PLACE], [self.last] * len(PLACE), _LAST

    def rows_of(self, rows: pl.DataFrame, frames: Frames) -> pl.Series:
        mask = self.call.taken(rows)
        if self.last:
            found = np.append(-1, _last_until(mask))[frames.hi]
        else:
            found = np.append(_first_from(mask), len(mask))[frames.lo]
        return _where(found, (found >= frames.lo) & (found < frames.hi))


@dataclass(frozen=True)
class InOrder(Pick):
    """FIRST(x ORDER BY a, b)."""

    def sources(self) -> list[tuple[str, pl.Expr]]:
        value, *place = super().sources()
        keys = ((f"by{n}", pl.col(key.column)) for n, key in enumerate(self.call.order))
        return [value, *keys, *place]

    def lift(self) -> list[pl.Expr]:
        # rows come by position, so it need not be compared
        by = [self.call.taking(pl.col(key.column)) for key in self.call.order]
        down, last = self._ways()
        return [
            self.call.taking(source)
            .sort_by(by, descending=down, nulls_last=last, maintain_order=True)
            .first()
            .alias(self.call.named(what))
            for what, source in self.sources()
        ]

    def order(self) -> tuple[list[pl.Expr], list[bool], list[bool]]:
        by = [self.kept(what) for what, _ in self.sources()[1:]]
        down, last = self._ways()
        return [self.kept("seq").is_null(), *by], [False, *down, *_FIRST], [True, *last, *_LAST]

    def _ways(self) -> tuple[list[bool], list[bool]]:
        keys = self.call.order
        return [key.descending for key in keys], [key.nulls_last for key in keys]

    def rows_of(self, rows: pl.DataFrame, frames: Frames) -> pl.Series:
        mask, order = self.call.taken(rows), arranged(rows, self.call.order)
        places = np.empty(len(rows), dtype=np.int64)
        places[order] = np.arange(len(rows))
        keys = np.where(mask, places, MIN_INT.identity[0])
        least = np.minimum(fold_frames(MIN_INT, (keys,), frames)[0], len(rows))
        return _where(np.append(order, -1)[least], counted(mask, frames) > 0)


def first(call: FoldCall) -> Pick:
    return InOrder(call) if call.order else AtEdge(call, last=False)


@dataclass(frozen=True)
class ByArg(Pick):
    """ARG_MIN(x, y), or ARG_MAX(x, y) with `greatest`."""

    greatest: bool

    def sources(self) -> list[tuple[str, pl.Expr]]:
        value, *place = super().sources()
        return [value, ("by", self.call.arg(1)), *place]

    def lift(self) -> list[pl.Expr]:
        by = self.call.arg(1)
        # the first row that equals the extreme; arg_min and arg_max pass over NaN
        if pa.types.is_nested(self.call.arg_types[1]):  # Polars cannot compare STRUCTs with one
            chosen = (by.rank("dense", descending=self.greatest) == 1).arg_max()
        else:
            chosen = (by == extreme(by, self.call.arg_types[1], self.greatest)).arg_max()
        return [source.get(chosen).alias(self.call.named(what)) for what, source in self.sources()]

    def order(self) -> tuple[list[pl.Expr], list[bool], list[bool]]:
        place = [self.kept(what) for what, _ in PLACE]
        return [self.kept("by"), *place], [self.greatest, *_FIRST], [True, *_LAST]

    def rows_of(self, rows: pl.DataFrame, frames: Frames) -> pl.Series:
        """The least (rank, row) of each frame, in one int64: rank * rows + row."""
        mask = self.call.present(rows, 1)
        codes, distinct = ranked(rows.select(self.call.arg(1)).to_series())
        ranks = len(distinct) - 1 - codes if self.greatest else codes
        keys = np.where(mask, ranks * len(rows) + np.arange(len(rows)), MIN_INT.identity[0])
        least = fold_frames(MIN_INT, (keys,), frames)[0]
        return _where(least % max(len(rows), 1), counted(mask, frames) > 0)


def _last_until(mask: Mask) -> Ints:
    """The last taken row up to and with each row, -1 for none."""
    return np.maximum.accumulate(np.where(mask, np.arange(len(mask)), -1))


def _first_from(mask: Mask) -> Ints:
    """The first taken row from each row on, len for none."""
    index = np.where(mask, np.arange(len(mask)), len(mask))
    return np.minimum.accumulate(index[::-1])[::-1]


def _where(index: npt.NDArray[np.int64], known: Mask) -> pl.Series:
    return pl.select(pl.when(pl.Series(known)).then(pl.Series(index))).to_series()
