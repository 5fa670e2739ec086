"""When rows stay, as intervals of event time: `__enters <= t < __leaves`.

What covers a row's stay, and what does not, are intervals within it: the pairs of a row, and the
times at which it has no match.

>>> rows = pl.DataFrame({ROW: [0], ENTERS: [10], LEAVES: [30]})
>>> pairs = pl.DataFrame({ROW: [0, 0], ENTERS: [12, 15], LEAVES: [17, 20]})
>>> uncovered(rows, pairs).rows()
[(0, 10, 12), (0, 20, 30)]
>>> covered(rows, pairs).rows()
[(0, 12, 20)]
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import END
from sqlwin.schema import POSITION, TS
from sqlwin.windows.joins import Steps
from sqlwin.windows.stays import Stay

ROW, ENTERS, LEAVES = "__row", "__enters", "__leaves"


def staying(rows: pl.DataFrame, stay: Stay) -> pl.DataFrame:
    """With `__enters` and `__leaves`, `END` where nothing says yet when a row leaves.

    A row that is never there leaves as it enters, or before. rows: all that may still be there,
    and all after them.
    """
    ordered = rows.sort(POSITION)
    ts = pl.col(TS)
    if stay.rows is not None:
        if stay.slide is not None:
            return ordered.with_columns(*_stepped(stay, Steps(stay.rows, stay.slide)))
        return ordered.with_columns(ts.alias(ENTERS), _replaced(stay, stay.rows).alias(LEAVES))
    if stay.length is None:
        return ordered.with_columns(ts.alias(ENTERS), pl.lit(END, pl.Int64).alias(LEAVES))
    if stay.slide is None:
        return ordered.with_columns(ts.alias(ENTERS), (ts + stay.length + 1).alias(LEAVES))
    first, last = (_after(at, stay.slide) for at in (ts, ts + stay.length))
    return ordered.with_columns(first.alias(ENTERS), last.alias(LEAVES))


def _after(at: pl.Expr, slide: int) -> pl.Expr:
    """The first slide after an instant."""
    return (at // slide + 1) * slide


def _replaced(stay: Stay, size: int) -> pl.Expr:
    """When so many rows have come after it."""
    later = pl.col(TS).shift(-size)
    leaves = (later.over(stay.partition) if stay.partition else later).fill_null(END)
    if stay.there is None:
        return leaves
    return pl.when(stay.there).then(leaves).otherwise(pl.col(TS))


def _stepped(stay: Stay, steps: Steps) -> list[pl.Expr]:
    """Rows are counted from the oldest that is kept, which begins a step, see `gone`."""
    count = pl.len().cast(pl.Int64)
    number = pl.int_range(1, count + 1)
    found = []
    for edge, at in ((ENTERS, steps.enters(number)), (LEAVES, steps.leaves(number))):
        come = pl.col(TS).gather(pl.min_horizontal(at, count) - 1)
        instant = pl.when(at <= count).then(come).otherwise(END)
        found.append((instant.over(stay.partition) if stay.partition else instant).alias(edge))
    return found


def gone(rows: pl.DataFrame, stay: Stay, before: int) -> pl.DataFrame:
    """Those that left before an instant, and by which no other is counted: of a window that
    advances by rows whole steps of each partition.

    rows: as `staying` gives them.
    """
    left = rows.filter(pl.col(LEAVES) < before)
    if stay.rows is None or stay.slide is None:
        return left
    count = pl.len().cast(pl.Int64)
    whole = pl.int_range(count) < count // stay.slide * stay.slide
    return left.filter(whole.over(stay.partition) if stay.partition else whole)


def uncovered(rows: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """The parts of stays that are in no span. rows, spans: `__row`, `__enters`, `__leaves`; spans
    lie within the stay of their row."""
    columns = (ROW, ENTERS, LEAVES)
    first = rows.select(ROW, ENTERS, pl.col(ENTERS).alias(LEAVES))
    last = rows.select(ROW, pl.col(LEAVES).alias(ENTERS), LEAVES)
    every = pl.concat([first, spans.select(columns), last]).sort(columns)
    since = pl.col(LEAVES).cum_max().shift(1).over(ROW)
    found = every.select(ROW, since.alias(ENTERS), pl.col(ENTERS).alias(LEAVES))
    return found.filter(pl.col(ENTERS) < pl.col(LEAVES))


def covered(rows: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """The parts of stays that are in some span; those that touch are one."""
    return uncovered(rows, uncovered(rows, spans))
