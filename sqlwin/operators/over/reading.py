"""Values of rows: which rows and sums their frames need, read from the stores.

For RANGE that is what lies within `reach` before them and `after` behind. For ROWS
each partition's rows are read since the slice that holds its `back`-th row before
those, for GROUPS its `instants_back`-th instant, for sessions the last row behind a pause; where
that row is in the history, all of them. What an unbounded frame held before its partition's first
row comes as a base, and each row counts once.

A row of the history is read with all rows of its partition, and only for the calls
whose frames were not full when its time was over; the history has the other values.

Worked example, ROWS 2 PRECEDING by k, slices of a minute: rows of a at 0:10, 0:50,
1:30, of b at 0:20, are read for a row of each at 3:05. Since 3:00 there is nothing
else. The second row of a back is of slice 0:00, so all of a since then is read; b
has fewer than two, so all of b is.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.columns import beside
from sqlwin.kernels.frames import Mask
from sqlwin.kernels.positions import which
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.over.base_sums import ALL, FROM, BaseSums, stored
from sqlwin.operators.over.framing import FrameCall, evaluate
from sqlwin.operators.over.fullness import DONE
from sqlwin.operators.over.history import OLD_ROW, VALUE, History
from sqlwin.operators.over.partition_groups import PartitionGroup, PartitionGroups
from sqlwin.polars_frames import PLACE
from sqlwin.schema import POSITION, TS

Context = tuple[pl.DataFrame, pl.DataFrame | None]

_NTH, _FIRST = "__n", "__first"


@dataclass(frozen=True)
class Reading:
    """carried: columns of a row. width: of a slice of the row store. weighted: see `weights`."""

    stream: str
    carried: dict[str, pl.DataType]
    groups: PartitionGroups
    width: int
    weighted: bool = False

    @cached_property
    def history(self) -> History:
        return History(self.groups, self.carried)

    @cached_property
    def sums(self) -> tuple[BaseSums, ...]:
        kept = (self.carried, self.width, self.weighted)
        return tuple(BaseSums(group, *kept) for group in self.groups.each)

    @property
    def columns(self) -> list[str]:
        return [*self.carried, *PLACE]

    def all_rows(self, stores: Stores) -> pl.DataFrame:
        """Every row that is in a store, in order, in the history's form, with `__old_row`."""
        kept = self.history.extended(stored(stores))
        kept = kept.with_columns(pl.lit(False).alias(OLD_ROW))
        old = self.history.rows(stores).with_columns(pl.lit(True).alias(OLD_ROW))
        if old.is_empty():
            return kept
        other = kept.join(old, on=list(POSITION), how="anti", maintain_order="left")
        return pl.concat([old.select(kept.columns), other]).sort(POSITION)

    def values(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """`rows`, in order, with the value of every call; of the history's those with `extra`."""
        if OLD_ROW not in rows.columns or not rows[OLD_ROW].any():
            found = self._recent(rows, self.groups.calls, stores)
            return beside(rows, *(values.alias(name) for name, values in found.items()))
        recent = rows.filter(~pl.col(OLD_ROW))
        recent = recent.with_columns(**self._recent(recent, self.groups.calls, stores))
        old = rows.filter(OLD_ROW)
        old = old.with_columns(**self._old_values(old, stores))
        return pl.concat([old, recent.select(old.columns)]).sort(POSITION)

    def value(self, rows: pl.DataFrame, call: FrameCall, stores: Stores) -> pl.Series:
        """Of one call, for `rows` all of the history or none."""
        if rows.is_empty():
            return pl.Series(call.name, [], call.dtype)
        read = self._old if rows[OLD_ROW][0] else self._recent
        return read(rows, (call,), stores)[call.name]

    # Rows whose time slice is there.

    def _recent(
        self, rows: pl.DataFrame, calls: tuple[FrameCall, ...], stores: Stores
    ) -> dict[str, pl.Series]:
        if rows.is_empty():
            return {call.name: pl.Series(call.name, [], call.dtype) for call in calls}
        since = self._since(int(rows[TS][0]))
        main = stored(stores, since, self._until(int(rows[TS][-1])))
        out: dict[str, pl.Series] = {}
        for group in self.groups.each:
            shared = tuple(call for call in calls if call in group.calls)
            if shared:
                context = self._context(group, rows, main, since, stores)
                out |= self._evaluated(rows, shared, context)
        return out

    def _since(self, first: int) -> int:
        """From where all rows are read, for rows since `first`."""
        if self.groups.kept:
            return START
        since = first - self.groups.reach
        sliced = any(group.based or group.looks_back for group in self.groups.each)
        return since // self.width * self.width if sliced else since

    def _until(self, last: int) -> int:
        if self.groups.kept or any(group.looks_ahead for group in self.groups.each):
            return END
        return last + self.groups.after + 1

    def _context(
        self,
        group: PartitionGroup,
        rows: pl.DataFrame,
        main: pl.DataFrame,
        since: int,
        stores: Stores,
    ) -> Context:
        """The rows that the group's frames of `rows` need, and the base of what comes before."""
        if not (group.looks_back or group.based) or group.kept:
            return main, None
        starts = _keys(group, rows).with_columns(pl.lit(since, pl.Int64).alias(FROM))
        held = self._held(group, starts, stores)
        if group.looks_back:
            older = self._older(group, starts, held, since, stores)
            starts = self._starts(group, starts, older)
            first = pl.col(_FIRST).is_null() | (pl.col(FROM) >= pl.col(_FIRST))
            emitted = _matched(group, older, starts.rename({FROM: _FIRST}))
            main = pl.concat([emitted.filter(first.fill_null(False)).select(main.columns), main])
        return main, self.sums[group.number].before(starts, held, stores)

    def _held(self, group: PartitionGroup, keys: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        held = self.history.of(group, self.history.rows(stores)).select(self.columns)
        return _matched(group, held, keys.drop(FROM, strict=False))

    def _older(
        self,
        group: PartitionGroup,
        keys: pl.DataFrame,
        held: pl.DataFrame,
        since: int,
        stores: Stores,
    ) -> pl.DataFrame:
        """Rows of the partitions before `since`, with their slices; NULL: of the history."""
        slices = (pl.col(TS) // self.width * self.width).alias(FROM)
        kept = _matched(group, stored(stores, START, since), keys.drop(FROM))
        before = held.with_columns(pl.lit(None, pl.Int64).alias(FROM))
        return pl.concat([before, kept.with_columns(slices).select(before.columns)])

    def _starts(
        self, group: PartitionGroup, keys: pl.DataFrame, older: pl.DataFrame
    ) -> pl.DataFrame:
        """Partitions and the slice since which each is read, NULL for all of it."""
        by: list[str | pl.Expr] = [*group.partition] or [pl.lit(0).alias(ALL)]
        starts = older.group_by(by).agg(_nth_slice(group).alias(FROM))
        if not group.partition:
            return starts.select(FROM) if len(starts) else _everything()
        return keys.drop(FROM).join(starts, on=group.partition, how="left", nulls_equal=True)

    # Rows of the history.

    def _old_values(self, rows: pl.DataFrame, stores: Stores) -> dict[str, pl.Series]:
        values = {call.name: rows[VALUE + call.name] for call in self.groups.calls}
        for call in self.groups.counting:
            open_ = ~rows[DONE + call.name].fill_null(False)
            if open_.any():
                found = self._old(rows.filter(open_), (call,), stores)[call.name]
                values[call.name] = placed(values[call.name], open_.to_numpy(), found)
        return values

    def _old(
        self, rows: pl.DataFrame, calls: tuple[FrameCall, ...], stores: Stores
    ) -> dict[str, pl.Series]:
        (group,) = (group for group in self.groups.each if calls[0] in group.calls)
        keys = _keys(group, rows)
        kept = _matched(group, stored(stores), keys)
        held = self._held(group, keys, stores)
        starts = keys.with_columns(pl.lit(None, pl.Int64).alias(FROM))
        base = self.sums[group.number].before(starts, held, stores)
        return self._evaluated(rows, calls, (pl.concat([held, kept.select(held.columns)]), base))

    def _evaluated(
        self, rows: pl.DataFrame, calls: tuple[FrameCall, ...], context: Context
    ) -> dict[str, pl.Series]:
        around, base = context
        return evaluate(around, calls, which(around, rows), TS, self.stream, base)


def _nth_slice(group: PartitionGroup) -> pl.Expr:
    """Of the rows of a partition the slice of the one that is so far back; NULL where there are
    fewer, or it is of the history."""
    counted: list[pl.Expr] = []
    if group.back:
        row = pl.col(FROM).tail(group.back).first()
        counted.append(pl.when(pl.len() >= group.back).then(row))
    if group.instants_back:
        instant = pl.col(TS).rank("dense", descending=True) == group.instants_back
        counted.append(pl.col(FROM).filter(instant).first())
    for call in group.sessions:
        paused = pl.col(TS).diff() > call.frame.preceding
        counted.append(pl.col(FROM).filter(paused).last())
    known = pl.all_horizontal(each.is_not_null() for each in counted)
    return pl.when(known).then(pl.min_horizontal(counted))


def placed(values: pl.Series, where: Mask, found: pl.Series) -> pl.Series:
    """`values` with `found`, in order, where the mask is true."""
    at = np.cumsum(where) - 1
    taken = found.gather(np.maximum(at, 0)) if len(found) else values
    return pl.select(
        pl.when(pl.Series(where)).then(taken).otherwise(values).alias(values.name)
    ).to_series()


def _keys(group: PartitionGroup, rows: pl.DataFrame) -> pl.DataFrame:
    """The partitions of `rows`; one line without columns where there is but one."""
    if not group.partition:
        return _everything().drop(FROM)
    return rows.select(group.partition).unique()


def _everything() -> pl.DataFrame:
    return pl.DataFrame({FROM: [None]}, schema={FROM: pl.Int64})


def _matched(group: PartitionGroup, rows: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    """Rows of some partitions, with the other columns of `keys`, in their order."""
    on = list(group.partition)
    if not on:
        return rows.with_columns(pl.lit(keys[n][0], t).alias(n) for n, t in keys.schema.items())
    return rows.join(keys, on=on, how="inner", nulls_equal=True, maintain_order="left")
