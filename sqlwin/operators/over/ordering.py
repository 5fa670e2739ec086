"""Rows in the order of an OVER clause: event time, the keys behind it, position.

The row store has rows by (event time, position). Further keys move rows among those of one
instant only, so whatever goes by time (slices, finality, retention) is the same for every order.
Rows that are equal in all keys are peers; position orders them too, but does not tell them apart.

Folds that put rows in order by their positions (FIRST, NTH_VALUE, COLLECT_LIST) get numbers
in this order in the place of positions. Accumulators of several parts stay comparable, since
no instant is in two parts; see `base_sums`.

Worked example, ORDER BY ts, price DESC: rows (ts 10, seq 1, price 5), (10, 2, 9), (10, 3, 5) and
(20, 4, 1) are taken 2, 1, 3, 4. Of these the second and the third are peers.

>>> rows = pl.DataFrame({"ts": [10, 10, 10, 20], "seq": [1, 2, 3, 4], "price": [5, 9, 5, 1]})
>>> arranged = arrange(rows, "ts", (), (Order("price", descending=True, nulls_last=True),))
>>> rows["seq"][arranged.order].to_list(), arranged.along.tolist(), arranged.at.tolist()
([2, 1, 3, 4], [1, 2, 2, 3], [10, 10, 10, 20])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from sqlwin.kernels.frames import Ints
from sqlwin.kernels.standings import differs, in_order
from sqlwin.schema import PART, POSITION, SEQ, TS, Order

AT = "__at"
Keys = tuple[Order, ...]


@dataclass(frozen=True)
class Arranged:
    """Rows partition by partition: their numbers, the partition's number, the axis, and what a
    frame in RANGE goes along: the axis, or of further keys the number of the row's peers.
    """

    order: Ints
    runs: Ints
    at: Ints
    along: Ints


def arrange(rows: pl.DataFrame, axis: str, partition: tuple[str, ...], keys: Keys = ()) -> Arranged:
    """rows: by axis, then position. Without keys they stay so within a partition."""
    at = rows[axis].to_numpy()
    read = dict.fromkeys((axis, *partition, *_columns(keys)))
    numbered = rows.select(*read).with_row_index(AT)
    if keys:
        numbered = in_order(numbered, (Order(axis), *keys))
    order, runs = _grouped(numbered, partition)
    if not keys:
        return Arranged(order, runs, at[order], at[order])
    begins = rows.select(axis, *_columns(keys))[order].select(differs([axis, *_columns(keys)]))
    return Arranged(
        order, runs, at[order], np.cumsum(begins.to_series().to_numpy(), dtype=np.int64)
    )


def _grouped(numbered: pl.DataFrame, partition: tuple[str, ...]) -> tuple[Ints, Ints]:
    if not partition:
        return numbered[AT].to_numpy().astype(np.int64), np.zeros(len(numbered), dtype=np.int64)
    groups = numbered.group_by(partition, maintain_order=True).agg(AT)[AT]
    runs = np.repeat(np.arange(len(groups)), groups.list.len().to_numpy())
    return groups.explode().to_numpy().astype(np.int64), runs


def _columns(keys: Keys) -> list[str]:
    return list(dict.fromkeys(key.column for key in keys))


def sorted_rows(rows: pl.DataFrame, keys: Keys) -> pl.DataFrame:
    """Rows in any order, sorted."""
    by_position = (Order(PART), Order(SEQ))
    return in_order(rows, (Order(TS), *keys, *by_position)) if keys else rows.sort(POSITION)


def renumbered(rows: pl.DataFrame) -> pl.DataFrame:
    """Sorted rows with numbers in their order for positions within an instant."""
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    return rows.with_columns(pl.lit(0, pl.Int32).alias(PART), number.alias(SEQ))
