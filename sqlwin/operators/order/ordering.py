"""Rows of a result counted: what a window in ROWS over one measures its size in.

A result has no order of arrival that another run would repeat, so its rows are numbered, from 1
within a partition key, in the order of event time, ties by position. A row that comes between
others, or goes, gives those behind it other numbers: they are retracted at the old one and come
at the new.

| store     | record                                                                    |
|-----------|---------------------------------------------------------------------------|
| `ordered` | a row as it was taken, its position, `__number`, `__weight`               |
| `counts`  | of a partition: `__count` rows, `__certain`, `__fixed`, `__closed`        |

Of a side of a join their names begin with that of the side.

A row is complete if the watermark is past it, and final if it is out of retention: then so is its
number, and the row is evicted.

Invariant: `__number` of the rows of a partition count up by one to `__count`; those that are
evicted had 1 to `__fixed`. `__closed` is one more than `__certain` ever was.

Worked example: rows at 10 and 30 have the numbers 1 and 2; at watermark 20 one is complete. A
late row at 15 takes number 2: the one at 30 is retracted there and comes at 3.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.order.numbering import AT, COUNT, NUMBER, STORE
from sqlwin.operators.state_queries import MessageRange
from sqlwin.operators.store_spec import ONE_SLICE, StoreSpec, layout_of
from sqlwin.operators.weights import SIGN, split, there, weighed
from sqlwin.polars_frames import PLACE
from sqlwin.schema import POSITION, TS, WEIGHT
from sqlwin.state.combine import last_written
from sqlwin.state.slices import ENDLESS, slice_width

ORDERED = "ordered"
CERTAIN, FIXED, CLOSED = "__certain", "__fixed", "__closed"
BEFORE, NEW, RANK = "__before", "__new", "__rank"
"""NEW: of a row that has changed: it is one of the batch, and not only its number is another."""

COUNTERS: dict[str, int] = {COUNT: 0, CERTAIN: 0, FIXED: 0, CLOSED: 1}


@dataclass(frozen=True)
class Ordering:
    """carried: columns of a row, those of its partition among them. side: of a join."""

    partition: tuple[str, ...]
    carried: dict[str, pl.DataType]
    side: str = ""

    @property
    def rows(self) -> str:
        """The store of rows."""
        return f"{self.side}_{ORDERED}" if self.side else ORDERED

    @property
    def counted(self) -> str:
        """The store of counts."""
        return f"{self.side}_{STORE}" if self.side else STORE

    def stores(self, retain: int | None) -> list[StoreSpec]:
        """retain: for how long a number may change; None: for ever."""
        width = slice_width(ENDLESS if retain is None else retain)
        rows = layout_of(self.rows, self.row, self.partition, POSITION, width)
        counts = layout_of(self.counted, self.counters, self.partition, (AT,), ONE_SLICE)
        of = "each key" if self.partition else "all keys"
        return [
            StoreSpec(rows, last_written(rows), "rows with their numbers", pins=True),
            StoreSpec(counts, last_written(counts), f"rows of {of}"),
        ]

    @property
    def row(self) -> dict[str, pl.DataType]:
        """The columns of a record of `ordered`."""
        return {**self.carried, **PLACE, NUMBER: pl.Int64(), **SIGN}

    @property
    def counters(self) -> dict[str, pl.DataType]:
        """The columns of a record of `counts`."""
        keys = {name: self.carried[name] for name in self.partition}
        return {**keys, AT: pl.Int64(), **dict.fromkeys(COUNTERS, pl.Int64())}

    @property
    def by(self) -> list[str]:
        return [*self.partition, AT]

    def change(self, batch: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Take rows with weights. Gives what that changes: rows with weights, their place,
        `__number` and `__new`.
        """
        keys = batch.select(self.partition).unique() if self.partition else None
        since: int = batch[TS].min()  # type: ignore[assignment]
        was = _at(there(stores[self.rows].scan(since, END, keys)))
        removed, arrived = (_at(rows.select(*self.carried, *POSITION)) for rows in split(batch))
        on = [*POSITION, *self.by]
        known = pl.concat([removed.select(on), arrived.select(on)])
        left = was.join(known, on=on, how="semi", nulls_equal=True)
        stays = was.join(known, on=on, how="anti", nulls_equal=True)
        now = self._numbered(stays, arrived, was, stores)
        moved = now.filter(NEW | (pl.col(RANK) != pl.col(NUMBER)))
        old = moved.filter(~pl.col(NEW)).select(was.columns)
        self._put(left, moved, stores)
        self._count(left, arrived, stores)
        fresh = pl.lit(True).alias(NEW)
        parts = (
            weighed(left.with_columns(fresh), -1),
            weighed(old.with_columns(~fresh), -1),
            weighed(moved.with_columns(pl.col(RANK).alias(NUMBER)), 1),
        )
        columns = (*self.carried, *PLACE, NUMBER, WEIGHT, NEW)
        return pl.concat(part.select(columns) for part in parts)

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        """The rows that are not evicted, by their event time."""
        return between.stored(stores[self.rows]).select(*self.carried, *POSITION)

    def counts(self, stores: Stores) -> pl.DataFrame:
        return everything(stores, self.counted)

    def with_counts(self, frame: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """`frame` with the counters of its partitions; those without one are as at the start."""
        first = [pl.col(name).fill_null(value) for name, value in COUNTERS.items()]
        return self.beside(frame, self.counts(stores), "left").with_columns(first)

    def beside(
        self, frame: pl.DataFrame, counts: pl.DataFrame, how: Literal["left", "inner"] = "inner"
    ) -> pl.DataFrame:
        """`frame` with what `counts` has of its partitions."""
        found = _at(frame).join(
            counts, on=self.by, how=how, nulls_equal=True, maintain_order="left"
        )
        return found.drop(AT)

    def pass_by(self, watermark: int, stores: Stores) -> None:
        """Rows before the watermark are complete from now on."""
        rows = there(stores[self.rows].scan(stores.watermark, watermark))
        self._add(rows, CERTAIN, stores)

    def rise(self, stores: Stores) -> pl.DataFrame:
        """The partitions that have more complete rows than ever, with their counters, and
        `__before`: what `__closed` was."""
        more = self.counts(stores).filter(pl.col(CERTAIN) >= pl.col(CLOSED))
        risen = more.with_columns(pl.col(CLOSED).alias(BEFORE), (pl.col(CERTAIN) + 1).alias(CLOSED))
        stores[self.counted].put(risen.select(*self.counters))
        return risen

    def fix(self, horizon: int, stores: Stores) -> pl.DataFrame:
        """Let go of the rows before `horizon`; the counters of partitions that had some."""
        rows = there(stores[self.rows].scan(START, horizon))
        stores[self.rows].expire(horizon)
        return self._add(rows, FIXED, stores)

    def _numbered(
        self, stays: pl.DataFrame, arrived: pl.DataFrame, was: pl.DataFrame, stores: Stores
    ) -> pl.DataFrame:
        """All rows since the first that changes, with `__rank`, their number from now on."""
        both = pl.concat(
            [
                stays.drop(WEIGHT, strict=False).with_columns(pl.lit(False).alias(NEW)),
                arrived.with_columns(pl.lit(True).alias(NEW)),
            ],
            how="diagonal",
        ).sort(POSITION)
        first = was.group_by(self.by).agg((pl.col(NUMBER).min() - 1).alias(BEFORE))
        counted = self.counts(stores).select(*self.by, COUNT)
        known = both.join(first, on=self.by, how="left", nulls_equal=True, maintain_order="left")
        known = known.join(counted, on=self.by, how="left", nulls_equal=True, maintain_order="left")
        before = pl.coalesce(BEFORE, COUNT, pl.lit(0, pl.Int64))
        rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(self.by)
        return known.with_columns((before + rank).alias(RANK)).drop(BEFORE, COUNT)

    def _put(self, left: pl.DataFrame, moved: pl.DataFrame, stores: Stores) -> None:
        records = moved.with_columns(pl.col(RANK).alias(NUMBER))
        parts = (weighed(left, -1), weighed(records, 1))  # one may come in the place of another
        stores[self.rows].put(pl.concat(part.select(*self.row) for part in parts))

    def _count(self, left: pl.DataFrame, arrived: pl.DataFrame, stores: Stores) -> None:
        more = pl.concat(
            [
                arrived.select(*self.by, TS, pl.lit(1, pl.Int64).alias(NEW)),
                left.select(*self.by, TS, pl.lit(-1, pl.Int64).alias(NEW)),
            ]
        )
        complete = pl.when(pl.col(TS) < stores.watermark).then(NEW).otherwise(0).sum()
        added = more.group_by(self.by).agg(pl.col(NEW).sum(), complete.alias(RANK))
        counted = self.with_counts(added, stores).with_columns(
            pl.lit(0, pl.Int64).alias(AT),
            pl.col(COUNT) + pl.col(NEW),
            pl.col(CERTAIN) + pl.col(RANK),
        )
        stores[self.counted].put(counted.select(*self.counters))

    def _add(self, rows: pl.DataFrame, counter: str, stores: Stores) -> pl.DataFrame:
        if rows.is_empty():
            return self.counts(stores).clear()
        added = _at(rows).group_by(self.by).agg(pl.len().cast(pl.Int64).alias(NEW))
        counted = self.with_counts(added, stores).with_columns(
            pl.lit(0, pl.Int64).alias(AT), pl.col(counter) + pl.col(NEW)
        )
        stores[self.counted].put(counted.select(*self.counters))
        return counted.select(*self.counters)


def _at(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.lit(0, pl.Int64).alias(AT))


def by_number(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `change` whose `__ts` is their number."""
    return rows.with_columns(pl.col(NUMBER).alias(TS)).drop(NUMBER)
