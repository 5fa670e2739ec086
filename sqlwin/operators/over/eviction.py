"""What leaves an OVER operator's stores when retention is over.

A row is retired when its frames were full at its horizon (see `row_horizons`). What the
frames of later rows want lies at most `reach` before the horizon, or is among the last
rows of a partition: so the row store drops whole slices before that, and the
history keeps what of them is left to keep.

Invariant: see `base_sums` and `history`: no row is lost, none counted twice. What is
put elsewhere and what is dropped are the rows before one and the same edge.

Worked example, LAG(x), RETAIN 2 MINUTES, slices of a minute, watermark 9:05:30: the
horizon is 9:03:30, the edge 9:03. Rows before it leave; the last of each partition goes
to the history.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.instants import START
from sqlwin.kernels.frames import Ints
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.schema import STORE as REVISIONS
from sqlwin.operators.over.base_sums import ROWS, stored
from sqlwin.operators.over.fullness import DONE, Fullness
from sqlwin.operators.over.history import IN, OLD_ROW, VALUE
from sqlwin.operators.over.reading import Reading, placed
from sqlwin.operators.over.row_horizons import ROW_HORIZON, RowHorizons
from sqlwin.polars_frames import where
from sqlwin.schema import POSITION, TS
from sqlwin.state.contract import HORIZON
from sqlwin.state.records import least

ENOUGH = 10_000
"""A history of more rows is written anew only when half as many leave."""
WAITS, GOES, KNOWN, LEAST = "__waits", "__goes", "__known.", "__least"


@dataclass(frozen=True)
class Leaving:
    row_horizons: RowHorizons
    fullness: Fullness
    reading: Reading

    @property
    def reach(self) -> int:
        """How far before its horizon a row may be wanted by the frames of others."""
        return self.fullness.after + self.reading.groups.reach

    def retired(self, records: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Records of retired rows, which are emitted for the last time."""
        if records.is_empty() or self._ends_never:
            return records.clear()
        mark = np.asarray(self.row_horizons.of(records, stores)) - self.fullness.after
        timed = records.filter(pl.Series(records[TS].to_numpy() < mark))
        if not self.fullness.counting:
            return timed
        return timed.join(self._waiting(stores), on=list(POSITION), how="anti")

    def lasting(self, results: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those that are not evicted: a row may come for the frames of later ones alone.

        Not where rows to follow, or of a key, are counted: there it is judged by its own time.
        """
        own = self._ends_never or bool(self.fullness.counting) or self.row_horizons.by_rows
        if results.is_empty() or own:
            return results
        mark = np.asarray(self.row_horizons.of(results, stores)) - self.fullness.after
        return results.filter(pl.Series(results[TS].to_numpy() >= mark))

    def join(self, late: pl.DataFrame, stores: Stores) -> None:
        """Rows that come when their slice has gone already: they are of what is kept of it.

        late: of the row store's columns, in any order, none of them there already.
        """
        if late.is_empty() or least(late.get_column(TS)) >= stores[ROWS].horizon:
            return
        late = where(late, late[TS] < stores[ROWS].horizon)
        history = self.reading.history
        added = history.joining(late.select(*self.reading.columns), stores)
        for sums in self.reading.sums:
            mark = f"{IN}{sums.group.number}"
            sums.bury(added.filter(~pl.col(mark)) if mark in added.columns else added, stores)

    def kept(self, lo: int, hi: int, stores: Stores) -> pl.DataFrame:
        """The rows with lo <= ts < hi that are not retired, in order."""
        if not self.fullness.counting:
            rows = stored(stores, lo, hi)
        else:
            rows = self.reading.all_rows(stores).filter(pl.col(TS) >= lo, pl.col(TS) < hi)
        removed = self.retired(rows, stores).select(POSITION)
        return rows.join(removed, on=list(POSITION), how="anti", maintain_order="left")

    def leave(self, stores: Stores) -> None:
        """Drop what only retired rows need; what waited of them was emitted."""
        if self._ends_never:
            return
        self._forget(stores)
        if self._passes(stores) and self._move(stores):
            for name in (ROWS, *(s.base for s in self.reading.sums if s.folds and s.sliced)):
                self._drop(name, stores)

    def _passes(self, stores: Stores) -> bool:
        """Whether anything may go: of frames in RANGE, if the horizon has passed a time slice."""
        if self.row_horizons.keyed or self.reading.history.deep:
            return True
        edge = self.row_horizons.of_all(stores) - self.reach
        return stores[ROWS].layout.slice_of(edge) > stores[ROWS].horizon

    @property
    def _ends_never(self) -> bool:
        return self.fullness.never or not self.row_horizons.any

    def _waiting(self, stores: Stores) -> pl.DataFrame:
        """Rows that are not retired."""
        rows = self.reading.all_rows(stores)
        return rows.filter(pl.Series(~self.fullness.at(rows, self.row_horizons.of(rows, stores))))

    # What moves before it would go.

    def _move(self, stores: Stores) -> bool:
        """Put what goes, and is wanted, elsewhere; False: that does not pay yet."""
        history, sums = self.reading.history, self.reading.sums
        if not history.deep and not any(each.folds for each in sums):
            return True
        rows = stored(stores, START, stores.watermark - self.reach)
        leaving = where(rows, pl.Series(rows[TS].to_numpy() < self._edges(rows, stores)))
        if leaving.is_empty() or not history.deep:
            for group_sums in sums:
                group_sums.bury(leaving, stores)
            return True
        held = len(history.rows(stores))
        if held > ENOUGH and 2 * len(leaving) < held:
            return False
        before = self._final(self._going(leaving, stores), stores)
        after = history.marked(before)
        for group_sums in sums:
            group_sums.bury(_gone(before, after, group_sums.group.number), stores)
        history.keep(after, after[WAITS].to_numpy(), stores)
        return True

    def _edges(self, rows: pl.DataFrame, stores: Stores) -> int | Ints:
        width = self.reading.width
        return (self.row_horizons.of(rows, stores) - self.reach) // width * width

    def _going(self, leaving: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The history and what joins it: `__waits`, whether not retired, and done calls.

        Whatever `__goes` is from now on of every group; what joins ahead of that of none.
        """
        rows = self.reading.all_rows(stores)
        row_horizons = self.row_horizons.of(rows, stores)
        done = self.fullness.each(rows, row_horizons)
        rows = rows.with_columns(
            pl.Series(WAITS, ~self.fullness.at(rows, row_horizons)),
            *(pl.col(DONE + name).fill_null(False).alias(KNOWN + name) for name in done),
        ).with_columns(pl.Series(DONE + name, mask) for name, mask in done.items())
        goes = leaving.select(*POSITION, pl.lit(True).alias(GOES))
        emitted = rows.join(goes, on=list(POSITION), how="left", maintain_order="left")
        emitted = emitted.with_columns(pl.col(GOES).fill_null(False))
        marks = [f"{IN}{group.number}" for group in self.reading.history.deep]
        return emitted.filter(
            pl.col(OLD_ROW) | pl.col(GOES) | self._ahead(emitted, row_horizons)
        ).with_columns(
            (pl.col(GOES) | (pl.col(mark) & pl.col(OLD_ROW))).alias(mark) for mark in marks
        )

    def _ahead(self, rows: pl.DataFrame, row_horizons: int | Ints) -> pl.Series:
        """Rows that wait and stay, while rows that their RANGE frames held go."""
        timed = rows[TS].to_numpy() < np.asarray(row_horizons) - self.fullness.after
        return rows[WAITS] & pl.Series(timed & (self.reading.groups.reach > 0))

    def _final(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Rows that wait get the values of those calls that are done now and were not before."""
        for call in self.reading.history.valued:
            counting = DONE + call.name in rows.columns
            known = pl.col(KNOWN + call.name) if counting else pl.col(OLD_ROW)
            done = pl.col(DONE + call.name) if counting else pl.lit(True)
            for old in (True, False):
                wanted = pl.col(WAITS) & done & ~known & (pl.col(OLD_ROW) == old)
                mask = rows.select(wanted).to_series()
                found = self.reading.value(rows.filter(mask), call, stores)
                values = placed(rows[VALUE + call.name], mask.to_numpy(), found)
                rows = rows.with_columns(values)
        return rows

    # What goes.

    def _forget(self, stores: Stores) -> None:
        """Drop the records of retired rows; of rows that wait all are kept, however old."""
        records, after = stores[REVISIONS], self.fullness.after
        if records.scan(START, stores.watermark - after).is_empty():
            return
        waiting = self._waiting(stores) if self.fullness.counting else None
        if self.row_horizons.keyed:
            records.cut(self._forgotten(waiting, stores))
        edge = self.row_horizons.of_all(stores) - after
        if waiting is not None and len(waiting):
            edge = min(edge, int(waiting[TS].min()))  # type: ignore[arg-type]
        records.expire(edge)

    def _forgotten(self, waiting: pl.DataFrame | None, stores: Stores) -> pl.DataFrame:
        horizons = self.row_horizons.of_keys(stores)
        if horizons.is_empty():
            return horizons.rename({ROW_HORIZON: HORIZON})
        edge = pl.col(ROW_HORIZON) - self.fullness.after
        if waiting is not None:
            keys = list(self.row_horizons.buckets)
            least = waiting.group_by(keys).agg(pl.col(TS).min().alias(LEAST))
            horizons = horizons.join(least, on=keys, how="left", nulls_equal=True)
            edge = pl.min_horizontal(edge, LEAST)
        return horizons.select(*self.row_horizons.buckets, _possible(edge))

    def _drop(self, name: str, stores: Stores) -> None:
        width = self.reading.width
        if self.row_horizons.keyed:
            edge = (pl.col(ROW_HORIZON) - self.reach) // width * width
            row_horizons = self.row_horizons.of_keys(stores)
            if len(row_horizons):
                stores[name].cut(row_horizons.select(*self.row_horizons.buckets, _possible(edge)))
        stores[name].expire((self.row_horizons.of_all(stores) - self.reach) // width * width)


def _gone(before: pl.DataFrame, after: pl.DataFrame, number: int) -> pl.DataFrame:
    """The rows that no store but the past has for a group from now on."""
    name = f"{IN}{number}"
    if name not in before.columns:  # it has no history
        return before.filter(pl.col(GOES))
    return before.filter(before[name] & ~after[name])


def _possible(horizon: pl.Expr) -> pl.Expr:
    return pl.max_horizontal(horizon, pl.lit(START, pl.Int64)).alias(HORIZON)
