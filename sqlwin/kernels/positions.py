"""Where some rows are among others that are in order, by a search of their instants.

A join by position hashes the rows of both sides. Here each instant is searched for, and of the few
rows that share it the one is taken that has the position: all rows in step, one tie after another.

>>> rows = pl.DataFrame({TS: [1, 2, 2, 3], PART: [0, 0, 0, 0], SEQ: [5, 6, 7, 4]})
>>> places(rows, rows[[3, 2]]).tolist()
[3, 2]
>>> places(rows, pl.DataFrame({TS: [2], PART: [0], SEQ: [4]})) is None
True
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.kernels.frames import Ints, Mask
from sqlwin.schema import PART, POSITION, SEQ, TS

_NTH = "__n"
TIES = 16
"""Rows of one instant that are looked at; among more of them a join is faster."""


def places(rows: pl.DataFrame, wanted: pl.DataFrame) -> Ints | None:
    """The number of each wanted row; None: one is not there, or not found by few looks.

    rows: in order of positions, each once.
    """
    at, part, seq = (rows[name].to_numpy() for name in (TS, PART, SEQ))
    its_at, its_part, its_seq = (wanted[name].to_numpy() for name in (TS, PART, SEQ))
    found: Ints = np.searchsorted(at, its_at)
    for _ in range(TIES):
        if int(found.max(initial=-1)) >= len(at):
            return None
        other = (seq[found] != its_seq) | (part[found] != its_part)
        if not other.any():
            return found if bool((at[found] == its_at).all()) else None
        found = found + other
    return None


def which(rows: pl.DataFrame, wanted: pl.DataFrame) -> Mask:
    """Which of `rows` are the wanted ones, all of which are there."""
    times, its = rows[TS].to_numpy(), wanted[TS].to_numpy()
    within = np.zeros(len(rows), dtype=np.bool_)
    if not len(its):
        return within
    within |= (times >= its.min()) & (times <= its.max())
    if int(within.sum()) == len(wanted):  # all of a span, as when it becomes full
        return within
    found = places(rows, wanted)
    if found is None:
        numbered = rows.select(POSITION).with_row_index(_NTH)
        semi = numbered.join(wanted.select(POSITION), on=list(POSITION), how="semi")
        found = semi[_NTH].to_numpy()
    mask = np.zeros(len(rows), dtype=np.bool_)
    mask[found] = True
    return mask
