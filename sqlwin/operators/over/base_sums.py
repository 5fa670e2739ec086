"""What an UNBOUNDED frame holds of rows that are not read: accumulators, not rows.

| store     | record                              | combined by |
|-----------|-------------------------------------|-------------|
| `base<n>` | partition, `__slice`, accumulators  | merging     |
| `past<n>` | partition, `__slice` 0, accumulators | merging    |

n: the number of the group (the calls of one partition). `base` has the rows of each
time slice of the row store, as they came; a late row is merged into its slice, and one
that is retracted taken out of it. Where accumulators are not invertible and rows may
be retracted, there is no `base`: what it would have is lifted from the row store. The same where
the order has further keys and an accumulator holds positions: rows of one instant, which come in
several batches, are put in order together. In `past` they are together as well: whole slices of the
row store leave, and whole instants of the history.
`past` has the rows that are in no store any more.

Invariant: a row of a partition is in the row store and in `base`, or in the group's
history, or in `past`; in one of the three. So what came before slice s of the row
store is, each row once, past + history + base of slices below s; and to read all
rows, those of history among them, leaves past.

Worked example, COUNT(*) over UNBOUNDED PRECEDING, slices of a minute: rows at 0:10,
0:50, 1:30 leave base {0:00: 2, 1:00: 1}. A row at 2:05 is read with the rows since
2:00; its base is 3, its count 4. Retention passes 1:00: base {1:00: 1}, past 2.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.folds import Fold
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.over.ordering import renumbered, sorted_rows
from sqlwin.operators.over.partition_groups import PartitionGroup
from sqlwin.operators.weights import there
from sqlwin.polars_frames import PLACE, empty
from sqlwin.schema import POSITION, TS

ROWS = "rows"
SLICE = "__slice"
ALL = "__all"
FROM = "__from"
"""Of a partition: the slice since which its rows are read, NULL where all are."""


@dataclass(frozen=True)
class BaseSums:
    """Of one group. carried: columns of a row. width: of a slice of the row store."""

    group: PartitionGroup
    carried: dict[str, pl.DataType]
    width: int
    weighted: bool = False

    @property
    def sliced(self) -> bool:
        """Whether there is a `base`."""
        if self._renumbers:
            return False
        return not self.weighted or all(fold.invertible for fold in self.folds)

    @property
    def _renumbers(self) -> bool:
        return bool(self.group.order) and any(fold.placed for fold in self.folds)

    @property
    def base(self) -> str:
        return f"base{self.group.number}"

    @property
    def past(self) -> str:
        return f"past{self.group.number}"

    @property
    def folds(self) -> tuple[Fold, ...]:
        return tuple(call.fold for call in self.group.based)

    @property
    def columns(self) -> dict[str, pl.DataType]:
        """Of a record of either store."""
        rows = empty({**self.carried, **PLACE})
        return dict(self._lifted(rows, pl.col(TS)).schema)

    def put(self, rows: pl.DataFrame, stores: Stores) -> None:
        """Rows came into the row store."""
        if self.folds and self.sliced:
            stores[self.base].put(self._lifted(rows, self._slice))

    def retract(self, rows: pl.DataFrame, stores: Stores) -> None:
        """Rows of the row store are no more."""
        if self.folds and self.sliced:
            negated = [expr for fold in self.folds for expr in fold.negated()]
            stores[self.base].put(self._lifted(rows, self._slice).with_columns(negated))

    @property
    def _slice(self) -> pl.Expr:
        return pl.col(TS) // self.width * self.width

    def bury(self, rows: pl.DataFrame, stores: Stores) -> None:
        """Rows left the row store, or the history."""
        if self.folds and len(rows):
            stores[self.past].put(self._lifted(rows, pl.lit(0, pl.Int64)))

    def before(
        self, starts: pl.DataFrame, held: pl.DataFrame, stores: Stores
    ) -> pl.DataFrame | None:
        """The partition's columns and accumulators of all that came before what is read.

        starts: partitions and `__from`. held: the group's history.
        """
        if not self.folds:
            return None
        keys = starts.select(self.group.partition) if self.group.partition else None
        since = starts.filter(pl.col(FROM).is_not_null())
        parts = [stores[self.past].scan(0, 1, keys)]
        if len(since):
            until = int(since[FROM].max())  # type: ignore[arg-type]
            base = self._base(until, keys, stores)
            parts.append(self._of(base, since).filter(pl.col(SLICE) < pl.col(FROM)).drop(FROM))
            parts.append(self._lifted(self._of(held, since).drop(FROM), pl.lit(0, pl.Int64)))
        return self._merged(pl.concat([part.select(parts[0].columns) for part in parts]))

    def _base(self, until: int, keys: pl.DataFrame | None, stores: Stores) -> pl.DataFrame:
        if self.sliced:
            return stores[self.base].scan(START, until, keys)
        return self._lifted(there(stores[ROWS].scan(START, until)), self._slice)

    def _of(self, records: pl.DataFrame, starts: pl.DataFrame) -> pl.DataFrame:
        """Records of some partitions, with their `__from`."""
        on = list(self.group.partition)
        if not on:
            return records.with_columns(pl.lit(starts[FROM][0], pl.Int64).alias(FROM))
        return records.join(starts, on=on, how="inner", nulls_equal=True, maintain_order="left")

    def _lifted(self, rows: pl.DataFrame, slice_: pl.Expr) -> pl.DataFrame:
        """rows: in any order; accumulators by partition and slice."""
        order = self.group.order
        inputs = (n for f in self.folds for n in (*f.call.inputs, *(key.column for key in order)))
        lifts = [expr for fold in self.folds for expr in fold.lift()]
        ordered = sorted_rows(
            rows.select(sorted({*self.group.partition, *POSITION, *inputs})), order
        )
        ordered = renumbered(ordered) if self._renumbers else ordered
        return ordered.group_by(*self.group.partition, slice_.alias(SLICE)).agg(lifts)

    def _merged(self, records: pl.DataFrame) -> pl.DataFrame:
        merges = [expr for fold in self.folds for expr in fold.merge()]
        by: list[str | pl.Expr] = [*self.group.partition] or [pl.lit(0).alias(ALL)]
        return records.group_by(by).agg(merges)


def stored(stores: Stores, lo: int = START, hi: int = END) -> pl.DataFrame:
    """Rows of the row store, in order, that were not retracted."""
    return there(stores[ROWS].scan(lo, hi))
