"""Rows in the order of an OVER clause: event time, the keys behind it, position; or other keys.

The row store has rows by (event time, position). Further keys move rows among those of one
instant only, so whatever goes by time (slices, finality, retention) is the same for every order.
Rows that are equal in all keys are peers; position orders them too, but does not distinguish them.

An order that begins with another key sorts all rows of a partition, ties by (event time,
position). With a single key a frame in RANGE may have a distance along it (`kernels.distances`).

Folds that put rows in order by their positions (FIRST, NTH_VALUE, COLLECT_LIST) get numbers
in this order in the place of positions. Accumulators of several parts stay comparable, since
no instant is in two parts; see `base_sums`.

Worked example, ORDER BY ts, price DESC: rows (ts 10, seq 1, price 5), (10, 2, 9), (10, 3, 5) and
(20, 4, 1) are taken 2, 1, 3, 4. Of these the second and the third are peers.

>>> rows = pl.DataFrame({"ts": [10, 10, 10, 20], "seq": [1, 2, 3, 4], "price": [5, 9, 5, 1]})
>>> arranged = arrange(rows, "ts", (), (Order("price", descending=True, nulls_last=True),))
>>> rows["seq"][arranged.order].to_list(), arranged.along.tolist(), arranged.at.tolist()
([2, 1, 3, 4], [1, 2, 2, 3], [10, 10, 10, 20])
>>> arrange(rows, "ts", (), (Order("price"),), timed=False).order.tolist()  # ORDER BY price
[3, 0, 2, 1]
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.kernels.distances import framed_by
from sqlwin.kernels.frames import Frames, Ints, Mask, excluding, frames_of, parts_of
from sqlwin.kernels.standings import differs, in_order
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import PART, POSITION, SEQ, TS, Order
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame

AT = "__at"
Keys = tuple[Order, ...]


@dataclass(frozen=True)
class Arranged:
    """Rows partition by partition: their numbers, the partition's number, the axis, and what a
    frame in RANGE goes along: the axis, or of further keys the number of the row's peers.
    key: of an order by a single key, its values; descending: as they stand.
    """

    order: Ints
    runs: Ints
    at: Ints
    along: Ints
    key: pl.Series | None = None
    descending: bool = False

    def parts(self, frame: Frame) -> list[Frames]:
        """As `kernels.frames.parts_of`."""
        if frame.unit is Unit.SESSION:
            whole = frames_of(self.runs, self.at, frame)
        elif self.key is None or not frame.distant:
            return parts_of(self.runs, self.along, frame)
        else:
            whole = framed_by(self.runs, self.key, self.descending, frame)
        return excluding(whole, self.runs, self.along, frame.exclude)

    def among(self, which: Mask) -> Arranged:
        """As if only these rows were there, in this order."""
        key = None if self.key is None else self.key.filter(pl.Series(which))
        parts = (self.order[which], self.runs[which], self.at[which], self.along[which])
        return Arranged(*parts, key, self.descending)


def arrange(
    rows: pl.DataFrame,
    axis: str,
    partition: tuple[str, ...],
    keys: Keys = (),
    timed: bool = True,
) -> Arranged:
    """rows: by axis, then position. Without keys they stay so within a partition. timed: the keys
    are behind the axis; else they are all."""
    at = rows[axis].to_numpy()
    read = dict.fromkeys((axis, *partition, *_columns(keys)))
    numbered = rows[list(read)].with_row_index(AT)
    by = (Order(axis), *keys) if timed else keys
    if keys:
        numbered = in_order(numbered, by)
    order, runs = _grouped(numbered, partition)
    if not keys:
        return Arranged(order, runs, at[order], at[order])
    sorted_ = rows.select(_columns(by))[order]
    begins = sorted_.select(differs(_columns(by))).to_series().to_numpy()
    alone = sorted_.to_series() if len(by) == 1 else None
    along = np.cumsum(begins, dtype=np.int64)
    return Arranged(order, runs, at[order], along, alone, by[0].descending)


def _grouped(numbered: pl.DataFrame, partition: tuple[str, ...]) -> tuple[Ints, Ints]:
    if not partition or numbered.is_empty():
        return numbered[AT].to_numpy().astype(np.int64), np.zeros(len(numbered), dtype=np.int64)
    groups = numbered.group_by(partition, maintain_order=True).agg(AT)[AT].rechunk().to_arrow()
    ends = groups.offsets.to_numpy()
    order = groups.values.to_numpy()[ends[0] : ends[-1]].astype(np.int64)
    return order, np.repeat(np.arange(len(groups)), np.diff(ends))


def _columns(keys: Keys) -> list[str]:
    return list(dict.fromkeys(key.column for key in keys))


def sorted_rows(rows: pl.DataFrame, keys: Keys) -> pl.DataFrame:
    """Rows in any order, sorted."""
    by_position = (Order(PART), Order(SEQ))
    return in_order(rows, (Order(TS), *keys, *by_position)) if keys else rows.sort(POSITION)


def renumbered(rows: pl.DataFrame, timed: bool = True) -> pl.DataFrame:
    """Sorted rows with numbers in their order for positions within an instant, or for all."""
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    instant = [] if timed else [pl.lit(0, pl.Int64).alias(TS)]
    return rows.with_columns(*instant, pl.lit(0, pl.Int32).alias(PART), number.alias(SEQ))
