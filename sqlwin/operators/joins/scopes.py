"""The windows of a join: of each row, the stretch of the other side where its partners lie.

SAMZA-552's join looks for the partners of a message in the window of the other stream that
belongs to it. Such windows are as many as there are messages, so none is stored: they are
made of the rows when somebody asks.

    __window_start, __window_end
                               `position + low` and `position + high`, both included; NULL
                               where the window has no such end
    __first, __last, __rows    of the rows held in it that have equal keys: the position of
                               the first, of the last, and how many there are
    __state                    full if no partner is still to come, else open

Invariant: `__rows` of the left windows and of the right ones have the same sum, and each
pair of the join is one of them; a residual condition may leave some out.

>>> from sqlwin.operators.windows.grouping import EXTENT
>>> from sqlwin.windows import Unit
>>> from sqlwin.windows.joins import JoinWindow
>>> window = JoinWindow(Unit.RANGE, -5, 5)
>>> rows = pl.DataFrame({"k": ["a", "b"], "__ts": [10, 10], "__part": [0, 0], "__seq": [0, 1]})
>>> others = pl.DataFrame({"j": ["a", "a"], "__ts": [8, 15], "__part": [0, 0], "__seq": [7, 9]})
>>> side = Side("left", {"k": pl.String()}, ("k",), window, 60)
>>> other = Side("right", {"j": pl.String()}, ("j",), window.mirrored, 60)
>>> scopes(rows, others, side, other).select(pl.col(*EDGES).to_physical(), *EXTENT).rows()
[(5, 15, 7, 9, 2), (5, 15, None, None, 0)]
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.frames import Ints, Mask
from sqlwin.kernels.joins import Line, coded
from sqlwin.operators.contract import Stores
from sqlwin.operators.joins.sides import Side
from sqlwin.operators.state_queries import EDGES
from sqlwin.operators.windows.grouping import FIRST, LAST, ROWS
from sqlwin.polars_frames import INSTANT
from sqlwin.schema import SEQ
from sqlwin.windows import Unit

_ROW = "__row"


def reaching(side: Side, lo: int, hi: int, stores: Stores) -> pl.DataFrame:
    """Stored rows of a side whose windows hold an instant of `lo <= t <= hi`."""
    low, high = side.window.low, side.window.high
    first = START if high is None else max(START, lo - high)
    last = END if low is None else min(END, hi - low + 1)
    return side.scan(stores, first, last)


def scopes(rows: pl.DataFrame, others: pl.DataFrame, side: Side, other: Side) -> pl.DataFrame:
    """`rows` of a side with their windows; others: those of the other side, in order."""
    window = side.window
    own, there = coded(rows, others, side.keys, other.keys, side.at)
    line = Line(there)
    frames = line.frames(own, window.low, window.high)
    some = frames.lo < frames.hi
    held = pl.DataFrame(
        {
            FIRST: _offsets(others, line, frames.lo, some),
            LAST: _offsets(others, line, frames.hi - 1, some),
            ROWS: pl.Series(frames.hi - frames.lo, dtype=pl.Int64),
            _ROW: pl.Series(own.rows, dtype=pl.Int64),
        }
    )
    numbered = rows.with_row_index(_ROW).with_columns(pl.col(_ROW).cast(pl.Int64))
    found = numbered.join(held, on=_ROW, how="left", maintain_order="left").drop(_ROW)
    instant = pl.Int64() if window.unit is Unit.ROWS else INSTANT
    ends = zip(EDGES, (window.low, window.high), strict=True)
    return found.with_columns(
        pl.col(ROWS).fill_null(0),  # a NULL key is in no line
        *(_moved(side.at, by).cast(instant).alias(name) for name, by in ends),
    )


def _moved(at: str, by: int | None) -> pl.Expr:
    return pl.lit(None, pl.Int64()) if by is None else pl.col(at) + by


def _offsets(others: pl.DataFrame, line: Line, at: Ints, there: Mask) -> pl.Series:
    """Positions of the rows at these places of the line, NULL where there is none."""
    rows = pl.Series(line.rows[at[there]], dtype=pl.Int64)
    found = pl.Series([None] * len(at), dtype=pl.Int64)
    return found.scatter(there.nonzero()[0], others[SEQ].gather(rows))
