"""Sessions whose messages were lost and come again.

Worked example, MEDIAN(n), a gap of 5, rows at 0 and 20, watermark 10: [0, 5) is out when the
messages are lost. Watermark 30 sends [20, 25) of none of them, NULL. The row at 20 is put back:
that session is touched, and goes out once more; the one at 0 touches nothing.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import END
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.emitter.schema import ADDED, FINAL
from sqlwin.operators.sessions.orphans import OrphanedSessions
from sqlwin.operators.sessions.spans import within
from sqlwin.operators.windows.messages import MESSAGES
from sqlwin.schema import POSITION, TS
from sqlwin.state.stores.session_store import FROM, UNTIL


class SessionRestoring(OrphanedSessions):
    def restore(self, batch: pl.DataFrame, stores: Stores, now: int, since: int | None) -> None:
        """Put lost messages back; the store keeps one of each. since: as in `contract`."""
        if since is not None:
            touched = self._touched(self._lacking(batch, stores), since, stores)
            known = self.ledger.known(touched, stores)
            self.ledger.on_change(known, known.clear(), stores, now)
        self.contents.put(batch, stores)

    def final_before(self, closed: int) -> int:
        return closed

    def _lacking(self, batch: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Messages of `batch` that are not in their store, each once."""
        there = stores[MESSAGES].scan(*bounds(batch[TS]))
        return batch.join(there, on=list(POSITION), how="anti").unique(POSITION)

    def _touched(self, rows: pl.DataFrame, since: int, stores: Stores) -> pl.DataFrame:
        """The windows that hold these rows and end at `since` or later; one that was emitted
        since then has a record."""
        spans = self.contents.spans
        known = spans.windows(spans.sessions(stores).find_sessions(since, END), stores)
        counted = []
        for keys, windows in self.contents.by.each(known):
            on = [*keys, FROM, UNTIL]
            held = within(rows, TS, windows, keys)
            added = held.group_by(on).agg(pl.len().cast(pl.Int64).alias(ADDED))
            counted.append(windows.join(added, on=on, how="inner", nulls_equal=True))
        return self.judged(pl.concat(counted), stores).select(*spans.identity, ADDED, FINAL)
