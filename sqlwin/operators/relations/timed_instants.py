"""RSTREAM of a relation of time, `RSTREAM(S [RANGE r])`: the whole relation, whenever it changes.

A row x is there from x to x + r, or `until` an instant of its own, as a pair is that leaves with
the first of its rows. So the relation changes at x, as x enters, and a microsecond after x + r, as
x has left. At each such *instant* every row that is there is emitted, `+I`, as a
row of its own, known by its position and the instant; nothing is ever updated.

A row that came late, but within retention, is emitted with each instant that holds it, and its
own two instants come with all rows that they hold, unless they were instants before. So what has
been emitted by a watermark does not depend on the order and the cuts of the batches.

| store | record                                                                |
|-------|-----------------------------------------------------------------------|
| rows  | the row and its position; whether an end of input had it leave        |

Invariant: rows are kept for as long as a late row may share an instant with them: `length + 1`
beyond retention.

Worked example, r = 2 s: rows of 10 s and 11 s. At 10 s the first is emitted, at 11 s both, at
12.000001 s the second, and at 13.000001 s nothing is left.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.frames import Frames, Ints
from sqlwin.kernels.gather import chunks
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.emitter.schema import WORD
from sqlwin.operators.load import Load, Records
from sqlwin.operators.relations.changes import INSTANT, LEFT, ROWS, STAGE, WAITS, Entering, there_at
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.polars_frames import PLACE
from sqlwin.schema import POSITION, TS
from sqlwin.state.combine import last_written
from sqlwin.state.slices import ENDLESS, slice_width

AT: pl.DataType = pl.Datetime("us", "UTC")


@dataclass(frozen=True)
class TimedInstants(Entering):
    """carried: the input columns. length, retain: microseconds; retain None: for ever.

    until: the column of the instant, in microseconds, at which a row has left, at most `reach`
    after it enters; None: that. instant: what the instant is called in the output.
    """

    stream: str
    carried: dict[str, pl.DataType]
    length: int
    retain: int | None
    until: str | None = None
    instant: str | None = None

    @property
    def output(self) -> dict[str, pl.DataType]:
        named = {} if self.instant is None else {self.instant: AT}
        return {**self.carried, **named}

    @property
    def reach(self) -> int:
        """How long after it enters a row has left."""
        return self.length + 1

    def stores(self) -> list[StoreSpec]:
        stays = self.reach * 2 + (ENDLESS if self.retain is None else self.retain)
        width = slice_width(stays)
        columns = {**self.carried, **PLACE, STAGE: pl.Int8()}

        def expected(load: Load) -> Records:
            return load.added(load.delays[0] + stays + width)

        layout = layout_of(ROWS, columns, (), POSITION, width)
        words = "rows that wait, or share an instant with a late one"
        return [StoreSpec(layout, last_written(layout), words, expected)]

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        at, new = stores.watermark, batch.filter(pl.col(TS) <= stores.watermark)
        out = self._joined_late(new, at, stores)
        stores[ROWS].put(batch.with_columns(pl.lit(WAITS, pl.Int8).alias(STAGE)))
        return out

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        before, after = stores.watermark, max(stores.watermark, watermark)
        stores.watermark = after
        if after == before:
            return self.nothing()
        out = self._passed(before, after, stores)
        if self.retain is not None:
            stores[ROWS].expire(after - self.retain - self.reach)
        return out

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        """The watermark is as if infinite; of another run these rows are no part."""
        out = self._passed(stores.watermark, END, stores)
        rest = stores[ROWS].scan(START, END).with_columns(pl.lit(LEFT, pl.Int8).alias(STAGE))
        stores[ROWS].put(rest)
        return out

    def _passed(self, before: int, after: int, stores: Stores) -> pl.DataFrame:
        rows = self._kept(before - self.reach + 1, after + 1, stores)
        instants = self._instants(rows)
        passed = instants[(before < instants) & (instants <= after)]
        return self._emitted([self._there(rows, passed)], START)

    def _joined_late(self, new: pl.DataFrame, at: int, stores: Stores) -> pl.DataFrame:
        """Rows of a batch that is not stored yet, by whose instants the watermark has passed."""
        if new.is_empty():
            return self.nothing()
        lo, hi = bounds(new[TS])
        old = self._kept(lo - self.reach, hi + self.reach, stores)
        every = pl.concat([old, new.select(old.columns)])
        known, all_ = self._instants(old), self._instants(every)
        made = np.setdiff1d(all_, known)
        parts = [
            self._there(every, made[made <= at]),
            self._there(new.select(old.columns), known[known <= at]),
        ]
        return self._emitted(parts, at)

    def _kept(self, lo: int, hi: int, stores: Stores) -> pl.DataFrame:
        found = stores[ROWS].scan(max(lo, START), min(hi, END)).filter(pl.col(STAGE) == WAITS)
        return found.select(*self.carried, *POSITION)

    def _instants(self, rows: pl.DataFrame) -> Ints:
        leaves = rows.select(self._leaves.alias(INSTANT))[INSTANT]
        return np.unique(np.concatenate([rows[TS].to_numpy(), leaves.to_numpy()]))

    @property
    def _leaves(self) -> pl.Expr:
        return pl.col(TS) + self.reach if self.until is None else pl.col(self.until)

    def _there(self, rows: pl.DataFrame, instants: Ints) -> pl.DataFrame:
        """The rows that are there at each of some instants, with `__at`.

        Those within reach are found first, for they stand side by side.
        """
        rows = rows.sort(*POSITION)
        ts = rows[TS].to_numpy()
        frames = Frames(
            np.searchsorted(ts, instants - self.length, side="left"),
            np.searchsorted(ts, instants, side="right"),
        )
        none = rows.clear().with_columns(pl.lit(0, pl.Int64).alias(INSTANT))
        parts = [
            rows[chunk.index].with_columns(
                pl.Series(INSTANT, instants[chunk.frames][chunk.owner], pl.Int64)
            )
            for chunk in chunks(frames)
        ]
        near = pl.concat([none, *parts])
        return near if self.until is None else near.filter(pl.col(INSTANT) < self._leaves)

    def _emitted(self, parts: list[pl.DataFrame], late: int) -> pl.DataFrame:
        """late: instants before it were passed already."""
        rows = pl.concat(parts).sort(INSTANT, *POSITION)
        if rows.is_empty():
            return self.nothing()
        word = pl.when(pl.col(INSTANT) < late).then(pl.lit("late")).otherwise(pl.lit("full"))
        instant = pl.from_epoch(INSTANT, time_unit="us").dt.replace_time_zone("UTC")
        named = [] if self.instant is None else [instant.alias(self.instant)]
        known = rows.with_columns(word.alias(WORD), instant.alias(INSTANT), *named)
        return there_at(known, self.stream, self.output, {INSTANT: AT})
