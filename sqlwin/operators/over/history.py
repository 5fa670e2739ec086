"""The rows that frames still want after their time slice has gone.

`ROWS n PRECEDING` looks back n rows of the partition, however old; a row that waits
for its followers is itself that old, with a frame behind it. When the row store
drops what is before some instant, the history keeps

- for each group with ROWS frames the last `depth` rows of each partition, marked
  `__in.<group>` (with all of their instant, where a frame leaves out peers), of one with frames in
  GROUPS the rows of its last `instants`, of one with sessions those whose session is not over, and
- every row that waits. Of a call whose frame was full by then, it keeps the value,
  `__value.<call>`: what that frame held may go. Of the others, `__done.<call>` is
  false, and the row is in their group, with all that its frame holds.

A row that waits comes here as soon as its RANGE frames are full, for the rows in them
may go before it does; until it goes itself, it is in the row store too, and of no
group here.

It is written anew each time, as the next `__generation`, and the one before expires.

Invariant: a group's rows of a partition here are its last ones below all that the
row store holds; those before them are in `past` (see `base_sums`).

Worked example, LAG(x) and LEAD(x) by k, so depth 2: rows of a at 1, 2, 3 leave. Those
at 2 and 3 stay, and the one at 3 waits: LAG of it is full, its value is kept. When a row
at 90 comes, the one at 3 is emitted with it and the value.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.kernels.frames import Mask
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.over.framing import FrameCall
from sqlwin.operators.over.fullness import DONE
from sqlwin.operators.over.partition_groups import PartitionGroup, PartitionGroups
from sqlwin.polars_frames import PLACE
from sqlwin.schema import POSITION, TS

STORE = "history"
GENERATION, IN, VALUE = "__generation", "__in.", "__value."
OLD_ROW, _NTH = "__old_row", "__n"
"""Whether a row is of the history; a column beside the row's own."""


@dataclass(frozen=True)
class History:
    """carried: columns of a row."""

    groups: PartitionGroups
    carried: dict[str, pl.DataType]

    @property
    def deep(self) -> tuple[PartitionGroup, ...]:
        return tuple(group for group in self.groups.each if group.deep)

    @property
    def valued(self) -> tuple[FrameCall, ...]:
        """The calls whose values are kept: all, where any row may wait."""
        return self.groups.calls if self.groups.counting else ()

    @property
    def extra(self) -> dict[str, pl.DataType]:
        marks: dict[str, pl.DataType] = {f"{IN}{s.number}": pl.Boolean() for s in self.deep}
        done: dict[str, pl.DataType] = {DONE + c.name: pl.Boolean() for c in self.groups.counting}
        return {**marks, **done, **{VALUE + c.name: c.dtype for c in self.valued}}

    @property
    def columns(self) -> dict[str, pl.DataType]:
        return {GENERATION: pl.Int64(), **PLACE, **self.carried, **self.extra}

    def rows(self, stores: Stores) -> pl.DataFrame:
        """All of them, in order, with the extra columns."""
        if not self.deep:
            return pl.DataFrame(schema=self.columns).drop(GENERATION)
        return everything(stores, STORE).drop(GENERATION)

    def of(self, group: PartitionGroup, rows: pl.DataFrame) -> pl.DataFrame:
        """Those of `rows` that are the group's: the last of each partition."""
        if not group.deep:
            return rows.clear()
        return rows.filter(pl.col(f"{IN}{group.number}").fill_null(False))

    def extended(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of the row store in the form of `rows`; they are of every group."""
        marks = {name for name in self.extra if name.startswith(IN)}
        return rows.with_columns(
            pl.lit(True if name in marks else None, dtype).alias(name)
            for name, dtype in self.extra.items()
        )

    def marked(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows, of before and leaving now, in order: whose last ones they are from now on."""
        return rows.with_columns(
            (pl.col(f"{IN}{group.number}") & self._last(rows, group)).alias(f"{IN}{group.number}")
            for group in self.deep
        )

    def joining(self, late: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Put late rows among those of before, if they are in a group; gives them, marked.

        A row is of a group if it is one of the last `depth`, or behind one that is there: so those
        there stay the last ones without a gap. What is too many leaves with the next slice.
        """
        if not self.deep:
            return late
        old = self.rows(stores).with_columns(pl.lit(True).alias(OLD_ROW))
        added = self.extended(late).with_columns(pl.lit(False).alias(OLD_ROW))
        rows = pl.concat([old, added.select(old.columns)]).sort(*POSITION)
        marked = rows.with_columns(
            (pl.col(mark) & (self._last(rows, group) | self._behind(group))).alias(mark)
            for group in self.deep
            for mark in [f"{IN}{group.number}"]
        ).filter(~pl.col(OLD_ROW))
        within = marked.filter(pl.any_horizontal(f"{IN}{s.number}" for s in self.deep))
        generation = pl.lit(max(stores[STORE].horizon, 0), pl.Int64).alias(GENERATION)
        stores[STORE].put(within.with_columns(generation).select(*self.columns))
        return marked

    def _behind(self, group: PartitionGroup) -> pl.Expr:
        """Whether a row of the group's history is before, or is it."""
        held = (pl.col(f"{IN}{group.number}") & pl.col(OLD_ROW)).cum_max()
        return held.over(group.partition) if group.partition else held

    def keep(self, rows: pl.DataFrame, waiting: Mask, stores: Stores) -> None:
        """From now on these `rows` (marked) are the history, if of a group or waiting."""
        shared = rows.select(
            pl.any_horizontal(pl.lit(False), *(f"{IN}{s.number}" for s in self.deep))
        ).to_series()
        kept = rows.filter(pl.Series(shared.to_numpy() | waiting))
        generation = max(stores[STORE].horizon, 0) + 1
        numbered = kept.with_columns(pl.lit(generation, pl.Int64).alias(GENERATION))
        stores[STORE].put(numbered.select(*self.columns))
        stores[STORE].expire(generation)

    def _last(self, rows: pl.DataFrame, group: PartitionGroup) -> pl.Series:
        """Whether a row is within the last `depth` of the group's rows of its partition, of its
        last `instants`, or of a session that is not over."""
        own = rows.with_row_index(_NTH).filter(pl.col(f"{IN}{group.number}"))
        by = list(group.partition)
        behind = pl.len() - pl.int_range(pl.len())
        edge = pl.col(TS).tail(group.depth).min()
        last = pl.col(TS) >= edge if group.peers else behind <= group.depth
        if group.instants:
            instants = pl.col(TS).rank("dense", descending=True)
            last = last.fill_null(False) | (instants <= group.instants)
        for call in group.sessions:
            last = last | ~pl.col(DONE + call.name).fill_null(False)
        kept = own.filter(last.over(by) if by else last)[_NTH]
        mask = np.zeros(len(rows), dtype=np.bool_)
        mask[kept.to_numpy()] = True
        return pl.Series(mask)
