"""What group windows of time store, and how much of it a load makes.

| store       | record                                                 | combined by  |
|-------------|--------------------------------------------------------|--------------|
| `panes`     | (keys, pane): extent and accumulators                  | merging      |
| `revisions` | a result: see `emitter.schema`                         | last written |
| `messages`  | a row, by position: what full-state aggregates read    | position     |
| `floors`    | keys: the greatest retention horizon they ever had     | position     |
| `closed`    | a closed window, as it is queried: see `windows.closed` | last written |

Panes are as many as keys have rows in, see `operators.load`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import polars as pl

from sqlwin.kernels.panes import WINDOW_END
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.emitter.results import ResultLedger
from sqlwin.operators.emitter.schema import STORE
from sqlwin.operators.horizon import Horizons
from sqlwin.operators.load import NO_END, Expected, Load, Records, Retained, nothing
from sqlwin.operators.store_spec import ONE_SLICE, Columns, StoreSpec, layout_of
from sqlwin.operators.windows.closed import ClosedWindows
from sqlwin.operators.windows.contents import Contents
from sqlwin.operators.windows.grouping import PANE, Grouping, merges
from sqlwin.operators.windows.messages import MESSAGES, PANES
from sqlwin.operators.windows.retention import Retention
from sqlwin.policies import Policy
from sqlwin.schema import POSITION, SEQ, WEIGHT
from sqlwin.state.combine import keep_all, last_written, merged
from sqlwin.state.slices import ENDLESS, slice_width
from sqlwin.windows import Unit
from sqlwin.windows.group import Whole

ALL_IN_ONE = "an aggregate of the whole stream needs every message of it"
INT: pl.DataType = pl.Int64()


@dataclass(frozen=True)
class WindowStores:
    """output: types of the columns of a result."""

    contents: Contents
    retention: Retention
    ledger: ResultLedger
    closed: ClosedWindows
    output: Columns

    def __iter__(self) -> Iterator[StoreSpec]:
        yield self.panes
        records = {**self.output, WINDOW_END: INT}
        yield emitted(self.ledger, records, self.width, self._emitted)
        if self.contents.whole:
            yield messages(self.contents.message, self.retention.reached, self.width, self._rows)
        yield from horizons(self.retention.reached, self.width)
        yield from self.closed.stores(self._closed)

    @property
    def panes(self) -> StoreSpec:
        contents = self.contents
        words = "window metadata" if contents.whole else "merged accumulators"
        words = "the rows themselves" if self._per_row else words
        layout = layout_of(PANES, contents.pane, contents.by.names, (PANE,), self.width)
        combine = merged(layout, merges(contents.incremental))
        return StoreSpec(layout, combine, words, self._panes)

    @property
    def width(self) -> int:
        window, policy = self.contents.window, self.retention.policy
        if isinstance(window, Whole) or window.unit is Unit.ROWS:
            return ONE_SLICE
        return slice_width(window.size + (ENDLESS if policy.retain is None else policy.retain))

    # How many.

    @cached_property
    def retained(self) -> Retained:
        return retained(self.retention.policy, self.contents.by, self.width)

    @property
    def _per_row(self) -> bool:
        return SEQ in self.contents.by.keys

    def _rows(self, load: Load) -> Records:
        window = self.contents.window
        return ALL_IN_ONE if isinstance(window, Whole) else self.retained.rows(load, window.size)

    def _panes(self, load: Load) -> Records:
        window, sets = self.contents.window, max(len(self.contents.by.sets), 1)
        if isinstance(window, Whole):
            return load.keys_if(self.retained.keyed) * sets
        pane, groups = window.pane, self.retained.groups(load, window.pane)
        span, newest = self.retained.span(load, window.size), self.retained.retain_rows
        kept = [] if span is None else [groups * span / pane]
        if newest is not None:
            keys = load.keys_if(self.retained.keyed)
            panes = min(newest, newest * keys / load.added(pane) + 1)
            kept.append(panes * keys + self.retained.open(load, window.size) / pane * groups)
        return min(kept) * sets if kept else NO_END

    def _emitted(self, load: Load) -> Records:
        """Windows that were emitted early, or are ranked; else only what waits, which is little."""
        every = self.retention.policy.early is not None or self.ledger.recorded
        return self.results(load) if every else nothing(load)

    def results(self, load: Load) -> Records:
        """Windows within retention."""
        window = self.contents.window
        if isinstance(window, Whole):
            return load.keys_if(self.retained.keyed)
        span = self.retained.span(load, window.size)
        return NO_END if span is None else self._ending(load, span)

    def _closed(self, load: Load) -> Records:
        return self._ending(load, self.closed.span)

    def _ending(self, load: Load, span: float) -> float:
        """Windows that end in so much event time."""
        window = self.contents.window
        assert not isinstance(window, Whole)
        return self.retained.groups(load, window.size) * span / window.every


def retained(policy: Policy, by: Grouping, width: int) -> Retained:
    """Of what is grouped. Those of single rows have no other keys than their positions."""
    keyed = any(key not in POSITION for key in by.keys)
    return Retained(policy.retain, policy.retain_rows, width, keyed)


# What sessions and OVER store as well.


def emitted(ledger: ResultLedger, types: Columns, width: int, expected: Expected) -> StoreSpec:
    """Records of a ledger. types: of the columns of its results and identities."""
    keys = tuple(name for name in ledger.identity if name not in (*POSITION, ledger.time))
    rest = tuple(name for name in ledger.identity if name not in (*keys, ledger.time))
    layout = layout_of(STORE, ledger.schema(types), keys, (ledger.time, *rest), width)
    return StoreSpec(layout, last_written(layout), "what was emitted of each result", expected)


def messages(
    columns: Columns, reached: Horizons | None, width: int, expected: Expected
) -> StoreSpec:
    """Where keys have horizons of their own each may have a row of one position: what retracts it
    may be beyond the horizon of its key, and what replaces it not. One that may be retracted is
    written again, as retracted."""
    keys = () if reached is None else tuple(reached.keys)
    layout = layout_of(MESSAGES, columns, keys, POSITION, width)
    combine = last_written(layout) if WEIGHT in columns else keep_all(layout)
    words = "rows that aggregates read"
    return StoreSpec(layout, combine, words, expected, restorable=True, pins=True)


def horizons(reached: Horizons | None, width: int) -> list[StoreSpec]:
    """Of RETAIN n ROWS, where rows may be retracted."""
    return [] if reached is None else [reached.spec(width)]
