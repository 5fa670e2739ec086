"""Rows become full and are emitted: the common case, by work that goes by their number alone.

It is that of rows which come in time: nothing was emitted of them before, so each goes out once, as
revision 0 (`emitter.records`), and their values are computed from arrays that are at hand
(`rows`), where calls have frames in RANGE that begin at some distance and end no later than the
row. All else the ledger emits, from the stores; what goes out is the same.

Worked example, RANGE 2 minutes, watermark 9:05: a row of 9:05 is pushed, then one of 9:06. The
first is taken from what is pending, and put behind the rows of 9:03 to 9:05; its values are those
of the rows of its partition there.
"""

from __future__ import annotations

import json
from functools import cached_property

import polars as pl

from sqlwin.kernels.columns import columns_of, constant, table
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.results import ResultLedger
from sqlwin.operators.emitter.schema import STORE
from sqlwin.operators.over.base_sums import stored
from sqlwin.operators.over.partition_groups import PartitionGroup, PartitionGroups
from sqlwin.operators.over.presenting import Presenting
from sqlwin.operators.over.recent.rows import RecentRows, Shape
from sqlwin.operators.over.recent.values import computed
from sqlwin.schema import EMIT, OP, PART, REVISION, ROW_KEY, SEQ, TS
from sqlwin.state.records import least
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude

_FIRST = (
    constant(OP, "+I", pl.String(), 1),
    constant(EMIT, "full", pl.String(), 1),
    constant(REVISION, 0, pl.Int32(), 1),
)
"""Of a first emission."""
FEW = 256
"""Row keys that are put together one by one: a query costs what so many do."""


@dataclass(frozen=True)
class RecentClosing:
    """once: whether a row's first emission leaves no record, and is not before it is full."""

    groups: PartitionGroups
    presenting: Presenting
    ledger: ResultLedger
    once: bool

    @cached_property
    def possible(self) -> bool:
        carried = self.presenting.reading.carried
        return self.once and all(_simple(group, carried) for group in self.groups.each)

    @cached_property
    def shape(self) -> Shape:
        return Shape(self.groups.calls, self.groups.reach)

    def came(self, batch: pl.DataFrame, stores: Stores) -> None:
        """A batch comes into the row store."""
        recent = stores.cached
        if not isinstance(recent, RecentRows):
            return
        if not self.possible or not self._goes_on(recent, stores) or recent.worn:
            stores.cached = None
        elif len(batch):
            if least(batch.get_column(TS)) < recent.until:
                recent.add_late(batch)
                batch = batch.filter(pl.col(TS) >= recent.until)
            if len(batch):
                recent.pending.add(batch)

    def full(self, watermark: int, stores: Stores) -> pl.DataFrame | None:
        """What goes out as the watermark moves, before it has; None where the ledger has to say."""
        if not self.possible:
            return None
        recent = self._recent(stores)
        rows = recent.pending.take(watermark)
        if rows is None:
            recent.move_to(watermark)
            return self.ledger.results.nothing()
        recent.add(rows)
        times = rows.get_column(TS)
        records = stores[STORE].scan(int(times[0]), int(times[-1]) + 1)
        values = recent.values(len(rows)) if records.is_empty() else None
        recent.move_to(watermark)
        return None if values is None else self._emitted(rows, values)

    def _goes_on(self, recent: RecentRows, stores: Stores) -> bool:
        return recent.until == stores.watermark and recent.shape == self.shape

    def _recent(self, stores: Stores) -> RecentRows:
        known = stores.cached
        if isinstance(known, RecentRows) and self._goes_on(known, stores):
            return known
        stores.cached = recent = RecentRows(self.shape, stores.watermark)
        before = stored(stores, stores.watermark - self.shape.reach, stores.watermark)
        if len(before):
            recent.add(before)
        after = stored(stores, stores.watermark)
        if len(after):
            recent.pending.add(after)
        return recent

    def _emitted(self, rows: pl.DataFrame, values: dict[str, pl.Series]) -> pl.DataFrame:
        """As `kernel.changelog` has first emissions."""
        count = rows.height
        return table(
            [
                *columns_of(rows, self._carried),
                *(values[name] for name in self._names),
                *(each.new_from_index(0, count) for each in _FIRST),
                self._row_keys(rows),
            ]
        )

    @cached_property
    def _carried(self) -> tuple[str, ...]:
        return tuple(self.presenting.reading.carried)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Of the calls as they are emitted; in `groups` those of one partition stand together."""
        return tuple(name for name in self.ledger.results.output if name not in self._carried)

    def _row_keys(self, rows: pl.DataFrame) -> pl.Series:
        """As `changes.row_key_at` has them."""
        parts = rows.get_column(PART)
        if len(rows) <= FEW:
            places = zip(parts.to_list(), rows.get_column(SEQ).to_list(), strict=True)
            keys = [f"{self._source},{part},{seq}]" for part, seq in places]
            return pl.Series(ROW_KEY, keys, dtype=pl.String)
        if parts.min() != parts.max():
            return rows.select(self.presenting.row_key(rows)).to_series()
        edges = (pl.lit(f"{self._source},{parts[0]},"), pl.lit("]"))
        key = pl.concat_str([edges[0], pl.col(SEQ).cast(pl.String), edges[1]])
        return rows.select(key.alias(ROW_KEY)).to_series()

    @cached_property
    def _source(self) -> str:
        return json.dumps([self.presenting.reading.stream], ensure_ascii=False)[:-1]


def _simple(group: PartitionGroup, carried: dict[str, pl.DataType]) -> bool:
    """Whether values of a group's calls are computed from recent rows."""
    if group.kept or group.order or not group.timed:
        return False
    frames = [call.frame for call in group.calls]
    bounded = all(
        frame.unit is Unit.RANGE
        and not frame.instant
        and frame.exclude is Exclude.NO_OTHERS
        and frame.preceding is not None
        and frame.following is not None
        and frame.following <= 0
        for frame in frames
    )
    keyed = all(_hashed_as_equal(carried[name]) for name in group.partition)
    return bounded and keyed and all(computed(call.fold) for call in group.calls)


def _hashed_as_equal(dtype: pl.DataType) -> bool:
    """Whether values are equal as those of Python are: not floats, of which NaN equals NaN."""
    return dtype.is_integer() or dtype in (pl.String(), pl.Boolean())
