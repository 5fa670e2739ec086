"""Joins in ROWS of rows that are numbered by event time, and the changelogs they take."""

from __future__ import annotations

from itertools import count
from typing import Any

import polars as pl
from hypothesis import strategies as st

from sqlwin.operators.joins.ordered.operator import OrderedJoin
from sqlwin.operators.joins.ordered.sides import NumberedSide
from sqlwin.operators.joins.schema import PASSED_WHERE, POS
from sqlwin.policies import Late, Policy
from sqlwin.runtime.lowering.derived import net
from sqlwin.schema import POSITION, WEIGHT
from sqlwin.windows import Unit
from sqlwin.windows.joins import JoinWindow
from tests.reference.joins import join_sides as defined
from tests.reference.joins.joins import ReferenceJoin
from tests.support.operators.joins import (
    KINDS,
    LEFT,
    RIGHT,
    Step,
    policies,
    rekeyed,
    residual,
    rows_of,
    stepped,
)

BOUNDS = st.sampled_from([None, -3, -1, 0, 0, 1, 2, 4])
BLANK = 2
"""The value of rows that WHERE drops."""


def ordered_join(
    match: JoinWindow,
    kind: str = "inner",
    by_time: tuple[bool, bool] = (True, True),
    keys: int = 1,
    filtered: bool = False,
    large: bool = False,
    slice_width: int = 4,
    update_before: bool = False,
    **policy: Any,
) -> OrderedJoin:
    """by_time: of left and right; at least one is."""
    left, right = (
        NumberedSide(
            name,
            columns,
            names[:keys],
            window,
            slice_width,
            large=large,
            weighted=own,
            by_time=own,
            rows_per_slice=3,
        )
        for name, columns, names, window, own in (
            ("left", LEFT, ("k", "j"), match, by_time[0]),
            ("right", RIGHT, ("rk", "rj"), match.mirrored, by_time[1]),
        )
    )
    kept = Policy(**{"retain": 5, "late": Late.ON_UPDATE, **policy})
    return OrderedJoin(left, right, kind, kept, residual if filtered else None, update_before)


def specified(fast: OrderedJoin) -> ReferenceJoin:
    left, right = (
        defined.Side(s.columns, s.keys, s.window, by_time=s.by_time)
        for s in (fast.left, fast.right)
    )
    return ReferenceJoin(
        left, right, fast.kind, fast.policy, fast.update_before, residual=fast.residual
    )


@st.composite
def ordered_joins(draw: st.DrawFn) -> OrderedJoin:
    low, high = draw(BOUNDS), draw(BOUNDS)
    if low is not None and high is not None and low > high:
        low, high = high, low
    by_time = draw(st.sampled_from([(True, True), (True, False), (False, True)]))
    more = {name: value for name, value in draw(policies()).items() if name != "weighted"}
    more["retain"] = draw(st.sampled_from([None, 0, 5, 20, 20]))
    kind, filtered = draw(st.sampled_from(KINDS)), draw(st.booleans())
    match = draw(st.sampled_from([JoinWindow(Unit.ROWS, low, high), draw(stepped())]))
    return ordered_join(match, kind, by_time, filtered=filtered, **more)


def crowded() -> st.SearchStrategy[list[Step]]:
    """Rows of few keys near each other, many of them late and retracted again."""
    row = st.tuples(
        st.sampled_from(["a", "a", "a", "b"]),
        st.just(1),
        st.sampled_from([1, 1, 3, BLANK]),
        st.integers(-9, 3),
    )
    rows = st.lists(row, min_size=1, max_size=3).map(tuple)
    back = st.tuples(st.integers(0, 1), st.integers(0, 5), st.booleans())
    backs = st.lists(back, max_size=2).map(tuple)
    moves = st.sampled_from([0, 0, 3, 5, 9])
    ends = st.sampled_from([False] * 9 + [True])
    one = st.builds(Step, rows | st.just(()), rows, backs, moves, st.integers(0, 4), ends)
    return st.lists(one, min_size=2, max_size=9)


class Changes:
    """Rows of both sides with positions; knows which may be retracted."""

    def __init__(self, operator: OrderedJoin) -> None:
        self.sides = operator.left, operator.right
        self.next = (count(), count())
        self.known: tuple[list[tuple[Any, ...]], ...] = ([], [])
        self.gone: list[tuple[Any, ...]] = []
        self.numbers = [0, 0]

    def batch(self, step: Step, watermark: int, horizon: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        frames = [
            self._changed(step, side, watermark, horizon)
            if self.sides[side].by_time
            else self._messages(step, side)
            for side in (0, 1)
        ]
        return frames[0], frames[1]

    def _messages(self, step: Step, side: int) -> pl.DataFrame:
        taken = []
        for *values, _ in (step.left, step.right)[side]:
            self.numbers[side] += 1
            if values[2] != BLANK:
                taken.append((*values, 0, next(self.next[side]), self.numbers[side], 1))
        return rows_of((LEFT, RIGHT)[side], *taken).drop(WEIGHT)

    def _changed(self, step: Step, side: int, watermark: int, horizon: int) -> pl.DataFrame:
        known, taken = self.known[side], list[tuple[Any, ...]]()
        for *values, at in (step.left, step.right)[side]:
            if watermark + at >= horizon:
                row = (*values, watermark + at, next(self.next[side]), 0)
                known.append(row)
                taken.append((*row, 1))
        for of, which, again in step.back:
            if of == side and which < len(known) and known[-1 - which][3] >= horizon:
                taken += self._again(side, which, again)
        columns = (LEFT, RIGHT)[side]
        value = pl.col([*columns][2])
        rows = rows_of(columns, *taken).with_columns(value.ne_missing(BLANK).alias(PASSED_WHERE))
        return net(rows).drop(POS).select(*columns, PASSED_WHERE, *POSITION, pl.col(WEIGHT))

    def _again(self, side: int, which: int, again: bool) -> list[tuple[Any, ...]]:
        row = self.known[side][-1 - which]
        changed = rekeyed(row)
        if (side, row[4]) in self.gone:
            if again:
                self.gone.remove((side, row[4]))
                self.known[side][-1 - which] = changed
            return [(*changed, 1)] if again else []
        if not again:
            self.gone.append((side, row[4]))
            return [(*row, -1)]
        self.known[side][-1 - which] = changed
        return [(*row, -1), (*changed, 1)]
