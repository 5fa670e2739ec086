"""Windows that take no row any more, and can still be queried: RETENTION.

RETAIN, or GRACE, says how long a row counts in a window that has ended; RETENTION how long the
window can be queried. Panes go by the first: a pane is of several windows, and a row may count in
one of them and be too late for another. So what a window holds when it closes is written down as a
state query shows it.

Invariant: one record of each window that ended by the retention horizon and later than the
watermark less RETENTION; what is queried of it is what was queried last while it could change.

Worked example, minutes, GRACE PERIOD 1 MINUTE, RETENTION 1 HOUR: at watermark 9:02 the minute that
ended at 9:01 closes, with a total of 3. A row of 9:00:30 is refused; until watermark 10:01 the
minute is found, with its total of 3.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from sqlwin.instants import END
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.load import Expected
from sqlwin.operators.state_queries import FULL_WINDOW, STATE, StateQuery, of_keys
from sqlwin.operators.store_spec import Columns, StoreSpec, layout_of
from sqlwin.operators.windows.grouping import EXTENT
from sqlwin.policies import Policy
from sqlwin.schema import POSITION, REVISION, ROW_KEY
from sqlwin.state.combine import last_written
from sqlwin.state.slices import slice_width

STORE = "closed"
SUPERSEDED = "__superseded"
"""A session that a late row has made part of another one."""
KEPT = (REVISION, *EXTENT, ROW_KEY)
"""What an answer has behind the columns of a result."""


@dataclass(frozen=True)
class ClosedWindows:
    """identity: of a window, `time` among it: where it ends. output: the columns of a result, with
    `window_start` and `window_end`."""

    policy: Policy
    identity: tuple[str, ...]
    time: str
    output: Columns

    @property
    def queried(self) -> bool:
        """Whether windows can be queried for longer than they can be corrected."""
        retain, retention = self.policy.retain, self.policy.retention
        return retention is not None and retain is not None and retention > retain

    @property
    def _width(self) -> int:
        return slice_width(self.policy.retention or 0)

    @property
    def span(self) -> int:
        """Event time in which the windows ended that are kept."""
        return (self.policy.retention or 0) - (self.policy.retain or 0) + self._width

    @cached_property
    def columns(self) -> Columns:
        own = {name: pl.Int64() for name in self.identity if name not in self.output}
        answer = {REVISION: pl.Int32(), **dict.fromkeys(EXTENT, pl.Int64()), ROW_KEY: pl.String()}
        return {**self.output, **answer, **own, SUPERSEDED: pl.Boolean()}

    def stores(self, expected: Expected) -> list[StoreSpec]:
        if not self.queried:
            return []
        rest = (self.time, *(name for name in self.identity if name in POSITION))
        keys = tuple(name for name in self.identity if name not in rest)
        layout = layout_of(STORE, self.columns, keys, rest, self._width)
        words = "closed windows that can be queried"
        return [StoreSpec(layout, last_written(layout), words, expected, renews=False)]

    def put(self, answers: pl.DataFrame, stores: Stores, superseded: bool = False) -> None:
        """answers: as a state query shows windows that close now, with their identity."""
        closed = answers.with_columns(pl.lit(superseded).alias(SUPERSEDED))
        stores[STORE].put(closed.select(*self.columns))

    def expire(self, stores: Stores) -> None:
        if self.queried and self.policy.retention is not None:
            stores[STORE].expire(stores.watermark - self.policy.retention + 1)

    def within(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """Those that hold an instant of lo <= t <= hi, as `put` took them."""
        if not self.queried:
            return pl.DataFrame(schema={**self.columns, STATE: pl.String()})
        found = stores[STORE].scan(query.lo + 1, END)
        begun = pl.col("window_start").cast(pl.Int64) <= query.hi
        there = of_keys(found, query.keys).filter(begun, ~pl.col(SUPERSEDED))
        return there.with_columns(pl.lit(FULL_WINDOW).alias(STATE))
