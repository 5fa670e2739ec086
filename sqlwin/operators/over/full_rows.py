"""Which rows are open, and which become full as the watermark moves.

Where no frame waits for rows to follow, time alone says it, and only the rows of that time are
read; otherwise all rows are.

Worked example, RANGE BETWEEN CURRENT ROW AND 1 MINUTE FOLLOWING, the watermark moves from 9:05 to
9:07: the rows from 9:04 until before 9:06 become full, those from 9:06 on are open.
"""

from __future__ import annotations

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.results import ResultLedger
from sqlwin.operators.emitter.schema import FINAL
from sqlwin.operators.over.base_sums import stored
from sqlwin.operators.over.eviction import Leaving
from sqlwin.operators.over.fullness import Fullness
from sqlwin.operators.over.presenting import Presenting
from sqlwin.operators.over.reading import Reading
from sqlwin.operators.over.recent.closing import RecentClosing
from sqlwin.polars_frames import stacked
from sqlwin.schema import TS
from sqlwin.state.records import least


@dataclass(frozen=True)
class FullRows:
    """weighted: rows may be retracted."""

    leaving: Leaving
    presenting: Presenting
    ledger: ResultLedger
    recent: RecentClosing
    weighted: bool

    @property
    def reading(self) -> Reading:
        return self.presenting.reading

    @property
    def fullness(self) -> Fullness:
        return self.leaving.fullness

    def on_watermark(self, watermark: int, stores: Stores) -> pl.DataFrame:
        """Emit what becomes full, and a last time what retires; drop what is wanted no more."""
        moved = watermark > stores.watermark
        self.leaving.row_horizons.note(stores)
        full = self._move_to(watermark, stores) if moved else self.ledger.results.nothing()
        pending = self.ledger.pending(stores)
        last = pending
        if len(pending):
            last = self.ledger.again(self.leaving.retired(pending, stores), stores)
        self.leaving.leave(stores)
        return stacked([full, last]) if len(last) else full

    def _move_to(self, watermark: int, stores: Stores) -> pl.DataFrame:
        """The watermark moves; gives the results that become full."""
        out = self.recent.full(watermark, stores)
        if out is not None:
            stores.watermark = watermark
            return out
        closed = stores.watermark
        closing = self._closing(closed, watermark, stores)
        stores.watermark = watermark
        if not self.weighted or self.fullness.never:
            return self.ledger.close(closing, stores)
        after = self.fullness.after
        span = (closed - after, watermark - after)
        counting = self.fullness.counting  # then some that are there wait for others
        held = self._identities(self.reading.all_rows(stores)) if counting else closing
        emptied = self.ledger.emptied(held, stores, *span)
        return pl.concat([self.ledger.close(part, stores) for part in (emptied, closing)])

    def _closing(self, closed: int, watermark: int, stores: Stores) -> pl.DataFrame:
        """Identities of rows that become full."""
        if self.fullness.never:
            return self._identities(stored(stores, 0, 0))
        if not self.fullness.counting:
            after = self.fullness.after
            return self._identities(stored(stores, closed - after, watermark - after))
        rows = self.reading.all_rows(stores)
        closes = self.fullness.at(rows, watermark) & ~self.fullness.at(rows, closed)
        return self._identities(rows.filter(pl.Series(closes)))

    def still_open(self, stores: Stores) -> pl.DataFrame:
        """As `Results.open_results`."""
        if not self.fullness.counting and not self.fullness.never:
            since = stores.watermark - self.fullness.after
            return self._identities(stored(stores, since))
        rows = self.reading.all_rows(stores)
        return self._identities(rows.filter(pl.Series(~self.fullness.at(rows, stores.watermark))))

    def next_full(self, stores: Stores) -> int | None:
        """As `Closing.next_full`."""
        rows = None if self.fullness.never else self.still_open(stores)
        if rows is None or rows.is_empty():
            return None
        return max(least(rows[TS]) + self.fullness.after, stores.watermark) + 1

    def judged(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """As `Results.judged`."""
        if not self.fullness.counting:
            final = pl.Series(FINAL, self.fullness.at(ids, stores.watermark))
            return ids.with_columns(final)
        still_open = self.still_open(stores).with_columns(pl.lit(False).alias(FINAL))
        on = list(self.presenting.identity)
        emitted = ids.join(still_open, on=on, how="left", nulls_equal=True, maintain_order="left")
        removed = pl.Series(self.fullness.timed(ids, stores.watermark))
        return emitted.with_columns(pl.col(FINAL).fill_null(removed))

    def _identities(self, rows: pl.DataFrame) -> pl.DataFrame:
        return self.presenting.identities(rows)
