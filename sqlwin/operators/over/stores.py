"""What OVER stores, and how much of it a load makes.

| store          | record                                          | combined by  |
|----------------|-------------------------------------------------|--------------|
| `rows`         | the row                                         | position     |
| `base0`, `past0` | accumulators of (partition, slice), a number for each partition key | merging |
| `history`      | a row of before, by generation                  | position     |
| `revisions`, `floors` | as of windows, see `windows.stores`      |              |

Rows stay as far back as a RANGE reaches, and until those ahead have come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.emitter.results import ResultLedger
from sqlwin.operators.load import Load, Records, Retained, nothing
from sqlwin.operators.over import base_sums, history
from sqlwin.operators.over.base_sums import BaseSums
from sqlwin.operators.over.framing import FrameCall
from sqlwin.operators.over.partition_groups import PartitionGroup
from sqlwin.operators.over.reading import Reading
from sqlwin.operators.over.row_horizons import RowHorizons
from sqlwin.operators.store_spec import ONE_SLICE, Columns, StoreSpec, layout_of
from sqlwin.operators.windows.stores import emitted, horizons
from sqlwin.polars_frames import PLACE
from sqlwin.schema import POSITION, WEIGHT
from sqlwin.state.combine import keep_all, last_written, merged
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame

COUNTING = (Unit.ROWS, Unit.GROUPS, Unit.SESSION)
NEVER_FULL = "a frame to the end of the input keeps every row of it"
NEVER_FINAL = "an order that does not begin with event time keeps every row"


@dataclass(frozen=True)
class OverStores:
    """row: columns of a record of the row store. output: types of a result. width: of a slice."""

    reading: Reading
    row_horizons: RowHorizons
    ledger: ResultLedger
    row: Columns
    output: Columns
    width: int

    def __iter__(self) -> Iterator[StoreSpec]:
        rows = layout_of(base_sums.ROWS, self.row, (), POSITION, self.width)
        combine = last_written(rows) if WEIGHT in self.row else keep_all(rows)
        words = "rows that frames may need"
        yield StoreSpec(rows, combine, words, self._rows, restorable=True, pins=True)
        yield emitted(self.ledger, {**self.output, **PLACE}, self.width, self._emitted)
        yield from horizons(self.row_horizons.reached, self.width)
        yield from self._history()
        for sums in self.reading.sums:
            yield from self._sums(sums)

    def _history(self) -> Iterator[StoreSpec]:
        past = self.reading.history
        if past.deep:
            order = (history.GENERATION, *POSITION)
            layout = layout_of(history.STORE, past.columns, (), order, 1)
            words = f"evicted rows that frames in {_listed(past.deep)} reach"
            yield StoreSpec(layout, keep_all(layout), words, self._old_rows)

    def _sums(self, sums: BaseSums) -> Iterator[StoreSpec]:
        if not sums.folds:
            return
        merges = [expr for fold in sums.folds for expr in fold.merge()]
        of_slices = (sums.columns, sums.group.partition, (base_sums.SLICE,))
        if sums.sliced:
            base = layout_of(sums.base, *of_slices, sums.width)
            words = "accumulators of each slice of rows"
            yield StoreSpec(base, merged(base, merges), words, self._slices)
        past = layout_of(sums.past, *of_slices, ONE_SLICE)
        yield StoreSpec(past, merged(past, merges), "accumulators of evicted rows", self._each_key)

    # How many.

    @property
    def calls(self) -> tuple[FrameCall, ...]:
        return self.reading.groups.calls

    @property
    def frames(self) -> tuple[Frame, ...]:
        return tuple(call.frame.in_time for call in self.calls)

    @property
    def never_full(self) -> bool:
        return self.reading.groups.kept

    @cached_property
    def retained(self) -> Retained:
        policy, keyed = self.row_horizons.policy, any(call.partition for call in self.calls)
        return Retained(policy.retain, policy.retain_rows, self.width, keyed)

    def _each_key(self, load: Load) -> Records:
        return load.keys_if(self.retained.keyed)

    def _rows(self, load: Load) -> Records:
        """With RETAIN n ROWS whole slices go of each key, as they do of all."""
        if self.never_full:
            return NEVER_FULL if self.reading.groups.timed else NEVER_FINAL
        ranges = [frame for frame in self.frames if frame.unit is Unit.RANGE]
        back = max((frame.preceding or 0 for frame in ranges), default=0)
        ahead = max((frame.following or 0 for frame in ranges), default=0)
        return self.retained.rows(load, max(back, 0) + max(ahead, 0), of_key=self.width)

    def _emitted(self, load: Load) -> Records:
        """Rows that were emitted early, or all; else only corrections that wait, which are few."""
        few = self.row_horizons.policy.early is None and not self.ledger.recorded
        return nothing(load) if few else self._rows(load)

    def _old_rows(self, load: Load) -> Records:
        """Those that ROWS frames reach, of each partition of its own, and those that wait."""
        if self.never_full:
            return 0.0  # they stay where they are
        groups = self.reading.groups.each
        return sum(
            (group.depth + group.instants) * load.keys_if(bool(group.partition)) for group in groups
        )

    def _slices(self, load: Load) -> Records:
        """A record for each partition and slice of the row store."""
        rows = self._rows(load)
        if isinstance(rows, str):
            return rows
        return self.retained.groups(load, self.width) * rows / load.added(self.width)


def _listed(groups: Iterable[PartitionGroup]) -> str:
    """The units of the frames that reach rows whose time is over."""
    there = {call.frame.in_time.unit for group in groups for call in group.calls}
    return " and ".join(unit.value for unit in COUNTING if unit in there)
