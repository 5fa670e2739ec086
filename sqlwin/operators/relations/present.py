"""RSTREAM of a relation that is given by its changes: the whole relation, whenever it changes.

A change is a row that says whether it enters or leaves, by what it is known, and, as its event
time, when. Once the watermark is past an instant all its changes have come; then every row
that is there is emitted, `+I`, known by what it is and the instant.

| store | record                                                 |
|-------|--------------------------------------------------------|
| rows  | changes of rows that are there, or that wait           |

Worked example: x enters at 10, y at 12, x leaves at 15: x; x and y; y.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.frames import Frames, Ints
from sqlwin.kernels.gather import chunks
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.relations.changes import INSTANT, ROWS, Entering
from sqlwin.operators.relations.joined import inserted
from sqlwin.operators.relations.staying_side import AT
from sqlwin.operators.relations.stays import ENTERS, LEAVES, staying
from sqlwin.operators.store_spec import ONE_SLICE, StoreSpec, layout_of
from sqlwin.polars_frames import PLACE
from sqlwin.schema import POSITION, TS
from sqlwin.state.combine import last_written
from sqlwin.windows.stays import Stay


@dataclass(frozen=True)
class PresentRows(Entering):
    """carried: the input columns. stay: of changes. instant: what it is called in the output."""

    carried: dict[str, pl.DataType]
    stay: Stay
    instant: str | None = None

    @property
    def output(self) -> dict[str, pl.DataType]:
        named = {} if self.instant is None else {self.instant: AT}
        return {**self.carried, **named}

    def stores(self) -> list[StoreSpec]:
        layout = layout_of(ROWS, {**self.carried, **PLACE}, (), POSITION, ONE_SLICE)
        return [StoreSpec(layout, last_written(layout), "changes of rows that are there, or wait")]

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        stores[ROWS].put(batch)
        return self.nothing()

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        before, after = stores.watermark, max(stores.watermark, watermark)
        stores.watermark = after
        return self._passed(before, after, stores) if before < after else self.nothing()

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        """All instants pass; of another run these rows are no part."""
        out = self._passed(stores.watermark, END, stores)
        stores[ROWS].erase(stores[ROWS].scan(START, END).select(POSITION))
        return out

    def _passed(self, lo: int, hi: int, stores: Stores) -> pl.DataFrame:
        """The relation at each of its instants, `lo <= instant < hi`."""
        rows = staying(stores[ROWS].scan(START, hi), self.stay)
        ts = rows[TS].to_numpy()
        instants = np.unique(ts[ts >= lo])
        if not len(instants):
            return self.nothing()
        out = self._there(rows, instants)
        gone = rows.filter(pl.col(LEAVES) < hi).select(POSITION)
        if len(gone):
            stores[ROWS].erase(gone)
        return out

    def _there(self, rows: pl.DataFrame, instants: Ints) -> pl.DataFrame:
        """At each instant the rows that are there, each a row of its own."""
        held = rows.filter(pl.col(ENTERS) < pl.col(LEAVES))
        first, last = (
            np.searchsorted(instants, held[edge].to_numpy(), side="left")
            for edge in (ENTERS, LEAVES)
        )
        found = [held.clear().with_columns(pl.lit(0, pl.Int64).alias(INSTANT))]
        for chunk in chunks(Frames(first, last)):
            at = pl.Series(INSTANT, instants[chunk.index], pl.Int64)
            found.append(held[chunk.frames][chunk.owner].with_columns(at))
        every = pl.concat(found).sort(INSTANT, *POSITION)
        instant = pl.from_epoch(INSTANT, time_unit="us").dt.replace_time_zone("UTC")
        named = [] if self.instant is None else [instant.alias(self.instant)]
        known = every.with_columns(instant.alias(INSTANT), *named)
        return known.select(*self.output, *inserted(self.stay.partition[0], INSTANT))
