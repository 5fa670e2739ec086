"""OVER frames: a window for each row, kept with the row in time slices.

A row is emitted when the watermark is past its instant, since a row at the
watermark is not late. A late row goes into the frames of rows that were emitted
already; those, and only those, are emitted again. Which they are is asked of
the frames themselves: a row is affected iff its frame counts a late row.

The row store keeps every row that a frame of a correctable row may hold. A RANGE
frame of r needs the rows of the last r before retention; a ROWS frame of n needs
the last n rows of each partition before retention, however old: those move to
the history store when their time slice goes.

Invariant: each row before `closed` was emitted, or waits in the revision store;
row store and history hold no position twice.

Worked example, RANGE 2 minutes, watermark 9:05, all rows up to 9:04 emitted: a
row of 9:01 comes. It is late, and so emitted as revision 0 of its own; rows of
9:01 to 9:03 hold it and go out as revision 1; a row of 9:04 does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from sqlwin.instants import END
from sqlwin.operators.changes import CHANGE_SCHEMA, OLD, WAS, changes, row_key
from sqlwin.operators.contract import Stores
from sqlwin.operators.correcting import Correcting
from sqlwin.operators.framing import Call, evaluate, holding
from sqlwin.operators.history import History
from sqlwin.operators.revisions import Revisions, bounds
from sqlwin.policies import Late, Policy
from sqlwin.schema import PART, POSITION, ROW_KEY, SEQ, TS
from sqlwin.windows import Unit

ROWS = "rows"
INSTANT = pl.Datetime("us", "UTC")
STREAM, NEW = "__stream", "__new"


@dataclass(frozen=True)
class OverAggregator(Correcting):
    """carried: the input columns and their dtypes. slice_width: of the row store, microseconds.

    per_instant: the rows of one partition and instant make one window, known by
    (partition, start, end); it needs all calls to share partition and frame.
    """

    stream: str
    carried: dict[str, pl.DataType]
    calls: tuple[Call, ...]
    policy: Policy
    slice_width: int
    per_instant: bool = False
    withdraw: bool = False

    @property
    def identity(self) -> tuple[str, ...]:
        return (*self.calls[0].partition, TS) if self.per_instant else POSITION

    @property
    def output(self) -> dict[str, pl.DataType]:
        window = {"window_start": INSTANT, "window_end": INSTANT} if self.per_instant else {}
        return {**self.carried, **window, **{c.name: c.dtype for c in self.calls}}

    @property
    def revisions(self) -> Revisions:
        remembered = (*self.carried, *(c.name for c in self.calls)) if self.withdraw else ()
        return Revisions(self.identity, TS, remembered)

    @cached_property
    def history(self) -> History:
        return History(
            tuple((c.partition, c.frame) for c in self.calls if c.frame.unit is Unit.ROWS)
        )

    @cached_property
    def reach(self) -> int:
        """How far a RANGE frame looks back; rows before that matter to ROWS frames only."""
        return max((c.frame.preceding for c in self.calls if c.frame.unit is Unit.RANGE), default=0)

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.select(*self.carried, *POSITION)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        late = batch.filter(pl.col(TS) < stores.closed)
        if late.is_empty() or self.policy.late is Late.NEVER:
            stores[ROWS].put(batch)
            return self.nothing()
        touched = self._touched(late, stores)
        stores[ROWS].put(batch)
        self.revisions.touch(touched, stores, now)
        if self.policy.late is Late.ON_UPDATE:
            return self._correct(self.revisions.due(stores), stores)
        return self.nothing()

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        if watermark <= stores.closed:
            return self.nothing()
        full = self._emit_full(stores, watermark)
        self.revisions.settle(full.filter(pl.col(WAS) >= 0), stores)
        stores.closed = watermark
        return pl.concat([self._changes(full, "full"), self._retire(watermark, stores)])

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        corrected = self._correct(self.revisions.due(stores), stores)
        known = self._emit_full(stores, END)
        self.revisions.settle(known, stores)
        return pl.concat([corrected, self._changes(known, "full")])

    # What goes out.

    def _emit_full(self, stores: Stores, watermark: int) -> pl.DataFrame:
        rows = self._rows(stores, stores.closed, watermark)
        open_ = (rows[TS] >= stores.closed).to_numpy()
        return self.revisions.was(self._values(rows, open_), stores, otherwise=-1)

    def _correct(self, due: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if due.is_empty():
            return self.nothing()
        known = self.revisions.was(self._values_of(due, stores), stores, otherwise=-1)
        self.revisions.settle(known, stores)
        return self._changes(known, "late")

    def _retire(self, watermark: int, stores: Stores) -> pl.DataFrame:
        """Drop whole slices out of retention; first emit what still waits there."""
        horizon = watermark - self.policy.retain
        leaving = self.revisions.due(stores).filter(pl.col(TS) < horizon)
        last = self._correct(leaving, stores)
        before = (horizon - self.reach) // self.slice_width * self.slice_width
        self.history.keep(stores, before)
        stores[ROWS].expire(before)
        stores["revisions"].expire(horizon)
        return last

    def _changes(self, known: pl.DataFrame, emit: str) -> pl.DataFrame:
        ordered = known.sort(TS, PART, SEQ)
        keyed = ordered.with_columns(self._row_key(ordered))
        return changes(keyed, emit, self.withdraw).select(*self.output, *CHANGE_SCHEMA)

    def _row_key(self, rows: pl.DataFrame) -> pl.Expr:
        if self.per_instant:
            names = (*self.calls[0].partition, "window_start", "window_end")
            return row_key({name: rows.schema[name] for name in names})
        position = row_key({PART: rows.schema[PART], SEQ: rows.schema[SEQ]})
        source = pl.Series([self.stream]).to_frame(STREAM).select(row_key({STREAM: pl.String()}))
        return pl.concat_str([pl.lit(source.item()[:-1] + ","), position.str.slice(1)]).alias(
            ROW_KEY
        )

    # From rows to frames.

    def _touched(self, late: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Identities, `__was` and old values of the emitted rows that hold a late row, and of
        the late rows themselves, which were never emitted (`__was` -1)."""
        lo, hi = bounds(late[TS])
        ranged = all(c.frame.unit is Unit.RANGE for c in self.calls)
        upper = min(stores.closed, hi + self.reach) if ranged else stores.closed
        held = stores[ROWS].scan(lo, upper).with_columns(pl.lit(False).alias(NEW))
        fresh = late.with_columns(pl.lit(True).alias(NEW)).select(held.columns)
        both = pl.concat([held, fresh]).sort(POSITION)
        hit = both.filter(holding(both, self.calls, both[NEW].to_numpy(), TS))
        ids = hit.group_by(self.identity).agg(pl.col(NEW).all())
        was = pl.when(NEW).then(-1).otherwise(0).cast(pl.Int32).alias(WAS)
        return self._remember(ids.select(*self.identity, was), stores)

    def _remember(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if not self.withdraw:
            return ids
        old = self._values_of(ids.filter(pl.col(WAS) >= 0), stores)
        renamed = old.select(
            *self.identity, *(pl.col(c).alias(OLD + c) for c in self.revisions.remembered)
        )
        return ids.join(renamed, on=list(self.identity), how="left", nulls_equal=True)

    def _rows(self, stores: Stores, lo: int, hi: int) -> pl.DataFrame:
        """The rows of lo <= ts < hi, before them all that their frames reach, in order."""
        if not self.history.frames:
            return stores[ROWS].scan(lo - self.reach, hi)
        kept = stores[ROWS].scan(-(2**63), hi)
        return pl.concat([self.history.rows(stores).select(kept.columns), kept])

    def _values_of(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if ids.is_empty():
            nothing = stores[ROWS].scan(0, 0)
            return self._values(nothing, np.zeros(0, dtype=bool))
        rows = self._rows(stores, *bounds(ids[TS])).with_row_index("__at")
        wanted = rows.join(ids, on=list(self.identity), how="semi", nulls_equal=True)["__at"]
        mask = np.zeros(len(rows), dtype=bool)
        mask[wanted.to_numpy()] = True
        return self._values(rows.drop("__at"), mask)

    def _values(self, rows: pl.DataFrame, wanted: np.ndarray) -> pl.DataFrame:
        """The wanted rows with the value of each call; one row a window where per_instant."""
        if self.per_instant:
            wanted = wanted & self._last_peers(rows)
        columns = evaluate(rows, self.calls, wanted, TS, self.stream)
        out = rows.filter(wanted).with_columns(**columns)
        return out.with_columns(*self._window()) if self.per_instant else out

    def _window(self) -> list[pl.Expr]:
        start = pl.col(TS) - self.calls[0].frame.preceding
        return [
            start.cast(INSTANT).alias("window_start"),
            pl.col(TS).cast(INSTANT).alias("window_end"),
        ]

    def _last_peers(self, rows: pl.DataFrame) -> np.ndarray:
        if rows.is_empty():
            return np.zeros(0, dtype=bool)
        return (
            rows.with_row_index("__at")
            .sort(POSITION)
            .with_columns(
                (pl.col("__at") == pl.col("__at").last().over(*self.identity)).alias("__last")
            )
            .sort("__at")["__last"]
            .to_numpy()
        )
