"""Which rows of an input are too late to count, by the watermark before their batch.

A row counts in a window iff `window_end + RETAIN > watermark`, for then the window is kept. One
that counts in none of its windows is expired; one that misses some counts in the others. The
window of a row of OVER is its frame, and a row counts in the frames that may hold it. Where a row
has no window of fixed bounds, its own event time takes the place of the end.

Which session a row joins, and how many rows of its partition are after it, only the stores know:
there a row that time alone would expire is *in doubt*, and the operator judges it.

Invariant: `horizon` never goes back as the watermark rises, and no store has evicted anything
that a row at the horizon or later still counts in.

Worked example, windows of 10 minutes every 5, RETAIN 5 MINUTES, watermark 9:14: windows that end
by 9:09 are out of retention. A row of 9:04 misses the window that ends at 9:05 and counts in that
which ends at 9:10; the horizon is 9:00.

>>> from sqlwin.windows.group import Hop
>>> kept = RowRetention(5, window=Hop(size=10, advance=5))
>>> kept.ended(14), kept.horizon(14)
(9, 0)
>>> rows = pl.DataFrame({"__ts": [-1, 4, 5]})
>>> kept.reasons(kept.missed(rows, 14), 14)
['expired', 'expired in part: of its windows those that ended by 1970-01-01T00:00:00.000009Z']
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import START, format_instant
from sqlwin.kernels.panes import earliest, ends_at
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.horizon import by_time
from sqlwin.operators.sessions.judging import in_doubt, stored_since
from sqlwin.runtime.rows.error_stream import EXPIRED, IN_PART
from sqlwin.schema import TS
from sqlwin.state.records import least
from sqlwin.windows.frames import Reach
from sqlwin.windows.group import Ending


@dataclass(frozen=True)
class RowRetention:
    """retain: microseconds. window: of event time, whose ends decide; None: the row's own time.

    since: windows that end by here, or rows before it, went under another RETAIN. gap: of
    sessions. Those, and frames in ROWS, judge rows where the store is.
    """

    retain: int
    since: int | None = None
    window: Ending | Reach | None = None
    gap: int | None = None

    def ended(self, watermark: int) -> int:
        """Windows that end by here are out of retention."""
        return max(by_time(watermark, self.retain, self.since), START)

    @property
    def judged(self) -> bool:
        """Whether rows may be in doubt."""
        return self.gap is not None or (isinstance(self.window, Reach) and self.window.rows > 0)

    def horizon(self, watermark: int) -> int:
        """Rows before this instant count in no window, or as the stores say."""
        ended = self.ended(watermark)
        if self.gap is not None:
            return stored_since(ended, self.gap)
        return ended if self.window is None else earliest(ended + 1, self.window)

    def doubtful(self, watermark: int) -> pl.Expr | None:
        """Rows that are expired unless the stores say otherwise; None where none can be."""
        if self.gap is not None:
            return in_doubt(self.ended(watermark), self.gap)
        return pl.col(TS) < self.horizon(watermark) if self.judged else None

    def late(self, watermark: int) -> pl.Expr:
        """Rows that count, and come after a window that holds them was full."""
        if self.window is not None:
            first, last = ends_at(pl.col(TS), self.window)
            return (first <= watermark) & (last > self.ended(watermark))
        if self.gap is not None:
            return in_doubt(watermark, self.gap) & ~in_doubt(self.ended(watermark), self.gap)
        return pl.col(TS).is_between(self.horizon(watermark), watermark, closed="left")

    def missed(self, rows: pl.DataFrame, watermark: int) -> pl.DataFrame:
        """Those of the rows, by their `__ts`, that miss a window that holds them, and are not in
        doubt."""
        if self.gap is not None or rows.is_empty():
            return rows.clear()
        oldest = least(rows.get_column(TS))
        if self.window is None:
            horizon = self.horizon(watermark)
            return rows.clear() if oldest >= horizon else rows.filter(pl.col(TS) < horizon)
        if ends_at(oldest, self.window)[0] > self.ended(watermark):
            return rows.clear()
        first, _ = ends_at(pl.col(TS), self.window)
        missed = first <= self.ended(watermark)
        doubtful = self.doubtful(watermark)
        return rows.filter(missed if doubtful is None else missed & ~doubtful)

    def reasons(self, missed: pl.DataFrame, watermark: int) -> list[str]:
        """Of each row that misses a window, for the error stream."""
        expired = missed[TS] < self.horizon(watermark)
        part = self.in_part(watermark)
        return [EXPIRED if none else part for none in expired]

    def in_part(self, watermark: int) -> str:
        """Of a row that counts in windows that are kept."""
        return (
            f"{IN_PART}: of its windows those that ended by {format_instant(self.ended(watermark))}"
        )
