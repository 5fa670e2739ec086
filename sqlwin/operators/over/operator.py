"""OVER frames: a window for each row, kept with the row in time slices.

A row is emitted when its frames are full (`fullness`). A row that comes later than that goes into
the frames of rows that were emitted; those, and only those, are emitted again (`taking`): which
they are, the frames themselves say (`framing.changed`). Values are computed from rows within reach
(`reading`, `recent`), and, where frames have no beginning, from sums of those before (`base_sums`).
What retention evicts, `eviction` drops, and `history` keeps the few old rows that ROWS frames want.

| store       | record                                           |
|-------------|--------------------------------------------------|
| `rows`      | the row                                          |
| `base<n>`   | accumulators of (partition, slice), group n      |
| `past<n>`   | accumulators of a partition's rows that are gone |
| `history`   | rows of before, values of those that wait        |
| `revisions` | see `emitter.schema`                             |

Invariant: a row that is full at `watermark` was emitted, or is pending in the ledger.

Worked example, RANGE 2 minutes, watermark 9:05, all rows up to 9:04 emitted: a row of 9:01 comes.
It is late, and so emitted as revision 0 of its own; rows of 9:01 to 9:03 hold it and go out as
revision 1; a row of 9:04 does not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import polars as pl

from sqlwin.instants import END
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import DOUBT, Stores
from sqlwin.operators.emitter.results import ResultLedger, Results
from sqlwin.operators.horizon import Horizons
from sqlwin.operators.over.base_sums import ROWS
from sqlwin.operators.over.eviction import Leaving
from sqlwin.operators.over.framing import FrameCall
from sqlwin.operators.over.full_rows import FullRows
from sqlwin.operators.over.fullness import Fullness
from sqlwin.operators.over.judging import FrameJudging
from sqlwin.operators.over.partition_groups import PartitionGroups, groups_of
from sqlwin.operators.over.presenting import Presenting
from sqlwin.operators.over.reading import Reading
from sqlwin.operators.over.recent.closing import RecentClosing
from sqlwin.operators.over.retracting import Retracting
from sqlwin.operators.over.row_horizons import RowHorizons
from sqlwin.operators.over.stores import OverStores
from sqlwin.operators.over.taking import Taking
from sqlwin.operators.over.touching import HELD, Touching
from sqlwin.operators.state_queries import STATE, MessageRange, StateQuery, of_keys
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.weights import SIGN, effective, there
from sqlwin.polars_frames import INSTANT, PLACE
from sqlwin.policies import Late, Policy
from sqlwin.schema import POSITION, REVISION, TS


@dataclass(frozen=True)
class OverAggregator(Results):
    """carried: the input columns and their dtypes. slice_width: of the row store, microseconds.

    per_instant: the rows of one partition and instant make one window, known by
    (partition, start, end); it needs all calls to share partition and frame.
    weighted: rows may be retracted, see `retracting`. recorded: as of `ResultLedger`; while
    rows are missing, one that is not there yet was not emitted, however full its frames are.
    """

    stream: str
    carried: dict[str, pl.DataType]
    calls: tuple[FrameCall, ...]
    policy: Policy
    slice_width: int
    per_instant: bool = False
    update_before: bool = False
    weighted: bool = False
    recorded: bool = False

    @property
    def identity(self) -> tuple[str, ...]:
        """With the keys where single ones have a horizon or a TTL: so records go by them."""
        if self.per_instant:
            return (*self.calls[0].partition, TS)
        keyed = self.row_horizons.keyed or self.policy.ttl is not None
        return (*(self.row_horizons.buckets if keyed else ()), *POSITION)

    @property
    def output(self) -> dict[str, pl.DataType]:
        window = {"window_start": INSTANT, "window_end": INSTANT} if self.per_instant else {}
        return {**self.carried, **window, **{c.name: c.dtype for c in self.calls}}

    @cached_property
    def ledger(self) -> ResultLedger:
        calls = tuple(c.name for c in self.calls)
        changing = self.weighted or self.update_before or self.per_instant
        kept = (*self.carried, *calls) if changing else calls
        return ResultLedger(self, self.identity, TS, kept, self.recorded or self.reopening)

    @property
    def reopening(self) -> bool:
        """Whether results are emitted again of which not each change was: a session may open again,
        and LATE NEVER emits it when it is full. Then being full implies nothing."""
        return self.policy.late is Late.NEVER and any(g.sessions for g in self.groups.each)

    @property
    def sign(self) -> dict[str, pl.DataType]:
        """What a record of the row store has beside the row."""
        return SIGN if self.weighted else {}

    @cached_property
    def groups(self) -> PartitionGroups:
        return groups_of(self.calls)

    @cached_property
    def reading(self) -> Reading:
        kept = (self.carried, self.groups, self.slice_width, self.weighted)
        return Reading(self.stream, *kept)

    @cached_property
    def fullness(self) -> Fullness:
        return Fullness(self.groups)

    @cached_property
    def row_horizons(self) -> RowHorizons:
        first, *others = [group.partition for group in self.groups.each]
        buckets = tuple(k for k in first if all(k in o for o in others))
        noted = self.weighted and self.policy.retain_rows is not None
        types = {key: self.carried[key] for key in buckets}
        return RowHorizons(self.policy, buckets, Horizons(types) if noted else None)

    @cached_property
    def leaving(self) -> Leaving:
        return Leaving(self.row_horizons, self.fullness, self.reading)

    @cached_property
    def judging(self) -> FrameJudging:
        return FrameJudging(self.reading, self.fullness)

    @cached_property
    def retracting(self) -> Retracting:
        early = self.policy.early is not None
        return Retracting(self.reading, self.leaving, self.ledger, self.per_instant, early)

    @cached_property
    def touching(self) -> Touching:
        enough = max(self.policy.early_rows, 1)
        return Touching(self.identity, self.reading, self.fullness, self.per_instant, enough)

    @cached_property
    def taking(self) -> Taking:
        parts = (self.leaving, self.touching, self.retracting, self.recent)
        return Taking(self.policy, *parts, self.weighted)

    @cached_property
    def presenting(self) -> Presenting:
        return Presenting(self.identity, self.reading, self.per_instant)

    @cached_property
    def full_rows(self) -> FullRows:
        parts = (self.leaving, self.presenting, self.ledger, self.recent)
        return FullRows(*parts, self.weighted)

    @cached_property
    def recent(self) -> RecentClosing:
        early = self.policy.early is not None or self.policy.ttl is not None
        again = self.weighted or self.per_instant or self.ledger.recorded
        once = not (early or again or self.row_horizons.by_rows)
        return RecentClosing(self.groups, self.presenting, self.ledger, once)

    def stores(self) -> list[StoreSpec]:
        row = {**self.carried, **PLACE, **self.sign}
        parts = (self.reading, self.row_horizons, self.ledger, row, self.output, self.slice_width)
        return list(OverStores(*parts))

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        rows = effective(rows) if self.weighted else rows
        names = [*self.carried, *POSITION, *self.sign, *(n for n in DOUBT if n in rows.columns)]
        return rows if rows.columns == names else rows[names]  # no query

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return self.row_horizons.horizons(stores)

    def without_eviction(self) -> OverAggregator:
        return replace(self, policy=self.policy.forever, recorded=True)

    def final_before(self, closed: int) -> int:
        return closed - self.fullness.after

    def judge(self, rows: pl.DataFrame, stores: Stores, ended: int) -> pl.DataFrame:
        return self.judging.expired(rows, stores, ended)

    def oldest(self, stores: Stores, ended: int) -> int:
        return END

    def repeated(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self.judging.repeated(rows, stores)

    def restore(self, batch: pl.DataFrame, stores: Stores, now: int, since: int | None) -> None:
        self.taking.restore(batch, stores, now, since)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        return self.nothing() if batch.is_empty() else self.taking.take(batch, stores, now)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        if watermark <= stores.watermark and not self.row_horizons.by_rows:
            return self.nothing()
        return self.full_rows.on_watermark(watermark, stores)

    # Results.

    def open_results(self, stores: Stores) -> pl.DataFrame:
        return self.full_rows.still_open(stores)

    def next_full(self, stores: Stores) -> int | None:
        return self.full_rows.next_full(stores)

    def judged(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self.full_rows.judged(ids, stores)

    def valued(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self.presenting.valued(ids, stores)

    def implied(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        held = ids.filter(HELD) if not self.reopening else ids.clear()
        return self.valued(held, stores) if self.ledger.kept and len(held) else held

    def presented(self, results: pl.DataFrame) -> pl.DataFrame:
        return self.presenting.presented(results)

    # State queries.

    @property
    def key(self) -> dict[str, pl.DataType]:
        return {name: self.carried[name] for name in self.row_horizons.buckets}

    @property
    def order(self) -> tuple[str, ...]:
        return POSITION

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """Of rows at an instant of the state query; a sliding window holds some instant of it."""
        reach = self.calls[0].frame.preceding if self.per_instant else 0
        last = END if reach is None else query.hi + reach
        rows = self.leaving.kept(query.lo, last + 1, stores)
        windows = self.presenting.identities(of_keys(rows, query.keys))
        known = self.ledger.looked_at(windows, stores).sort(POSITION)
        return known.select(*self.output, STATE, REVISION, *PLACE, self.presenting.row_key(known))

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        return there(between.stored(stores[ROWS]))
