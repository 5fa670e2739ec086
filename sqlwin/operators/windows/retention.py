"""Which group windows are gone for good, and what of the stores goes with them.

A full window is kept to be corrected until retention is over: by time, when the
watermark is `retain` past its end; by messages, when `retain_rows` rows of its bucket
are newer than all a window could take in; under both, by whichever comes first.
A bucket is what its keys have in common: all group keys, or those that all grouping
sets have. Its *horizon* says how far its messages go: the start of the pane that holds
the n-th newest row, so no row below it is among the newest n. Where rows may be retracted it is
the greatest that it ever was, see `horizon`.

Invariant: the stores hold every pane, message and record of a window that is not
retired, and no scan of theirs returns one that only retired windows would need.

Worked example, tumbling minutes, RETAIN 3 ROWS, watermark 9:05, rows of tea at 9:00,
9:01, 9:01, 9:03: the third newest is in the pane of 9:01, which is tea's horizon. The
window of 9:00 is retired; a row at 9:00:30 would be expired, one at 9:01:10 corrects
the window of 9:01.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from sqlwin.kernels.panes import WINDOW_END, earliest
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.results import ResultLedger
from sqlwin.operators.emitter.schema import STORE
from sqlwin.operators.horizon import Horizons, KeyHorizons, by_time, floored, nth_newest
from sqlwin.operators.windows.grouping import PANE, Grouping
from sqlwin.operators.windows.messages import MESSAGES, PANES
from sqlwin.polars_frames import empty
from sqlwin.policies import Policy
from sqlwin.state.contract import HORIZON
from sqlwin.windows.group import Aligned, Ending, Whole


@dataclass(frozen=True)
class Retention(KeyHorizons):
    """A window that is never full never retires. weighted: rows may be retracted."""

    policy: Policy
    window: Aligned
    by: Grouping
    ledger: ResultLedger
    weighted: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """Of a bucket."""
        return self.by.common

    @property
    def by_rows(self) -> bool:
        return self.policy.retain_rows is not None and not isinstance(self.window, Whole)

    @cached_property
    def reached(self) -> Horizons | None:
        """Where horizons are noted, for rows may be retracted."""
        types = {key: self.by.types[key] for key in self.keys}
        return Horizons(types) if self.weighted and self.by_rows else None

    def newest(self, stores: Stores) -> pl.DataFrame:
        wanted = self.policy.retain_rows
        if wanted is None or not self.by_rows:
            return empty({**{key: self.by.types[key] for key in self.keys}, HORIZON: pl.Int64()})
        panes = self.by.one(everything(stores, PANES))
        return nth_newest(panes, self.keys, PANE, wanted)

    def reach(self, stores: Stores) -> int:
        """Windows that end here or later are not out of retention, whatever their keys."""
        return (stores.watermark if self.by_rows else self.ended(stores)) + 1

    def retired(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of `windows` that are, or with this watermark become, out of retention."""
        if windows.is_empty() or isinstance(self.window, Whole):
            return windows.clear()
        removed = pl.col(WINDOW_END) <= self.ended(stores)
        if not self.by_rows:
            return windows.filter(removed)
        horizons = self.horizons(stores)
        if horizons.is_empty():
            return windows.filter(removed)
        known = floored(windows, horizons, self.keys)
        below = pl.col(WINDOW_END) <= pl.min_horizontal(HORIZON, pl.lit(stores.watermark, pl.Int64))
        return known.filter(removed | (below & pl.col(HORIZON).is_not_null())).drop(HORIZON)

    def retire(self, stores: Stores) -> None:
        """Drop what only retired windows need; what waited there was emitted."""
        if isinstance(self.window, Whole):
            return
        if self.policy.retain is not None:
            after = self.ended(stores) + 1
            stores[STORE].expire(after)
            for name in self._contents(stores):
                stores[name].expire(earliest(after, self.window))
            self.expire(self.ended(stores), stores)
        if self.by_rows:
            self._cut(self.horizons(stores), self.window, stores)

    def _cut(self, horizons: pl.DataFrame, window: Ending, stores: Stores) -> None:
        if horizons.is_empty():
            return
        after = pl.min_horizontal(HORIZON, pl.lit(stores.watermark, pl.Int64)) + 1
        self.ledger.retire(horizons.with_columns(after.alias(HORIZON)), stores)
        for name in self._contents(stores):
            stores[name].cut(horizons.with_columns(earliest(after, window).alias(HORIZON)))

    def _contents(self, stores: Stores) -> list[str]:
        return [name for name in (PANES, MESSAGES) if name in stores.named]

    def ended(self, stores: Stores) -> int:
        """Windows that end by here are out of retention by time."""
        return by_time(stores.watermark, self.policy.retain, self.policy.since)
