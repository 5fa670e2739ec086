"""The rows that a ranking holds, in slots, and what each partition waits to emit.

A record of `top` is live iff its slot is below the `__held` of its partition; the rows take the
slots 0, 1, … in their order, newest write last.

| store      | record                                                     |
|------------|------------------------------------------------------------|
| `top`      | partition, slot: row, position, `__sent`, `__revision`     |
| `rankings` | partition: `__at`, `__held`, `__due`, `__pending`          |

`__sent` is the place last emitted, NULL where there was none, `__revision` the revision. Which rows
are held: see `operator`.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.standings import Standing, number_within
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.kernel import due
from sqlwin.operators.emitter.schema import DUE, PENDING
from sqlwin.operators.load import Load, Records
from sqlwin.operators.store_spec import ONE_SLICE, StoreSpec, layout_of
from sqlwin.operators.top_n.changes import SENT, THERE, TopChanges
from sqlwin.operators.windows.counting import Counting
from sqlwin.polars_frames import PLACE
from sqlwin.policies import Policy
from sqlwin.schema import POSITION, REVISION, TS
from sqlwin.state.combine import last_written
from sqlwin.state.slices import slice_width

TOP, RANKINGS = "top", "rankings"
SLOT = "__slot"
AT, HELD = "__at", "__held"
CAME, NEW = "__came", "__new"
INT: pl.DataType = pl.Int64()


@dataclass(frozen=True)
class HeldRows(Counting):
    """carried: the input columns and their dtypes. name: of the column of places.

    Where the policy has no EARLY, nothing goes out before the end of input or a TIMEOUT.
    weighted: rows may be retracted. becomes_final: all rows of a partition have one event time,
    and the policy a RETAIN.
    """

    stream: str
    carried: dict[str, pl.DataType]
    name: str
    standing: Standing
    limit: int
    policy: Policy
    update_before: bool = False
    weighted: bool = False
    becomes_final: bool = False

    def __post_init__(self) -> None:
        if self.policy.retain_rows is not None:
            raise ValueError("RETAIN n ROWS counts rows, and a first n does not")

    @cached_property
    def changing(self) -> TopChanges:
        return TopChanges(self.carried, self.name, self.partition)

    @property
    def partition(self) -> tuple[str, ...]:
        return self.standing.partition

    @property
    def output(self) -> dict[str, pl.DataType]:
        return {**self.carried, self.name: INT}

    @property
    def top_columns(self) -> dict[str, pl.DataType]:
        own = {**self.carried, **PLACE, SLOT: INT, SENT: INT, REVISION: pl.Int32()}
        return {**own, **(self.changing.columns if self.weighted else {})}

    @property
    def ranking_columns(self) -> dict[str, pl.DataType]:
        keys = {key: self.carried[key] for key in self.partition}
        return {**keys, AT: INT, HELD: INT, DUE: INT, PENDING: INT}

    def stores(self) -> list[StoreSpec]:
        order: tuple[str, ...] = (SLOT,)
        width = ONE_SLICE
        if self.becomes_final:
            order, width = (TS, SLOT), slice_width(self.policy.retain or 0)
        top = layout_of(TOP, self.top_columns, self.partition, order, width)
        rankings = layout_of(RANKINGS, self.ranking_columns, self.partition, (AT,), width)
        rows = "rows" if self.weighted else "the first rows"
        words = (f"{rows} of each partition", "what each partition waits to emit")
        return [
            StoreSpec(top, last_written(top), words[0], self._slots),
            StoreSpec(rankings, last_written(rankings), words[1], self._partitions),
        ]

    def _slots(self, load: Load) -> Records:
        """As many again are in slots that are held no more."""
        return 2 * self.limit * self._partitions(load)

    def _partitions(self, load: Load) -> float:
        return load.keys_if(bool(self.partition))

    def _touched(self, batch: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The rankings of the batch's partitions, and how many rows `__came` for each."""
        known = self._joined(self._counted(batch, CAME), everything(stores, RANKINGS))
        return known.with_columns(pl.col(HELD, PENDING).fill_null(0))

    def _held(self, rankings: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        keys = rankings.select(self.partition) if self.partition else None
        top = stores[TOP].scan(START, END, keys).with_columns(self._at)
        counted = self._joined(top, rankings.select(*self.partition, AT, HELD))
        return counted.filter(pl.col(SLOT) < pl.col(HELD)).select(*self.top_columns)

    def _waiting(self, rankings: pl.DataFrame, kept: pl.DataFrame, now: int) -> pl.DataFrame:
        """The rankings as this batch leaves them; those it leaves alone are left out."""
        entered = self._counted(kept.filter(NEW), NEW)
        waiting = pl.col(PENDING) + pl.col(CAME)
        noted = self._joined(rankings, entered).with_columns(waiting.alias(PENDING))
        due_now = due(self.policy, pl.lit(False), now)
        if self.policy.early_rows:
            return noted.with_columns(due_now)
        changed = pl.col(NEW).is_not_null()
        if not self.weighted:  # nothing that is held has changed
            noted = noted.filter(changed)
        return noted.with_columns(pl.when(changed).then(due_now).otherwise(DUE).alias(DUE))

    def _keep(self, kept: pl.DataFrame, rankings: pl.DataFrame, stores: Stores) -> None:
        """Write the rows of these rankings into their first slots, and the rankings."""
        slot = number_within(self.partition) - 1
        written = kept.with_columns(slot.alias(SLOT), self._at)
        keys = [*self.partition, AT]
        ours = written.join(rankings.select(keys), on=keys, how="semi", nulls_equal=True)
        stores[TOP].put(ours.select(*self.top_columns))
        held = self._joined(rankings.drop(HELD), self._counted(ours, HELD))
        full = held.with_columns(pl.col(HELD).fill_null(0)).select(*self.ranking_columns)
        stores[RANKINGS].put(full)
        stores.pending = pl.Series([stores.pending, full[DUE].min()], dtype=INT).min()  # type: ignore[assignment]

    def _counted(self, rows: pl.DataFrame, name: str) -> pl.DataFrame:
        grouped = rows.with_columns(self._at).group_by(AT, *self.partition)
        return grouped.agg(pl.len().cast(INT).alias(name))

    def _joined(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        keys = [*self.partition, AT]
        return left.join(right, on=keys, how="left", nulls_equal=True, maintain_order="left")

    def _placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        return self.standing.of(rows, self.name, POSITION)

    def _all_placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Those that are no more have no place."""
        if not self.weighted:
            return self._placed(rows)
        there = self._placed(rows.filter(THERE))
        removed = rows.filter(~pl.col(THERE)).with_columns(pl.lit(None, INT).alias(self.name))
        both = pl.concat([there, removed.select(there.columns)])
        return both.sort(self.partition, maintain_order=True) if self.partition else both

    @property
    def _at(self) -> pl.Expr:
        """When a partition is: the instant of its rows, or none."""
        return (pl.col(TS) if self.becomes_final else pl.lit(0, INT)).alias(AT)

    @property
    def _within(self) -> pl.Expr:
        return (pl.col(self.name) <= self.limit).fill_null(False)
