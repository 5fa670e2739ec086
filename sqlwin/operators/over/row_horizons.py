"""When a full row is kept no longer: the *horizon* of its bucket keys.

It is the watermark less RETAIN, or, with RETAIN n ROWS, the instant of the n-th newest
row of the keys (their horizon), if that is later; never beyond the watermark. A row
whose frames were full at its horizon is retired: none that may still come enters them.

Worked example, RETAIN 2 MINUTES OR 3 ROWS, watermark 9:05: the horizon is 9:03. Tea has
rows at 9:02, 9:04, 9:04, 9:06: its horizon is 9:04. Were its rows at 9:06,
9:06, 9:07, the horizon would be 9:05.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import START
from sqlwin.kernels.frames import Ints
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.horizon import Horizons, KeyHorizons, by_time
from sqlwin.operators.over.base_sums import stored
from sqlwin.polars_frames import empty
from sqlwin.policies import Policy
from sqlwin.schema import TS
from sqlwin.state.contract import HORIZON

ROW_HORIZON = "__row_horizon"


@dataclass(frozen=True)
class RowHorizons(KeyHorizons):
    """buckets: the keys within which RETAIN n ROWS counts. reached: where horizons are noted, for
    rows may be retracted."""

    policy: Policy
    buckets: tuple[str, ...]
    reached: Horizons | None = None

    @property
    def any(self) -> bool:
        return self.policy.retain is not None or self.by_rows

    @property
    def by_rows(self) -> bool:
        return self.policy.retain_rows is not None

    @property
    def keyed(self) -> bool:
        """Whether keys have horizons of their own."""
        return self.by_rows and bool(self.buckets)

    def newest(self, stores: Stores) -> pl.DataFrame:
        n, held = self.policy.retain_rows, stored(stores)
        if n is None or held.height < n:
            return empty({**{name: held[name].dtype for name in self.buckets}, HORIZON: pl.Int64()})
        rows = held.select(*self.buckets, TS)
        nth = pl.when(pl.len() >= n).then(pl.col(TS).tail(n).first()).alias(HORIZON)
        grouped = rows.group_by(self.buckets).agg(nth) if self.buckets else rows.select(nth.first())
        return grouped.drop_nulls(HORIZON)

    def of_all(self, stores: Stores) -> int:
        """The limit of keys that have no horizon; of all rows, where horizons have no keys."""
        horizon = by_time(stores.watermark, self.policy.retain)
        if self.by_rows and not self.buckets:
            before = self.horizons(stores)[HORIZON].max()
            horizon = max(horizon, START if before is None else before)  # type: ignore[assignment]
        return max(min(horizon, stores.watermark), START)

    def of_keys(self, stores: Stores) -> pl.DataFrame:
        """Bucket keys that have a horizon, and their `__row_horizon`."""
        horizons = self.horizons(stores)
        if horizons.is_empty():
            return horizons.rename({HORIZON: ROW_HORIZON})
        at_least = pl.max_horizontal(HORIZON, pl.lit(self.of_all(stores), pl.Int64))
        limit = pl.min_horizontal(at_least, pl.lit(stores.watermark, pl.Int64)).alias(ROW_HORIZON)
        return horizons.select(*self.buckets, limit)

    def of(self, rows: pl.DataFrame, stores: Stores) -> int | Ints:
        """The limit of each row, which has its bucket keys."""
        if not self.keyed:
            return self.of_all(stores)
        horizons = self.of_keys(stores)
        if horizons.is_empty():
            return self.of_all(stores)
        on = list(self.buckets)
        emitted = rows.select(on).join(
            horizons, on=on, how="left", nulls_equal=True, maintain_order="left"
        )
        row_horizons: Ints = emitted[ROW_HORIZON].fill_null(self.of_all(stores)).to_numpy()
        return row_horizons
