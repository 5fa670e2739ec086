"""What operators with accumulators share: which folds keep messages, and what comes of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import polars as pl

from sqlwin.errors import OverflowInAggregate, QueryError
from sqlwin.kernels.columns import beside
from sqlwin.kernels.exact import Overflow
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.frames import Frames
from sqlwin.schema import POSITION


class Folded(ABC):
    """Of folds, and messages that are grouped by keys. weighted: which may be retracted."""

    folds: tuple[Fold, ...]
    weighted: bool = False

    @cached_property
    def incremental(self) -> tuple[Fold, ...]:
        """Those whose accumulators stand beside a window."""
        return tuple(fold for fold in self.folds if not self._from_messages(fold))

    @cached_property
    def whole(self) -> tuple[Fold, ...]:
        """Those computed from all messages of a window."""
        return tuple(fold for fold in self.folds if self._from_messages(fold))

    def _from_messages(self, fold: Fold) -> bool:
        """Rows that may be retracted are kept where accumulators are not invertible."""
        return fold.full_state or (self.weighted and not fold.invertible)

    def read(self, keys: Iterable[str], folds: Iterable[Fold]) -> list[str]:
        """Columns of a row: keys, what these aggregates look at, position."""
        inputs = [name for fold in folds for name in fold.call.inputs]
        return list(dict.fromkeys((*keys, *inputs, *POSITION)))

    def finished(
        self, merged: pl.DataFrame, known: Mapping[str, pl.Series] | None = None
    ) -> pl.DataFrame:
        """Windows with a column for each result; OverflowInAggregate names the window.

        known: results that are no accumulators' any more, by name.
        """
        have = known or {}
        results = (
            have[fold.call.name] if fold.call.name in have else self._finish(fold, merged)
            for fold in self.folds
        )
        return beside(merged, *results)

    def of_nothing(
        self, windows: pl.DataFrame, none: pl.DataFrame, emitted: pl.DataFrame
    ) -> pl.DataFrame:
        """Windows that hold no message with what is lifted of none, as columns of what was emitted.

        none: messages of which there are none. Their messages were lost, and not all are back.
        """
        lifted = [expr for fold in self.whole for expr in fold.lift()]
        beside = windows.join(none.select(lifted), how="cross")
        return beside.select(emitted.columns).cast(emitted.schema)

    def no_messages(self) -> QueryError:
        """Why there is none to ask for."""
        names = ", ".join(fold.call.name for fold in self.folds)
        emitted = f": {names} is kept as partial results" if names else ""
        return QueryError(f"the query keeps no messages{emitted}")

    @abstractmethod
    def _place(self, window: dict[str, Any]) -> str:
        """Which window it is, for an error."""

    def _finish(self, fold: Fold, merged: pl.DataFrame) -> pl.Series:
        return self._of(merged, fold, lambda: fold.finish(merged))

    def _slide(
        self, fold: Fold, rows: pl.DataFrame, frames: Frames, windows: pl.DataFrame
    ) -> pl.Series:
        """Over the rows of each of `windows`."""
        return self._of(windows, fold, lambda: fold.slide(rows, frames))

    def _of(self, windows: pl.DataFrame, fold: Fold, made: Callable[[], pl.Series]) -> pl.Series:
        try:
            return made()
        except Overflow as overflow:
            place = self._place(windows.row(overflow.row, named=True))
            raise OverflowInAggregate(fold.call.name, place) from None
