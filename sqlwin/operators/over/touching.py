"""Which windows a batch touches: those whose frames hold other rows than before.

Under RANGE these lie within the frames' length of a new row. Under ROWS and GROUPS they lie
within so many rows of its partition, so all rows there are looked at; as they are in an order
that does not begin with event time. A row whose
followers a late row completes has become full, and is touched even where its frame
leaves those out.

Worked example, ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING, rows at 1, 2, 4, 5 and then
one at 3: touched are the new one, and those at 2 and 4, which hold it now.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.positions import which
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.emitter.schema import ADDED, FINAL
from sqlwin.operators.over.base_sums import ROWS, stored
from sqlwin.operators.over.framing import changed
from sqlwin.operators.over.fullness import Fullness
from sqlwin.operators.over.history import OLD_ROW
from sqlwin.operators.over.reading import Reading
from sqlwin.polars_frames import empty
from sqlwin.schema import POSITION, TS
from sqlwin.windows import Unit

NEW = "__new"
HELD, FILLED, NOW_FULL = "__held", "__filled", "__now_full"
GONE, LEFT, REOPENED = "__gone", "__left", "__reopened"


@dataclass(frozen=True)
class Touching:
    """identity: of a window; per_instant: which peers share. enough: new rows that decide."""

    identity: tuple[str, ...]
    reading: Reading
    fullness: Fullness
    per_instant: bool
    enough: int

    def touched(self, batch: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Identity, `__added`, `__final`, `__held`, `__filled` and `__reopened` of windows; `batch`
        is not stored yet.

        `__held`: it was full and there. `__filled`: it waited for rows to follow, and late
        ones came, so that it is full now. `__reopened`: it was full, and is not with a late row,
        which makes its session longer.
        """
        if batch.is_empty():
            types = stores[ROWS].layout.schema
            known = {name: types[name] for name in self.identity}
            booleans = dict.fromkeys((FINAL, HELD, FILLED, REOPENED), pl.Boolean())
            return empty({**known, ADDED: pl.Int64(), **booleans})
        old = self._near(batch, stores).with_columns(pl.lit(False).alias(NEW))
        arrived = self.reading.history.extended(batch) if OLD_ROW in old.columns else batch
        flags = [pl.lit(True).alias(NEW), pl.lit(False).alias(OLD_ROW)]
        rows = pl.concat([old, arrived.with_columns(flags).select(old.columns)]).sort(POSITION)
        new = rows[NEW].to_numpy()
        hit, added = changed(rows, new, self.reading.groups.calls, TS, self.enough)
        full, was = self.fullness.at(rows, stores.watermark), np.zeros(len(rows), dtype=np.bool_)
        was[~new] = self.fullness.at(rows.filter(~pl.col(NEW)), stores.watermark)
        marks = {HELD: was, FILLED: full & ~was & ~new, REOPENED: was & ~full}
        return self._emitted(rows, hit | (full & ~was), added, full, marks)

    def retracted(self, removed: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The same of stored rows that are to go. `__final`: as of before; `__filled`: it was,
        and lacks rows to follow from then on. And `__now_full`: once they are gone; `__gone`: it
        is the window of one of them; `__left`: it was not full and is now: of one of them for all
        that time has to say, of another as its session is shorter.
        """
        rows = self._near(removed, stores)
        out = which(rows, removed)
        hit, added = changed(rows, out, self.reading.groups.calls, TS)
        was, full = self.fullness.at(rows, stores.watermark), np.zeros(len(rows), dtype=np.bool_)
        full[~out] = self.fullness.at(rows.filter(pl.Series(~out)), stores.watermark)
        full[out] = self.fullness.timed(rows.filter(pl.Series(out)), stores.watermark)
        marks = {HELD: was, FILLED: was & ~full, NOW_FULL: full, GONE: out, LEFT: full & ~was}
        return self._emitted(rows, hit | (was != full), added, was, marks)

    def _emitted(
        self,
        rows: pl.DataFrame,
        hit: np.ndarray,
        added: np.ndarray,
        final: np.ndarray,
        marks: dict[str, np.ndarray],
    ) -> pl.DataFrame:
        emitted = rows.select(
            *self.identity,
            pl.Series(ADDED, added, dtype=pl.Int64),
            pl.Series(FINAL, final, dtype=pl.Boolean),
            *(pl.Series(name, mark, dtype=pl.Boolean) for name, mark in marks.items()),
        ).filter(pl.Series(hit))
        if not self.per_instant:
            return emitted
        # of peers the old ones say whether their window was emitted
        return emitted.group_by(self.identity).agg(pl.col(ADDED, FINAL, *marks).max())

    def _near(self, batch: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Rows that may be touched, in order."""
        calls = self.reading.groups.calls
        frames = [call.frame.in_time for call in calls]
        if any(f.unit is not Unit.RANGE for f in frames) or not all(c.timed for c in calls):
            return self._of_partition(self.reading.all_rows(stores), batch)
        lo, hi = bounds(batch[TS])
        after = [frame.preceding for frame in frames]
        until = END if None in after else hi + max(a for a in after if a is not None)
        since = START if self.fullness.never else lo - self.fullness.after
        return stored(stores, since, max(until, hi))

    def _of_partition(self, rows: pl.DataFrame, batch: pl.DataFrame) -> pl.DataFrame:
        """Those of the batch's partitions, where all calls have the same."""
        first, *others = dict.fromkeys(group.partition for group in self.reading.groups.each)
        if others or not first:
            return rows
        on = list(first)
        keys = batch.select(on).unique()
        return rows.join(keys, on=on, how="semi", nulls_equal=True, maintain_order="left")
