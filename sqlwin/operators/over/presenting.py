"""Results of OVER as they go out: the row of each window with its values, and its row key.

A window is known by the place of its row, or, where the rows of one partition and instant make
one window, by the partition and the window's edges; its row is the last of these peers.

Worked example, RANGE 2 minutes, one window for the rows of an instant: two rows of 9:05 are
emitted as one, from 9:03 to 9:05, with the columns of the later one.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from sqlwin.kernels.positions import places
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.emitter.changes import row_key, row_key_at
from sqlwin.operators.over.base_sums import stored
from sqlwin.operators.over.framing import FrameCall
from sqlwin.operators.over.reading import Reading
from sqlwin.polars_frames import INSTANT, dropped
from sqlwin.schema import PART, POSITION, SEQ, TS


@dataclass(frozen=True)
class Presenting:
    """identity: of a window. per_instant: whether peers are one."""

    identity: tuple[str, ...]
    reading: Reading
    per_instant: bool

    @cached_property
    def call(self) -> FrameCall:
        """Where peers are one window, the frame and the partition of all calls."""
        return self.reading.groups.calls[0]

    def identities(self, rows: pl.DataFrame) -> pl.DataFrame:
        known = rows[list(self.identity)]
        return known.unique(maintain_order=True) if self.per_instant else known

    def valued(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """As `Results.valued`."""
        valued = self.reading.values(self._rows_of(ids, stores), stores)
        return valued.with_columns(*self._window()) if self.per_instant else valued

    def _rows_of(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The row of each window, in order; of peers that make one window the last."""
        on = list(self.identity)
        if self.reading.groups.counting:
            found = self.reading.all_rows(stores)
            rows = found.join(windows.select(on), on=on, how="semi", nulls_equal=True)
            rows = rows.sort(POSITION)
        else:
            rows = stored(stores, *bounds(windows[TS]))
        if self.per_instant:
            rows = rows.unique(on, keep="last", maintain_order=True)
        if len(rows) == len(windows) and rows[on].equals(windows[on]):
            return rows.hstack(dropped(windows, *on))
        at = places(rows, windows) if self.identity == POSITION else None
        if at is not None and bool((at[1:] > at[:-1]).all()):
            return rows[pl.Series(at)].hstack(dropped(windows, *on))
        return rows.join(windows, on=on, how="inner", nulls_equal=True, maintain_order="left")

    def presented(self, results: pl.DataFrame) -> pl.DataFrame:
        """As `Results.presented`."""
        ordered = results.sort(TS, PART, SEQ) if len(results) > 1 else results
        if self.per_instant:
            ordered = ordered.with_columns(*self._window())
        return ordered.with_columns(self.row_key(ordered))

    def _window(self) -> list[pl.Expr]:
        reach = self.call.frame.preceding
        start = pl.lit(None, pl.Int64) if reach is None else pl.col(TS) - reach
        return [
            start.cast(INSTANT).alias("window_start"),
            pl.col(TS).cast(INSTANT).alias("window_end"),
        ]

    def row_key(self, rows: pl.DataFrame) -> pl.Expr:
        if self.per_instant:
            names = (*self.call.partition, "window_start", "window_end")
            return row_key({name: rows.schema[name] for name in names})
        return self._key_of_row

    @cached_property
    def _key_of_row(self) -> pl.Expr:
        return row_key_at(self.reading.stream)
