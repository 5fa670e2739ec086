"""Panes: the pieces that windows of a hop are put together from.

A hop of `size` every `advance` is cut at every multiple of gcd(size, advance),
plus the offset. No window's edge falls inside a pane, so a row is folded into
one pane, and a pane goes whole into each window that holds it.

A window that starts at w holds the pane at p iff `w <= p < w + size`; the
starts w are `offset + n * advance`. Size 5, advance 3: pane 6 is in the windows
at 3 and 6, pane 5 only in the one at 3.

>>> panes = pl.DataFrame({"pane": [5, 6]})
>>> windows_of(panes, "pane", Hop(size=5, advance=3))["__window"].to_list()
[3, 3, 6]

Source: stream slicing, Traub et al., EDBT 2019.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.windows import Hop, Unit

WINDOW = "__window"


def pane_start(x: pl.Expr, pane: int, offset: int) -> pl.Expr:
    """Start of the pane that holds x: the greatest `offset + n * pane` <= x. Int64."""
    # the remainder of a floor division is never negative, also for x before the epoch
    return x - (x - offset) % pane


def origin(hop: Hop) -> int:
    """Where the windows of a hop are aligned: the epoch, or the first message, which is 1."""
    return hop.offset + (1 if hop.unit is Unit.ROWS else 0)


def windows_of(panes: pl.DataFrame, time: str, hop: Hop) -> pl.DataFrame:
    """Each pane's row once for every window that holds it, with the window's start.

    panes: column `time`, Int64, no NULL, is the pane's start. Adds `__window` Int64.
    Rows stay in order; the windows of one pane ascend. Windows of messages begin at
    message 1 or later: one that began earlier could never come to its n messages.
    """
    pane = panes[time].to_numpy()
    base = origin(hop)
    last = pane - (pane - base) % hop.advance
    behind = pane - hop.size
    first = behind - (behind - base) % hop.advance + hop.advance
    if hop.unit is Unit.ROWS:
        first = np.maximum(first, base)
    count = (last - first) // hop.advance + 1
    nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    starts = np.repeat(first, count) + nth * hop.advance
    rows = panes.select(pl.all().gather(np.repeat(np.arange(len(pane)), count)))
    return rows.with_columns(pl.Series(WINDOW, starts, dtype=pl.Int64))
