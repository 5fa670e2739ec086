"""An aggregate written in Python (`sqlwin.aggregates.python`), row by row.

| column  | dtype | what |
|---------|-------|------|
| `state` | the declared type's | the function's state, of no rows what `initializer` gives |
| `rows`  | Int64 | rows taken in |

A part with no rows is left out of merging, so `merger` need not know the initial state.
States go through their Arrow type at every step between parts: what a function does to
the object it was given reaches nobody else.

Over frames, the states of blocks of 1, 2, 4, … rows are merged, as in `dyadic`: some
2 log n calls a frame, where taking in its rows would be n.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.aggregates.python import PythonAggregate
from sqlwin.errors import FunctionError
from sqlwin.kernels.folds.base import Fold, FoldCall
from sqlwin.kernels.frames import Frames, Ints
from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import polars_type
from sqlwin.schema import POSITION

Rows = Iterable[tuple[Any, ...]]
Level = tuple[pl.Series, Ints]
Named = tuple[str, Any]
"""Which function gave a state, and the state."""


@dataclass(frozen=True)
class Python(Fold):
    """The function bound to columns. keys: of the group, for a merger that takes its key."""

    call: FoldCall
    function: PythonAggregate
    keys: tuple[str, ...] = ()
    ordered = True

    @property
    def columns(self) -> tuple[str, ...]:
        return self.call.named("state"), self.call.named("rows")

    def lift(self) -> list[pl.Expr]:
        inputs = [self.call.taking(pl.col(column)) for column in (*self.call.args, *POSITION)]
        state, rows = self.columns
        return [
            self._mapped(inputs, lambda series: self._taken_in(zip(*series, strict=True))).alias(
                state
            ),
            inputs[-1].len().cast(pl.Int64).alias(rows),
        ]

    def merge(self) -> list[pl.Expr]:
        state, rows = (pl.col(column) for column in self.columns)
        inputs = [state.filter(rows > 0), *(pl.col(key).first() for key in self._merged_by)]
        merged = self._mapped(inputs, lambda series: self._merged(series[0], series[1:]))
        return [merged.alias(self.columns[0]), rows.sum()]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        states = accumulators[self.columns[0]].to_list()
        finisher = self.function.finisher
        if finisher is not None:
            states = [self._called("finisher", finisher, state) for state in states]
        return self._typed("finisher", states, self.call.type).alias(self.call.name)

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        lo, hi = frames.lo.copy(), frames.hi.copy()
        left, right = self._empty(len(frames)), self._empty(len(frames))
        level = self._lifted_rows(rows)
        while (lo < hi).any():
            at = np.flatnonzero((lo < hi) & (lo & 1 == 1))
            left = self._joined(left, level, at, lo[at], at_end=True)
            lo = lo + (lo & 1)
            at = np.flatnonzero((lo < hi) & (hi & 1 == 1))
            right = self._joined(right, level, at, hi[at] - 1, at_end=False)
            lo, hi, level = lo >> 1, hi >> 1, self._halved(level)
        everyone = np.arange(len(frames))
        state, count = self._joined(left, right, everyone, everyone, at_end=True)
        return pl.DataFrame([state.alias(self.columns[0]), pl.Series(self.columns[1], count)])

    # States of groups

    def _taken_in(self, rows: Rows) -> Named:
        what, state = "initializer", self._called("initializer", self.function.initializer)
        for *args, ts, part, seq in rows:
            row = (ts, part, seq)
            state = self._called("aggregator", self.function.aggregator, state, *args, row=row)
            what = "aggregator"
        return what, state

    @property
    def _merged_by(self) -> tuple[str, ...]:
        return self.keys if self.function.keyed else ()

    def _merged(self, states: pl.Series, key: Sequence[pl.Series]) -> Named:
        if not len(states):
            return "initializer", self._called("initializer", self.function.initializer)
        first, *others = states.to_list()
        of = [_key([column[0] for column in key])] if self.function.keyed else []
        for other in others:
            first = self._called("merger", self.function.merger, *of, first, other)
        return "merger", first

    def _mapped(self, inputs: list[pl.Expr], state_of: Callable[[Any], Named]) -> pl.Expr:
        def one(series: Any) -> pl.Series:
            what, state = state_of(series)
            return self._states(what, [state])

        dtype = polars_type(self.function.accumulator)
        return pl.map_groups(inputs, one, return_dtype=dtype, returns_scalar=True)

    # States of blocks and of frames: (states, rows taken in)

    def _empty(self, count: int) -> Level:
        none = [self._called("initializer", self.function.initializer) for _ in range(count)]
        return self._states("initializer", none), np.zeros(count, dtype=np.int64)

    def _lifted_rows(self, rows: pl.DataFrame) -> Level:
        taken = self.call.taken(rows)
        each = rows.select(*self.call.args, *POSITION).iter_rows()
        states = [
            self._taken_in([row] if take else [])[1] for row, take in zip(each, taken, strict=True)
        ]
        return self._states("aggregator", states), taken.astype(np.int64)

    def _halved(self, level: Level) -> Level:
        """Neighbours merged; an odd last one has no block above it."""
        states, rows = level
        even = np.arange(0, len(rows) - 1, 2)
        return self._joined(
            (states.gather(even), rows[even]), level, np.arange(len(even)), even + 1
        )

    def _joined(
        self, mine: Level, others: Level, at: Ints, which: Ints, at_end: bool = True
    ) -> Level:
        """mine[at] merged with others[which], which stand behind, or before, each."""
        (states, rows), (other_states, other_rows) = mine, others
        kept, taken = states.to_list(), other_states.gather(which).to_list()
        count = rows.copy()
        for i, state, n in zip(at.tolist(), taken, other_rows[which].tolist(), strict=True):
            if n and count[i]:
                pair = (kept[i], state) if at_end else (state, kept[i])
                state = self._called("merger", self.function.merger, *pair)
            if n:
                kept[i] = state
                count[i] += n
        return self._states("merger", kept), count

    def _states(self, what: str, states: list[Any]) -> pl.Series:
        return self._typed(what, states, self.function.accumulator)

    # Errors of the user's code

    def _called(
        self, what: str, function: Callable[..., Any], *args: Any, row: tuple[int, ...] = ()
    ) -> Any:
        try:
            return function(*args)
        except Exception as raised:
            why = f"{type(raised).__name__}: {raised}"
            line = traceback.extract_tb(raised.__traceback__)[-1]
            place = (
                f" of {self.function.name} failed{_at(row)}: {why} ({line.filename}:{line.lineno})"
            )
            raise FunctionError(f"The {what}{place}") from raised

    def _typed(self, what: str, values: list[Any], type_: pa.DataType) -> pl.Series:
        try:
            return pl.Series(pa.array(values, type_), dtype=polars_type(type_))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as raised:
            why = f"gave what is no {type_}: {raised}"
            raise FunctionError(f"The {what} of {self.function.name} {why}") from raised


def _key(values: list[Any]) -> Any:
    """One value as it is, several as a tuple, none as None."""
    return values[0] if len(values) == 1 else tuple(values) or None


def _at(row: tuple[int, ...]) -> str:
    return " at the row with __ts {}, __part {}, __seq {}".format(*row) if row else ""
