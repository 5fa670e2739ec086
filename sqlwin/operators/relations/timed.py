"""A relation of time, `S [RANGE r]`: at each instant t the rows of t - r up to t.

The instant is the watermark: a row enters as the watermark reaches it and leaves as the
watermark passes its event time + r. With `slide` the relation changes at multiples of it
alone: from one to the next it holds the rows of `[slide - r, slide)`.

A row that came late, but within retention, enters at once; if its time is over already, it
leaves at once as well. So after each watermark the rows that have entered and not left are
the relation of that instant, whatever the order and the cuts of the batches.

| store | record                                              |
|-------|-----------------------------------------------------|
| rows  | the row and its position; whether an end of input had it leave |

Invariant: a stored row has entered iff its event time is at most `_reached(w, 0)`, and left
iff it is at most `_reached(w, r) - 1`, `w` being the watermark; those that left are evicted.

Worked example, r = 2 s: a row of 10 s waits until the watermark is 10 s, `+I`; it is still
in at 12 s, and leaves, `-D`, with the first watermark above.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.schema import WORD
from sqlwin.operators.relations.changes import (
    INSTANT,
    LEFT,
    ROWS,
    STAGE,
    WAITS,
    Entering,
    changed,
    entering,
)
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.polars_frames import PLACE
from sqlwin.schema import OP, PART, POSITION, SEQ, TS
from sqlwin.state.slices import slice_width


@dataclass(frozen=True)
class TimedRelation(Entering):
    """carried: the input columns. length, slide: microseconds; slide None: each instant."""

    stream: str
    carried: dict[str, pl.DataType]
    length: int
    slide: int | None = None

    @property
    def columns(self) -> dict[str, pl.DataType]:
        """Of a record."""
        return {**self.carried, **PLACE, STAGE: pl.Int8()}

    def stores(self) -> list[StoreSpec]:
        stays = self.length + (self.slide or 0)
        return [entering(self.columns, slice_width(self.length), stays)]

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        at = stores.watermark
        stores[ROWS].put(batch.with_columns(pl.lit(WAITS, pl.Int8).alias(STAGE)))
        late = pl.when(pl.col(TS) < at).then(pl.lit("late")).otherwise(pl.lit("full"))
        come = batch.filter(pl.col(TS) <= self._entered(at)).with_columns(late.alias(WORD))
        return self._changes(come, come.filter(pl.col(TS) <= self._left(at)))

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        before, after = stores.watermark, max(stores.watermark, watermark)
        stores.watermark = after
        if after == before:
            return self.nothing()
        out = self._passed(before, after, stores)
        stores[ROWS].expire(self._left(after) + 1)
        return out

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        """The watermark is as if infinite; rows may still come, in another run, for they are
        after it."""
        out = self._passed(stores.watermark, END, stores)
        rest = stores[ROWS].scan(START, END).with_columns(pl.lit(LEFT, pl.Int8).alias(STAGE))
        stores[ROWS].put(rest)
        return out

    def _entered(self, watermark: int) -> int:
        """The greatest event time of rows that have entered."""
        return watermark if self.slide is None else watermark // self.slide * self.slide - 1

    def _left(self, watermark: int) -> int:
        """The greatest event time of rows that have left."""
        return self._entered(watermark) - self.length - (self.slide is None)

    def _passed(self, before: int, after: int, stores: Stores) -> pl.DataFrame:
        full = pl.lit("full").alias(WORD)
        waits = pl.col(STAGE) == WAITS
        come, removed = (
            stores[ROWS].scan(reached(before) + 1, reached(after) + 1).filter(waits)
            for reached in (self._entered, self._left)
        )
        return self._changes(come.with_columns(full), removed.with_columns(full))

    def _changes(self, come: pl.DataFrame, removed: pl.DataFrame) -> pl.DataFrame:
        """In the order of the instants at which they happen."""
        if come.is_empty() and removed.is_empty():
            return self.nothing()
        length = self.length + (self.slide is None)
        parts = [
            changed(rows, self.stream, self.carried, op).with_columns(self._at(after))
            for rows, op, after in ((come, "+I", 0), (removed, "-D", length))
        ]
        ordered = pl.concat(parts).sort(INSTANT, TS, PART, SEQ, OP, maintain_order=True)
        return ordered.drop(INSTANT, *POSITION)

    def _at(self, after: int) -> pl.Expr:
        """The instant at which a row has been there for so long."""
        at = pl.col(TS) + after
        return (at if self.slide is None else (at // self.slide + 1) * self.slide).alias(INSTANT)
