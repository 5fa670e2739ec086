"""Past sliding windows and sessions of messages, which RETAIN n ROWS keeps to be queried.

A message changes no window that is full already, so what was emitted of one is all that its past
is: the result is kept as it was emitted, and no message or accumulator with it. It is kept while
its last message is among the newest n of its partition, as a window of time is kept while one of
its rows may be; SAMZA-552, too, retires windows in ROWS by message.

| store          | record                                                              |
|----------------|---------------------------------------------------------------------|
| `past_windows` | a full window as it was emitted, its revision, what is known of it  |

Invariant: `past_windows` has each window that became full, once, if n is given and it is within the
newest n; no other is found.

Worked example, sliding windows of 2 messages, RETAIN 3 ROWS: after message 5 the newest are 3, 4
and 5, so [2, 4) is found and [1, 3) is not: its last is message 2.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import END
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.load import Load, Records
from sqlwin.operators.order.numbering import COUNT
from sqlwin.operators.state_queries import FULL_WINDOW, STATE, StateQuery, of_keys
from sqlwin.operators.store_spec import Columns, StoreSpec, layout_of
from sqlwin.schema import REVISION, ROW_KEY
from sqlwin.state.combine import keep_all
from sqlwin.state.contract import HORIZON

STORE = "past_windows"


@dataclass(frozen=True)
class PastWindows:
    """newest: the n of RETAIN n ROWS; None: no window is kept. partition: within which messages
    are counted. keys: with the bounds they distinguish windows. columns: of an answer, besides
    state, revision and row key. every: messages from one end of a window to the next.
    """

    newest: int | None
    partition: tuple[str, ...]
    keys: tuple[str, ...]
    columns: Columns
    every: int = 1

    def stores(self) -> list[StoreSpec]:
        if self.newest is None:
            return []
        columns = {**self.columns, REVISION: pl.Int32(), ROW_KEY: pl.String()}
        bounds = ("window_end", "window_start")
        layout = layout_of(STORE, columns, self.keys, bounds, self.newest)
        words, combine = "results of full windows", keep_all(layout)
        return [StoreSpec(layout, combine, words, self._expected, renews=False)]

    def _expected(self, load: Load) -> Records:
        return load.keys_if(bool(self.keys)) * (self.newest or 0) / self.every

    def keep(self, full: pl.DataFrame, counts: pl.DataFrame, stores: Stores) -> None:
        """Take the windows that a batch filled. counts: of the partitions that it has rows of."""
        if self.newest is None:
            return
        store = stores[STORE]
        store.put(full.select(store.layout.schema.names()))
        first = (pl.col(COUNT) - self.newest + 2).alias(HORIZON)
        store.cut(counts.select(*self.partition, first))  # of all as well: under a TTL they restart

    def found(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """Those that hold a message of it."""
        held = stores[STORE].scan(query.lo + 1, END)
        of_range = held.filter(pl.col("window_start") <= query.hi)
        full = pl.lit(FULL_WINDOW).alias(STATE)
        return of_keys(of_range, query.keys).with_columns(full)
