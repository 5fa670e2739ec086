"""MATCH_RECOGNIZE: matches go out when they are decided, and late rows correct them.

A match is known by its first row, and with ALL ROWS PER MATCH each of its rows by both, so what
becomes of it is a matter of the ledger: other values are an update, and a row that begins none any
more is retracted. Which matches there are is computed anew from rows (`matching`): when the
watermark moves, from where a partition was open; when a late row comes, or a row is retracted, from
a match that it cannot have (`resuming`). What then differs from what stands goes out by LATE; what
is open again waits until it is decided. Rows that only matches of before have read are evicted, and
with them what was emitted of these; `progress` says from where on attempts are made.

| store       | record                                       |
|-------------|----------------------------------------------|
| `rows`      | the row                                      |
| `progress`  | partition: where it begins, and where open   |
| `revisions` | a match that stands, see `emitter.schema`    |

Invariant: of what begins before the open position of a partition, the matches are those that
stand, or their change is pending in the ledger.

Worked example, a b+ c, all at the watermark 5: a at 0, b at 1, c at 2 went out. A row at 1.5 that
is none of b comes: no match begins at 0 any more, and `-D` goes out late.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from sqlwin.instants import END, SECOND
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.changes import row_key_at
from sqlwin.operators.emitter.results import ResultLedger, Results
from sqlwin.operators.emitter.schema import FINAL
from sqlwin.operators.emitter.schema import STORE as RECORDS
from sqlwin.operators.load import Load, Records, Retained
from sqlwin.operators.matches.attempts import ROW_PLACE, ROW_TYPES, ROWS, Attempts
from sqlwin.operators.matches.emission import Emission
from sqlwin.operators.matches.eviction import Eviction
from sqlwin.operators.matches.matching import Matching
from sqlwin.operators.matches.partitions import Partitions
from sqlwin.operators.matches.progress import NO_PART, OPEN, Progress, before
from sqlwin.operators.matches.progress import STORE as PROGRESS
from sqlwin.operators.matches.reading import Reading
from sqlwin.operators.matches.resuming import SINCE, Resuming
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.operators.weights import SIGN, effective
from sqlwin.operators.windows.stores import emitted
from sqlwin.polars_frames import PLACE
from sqlwin.policies import Late, Policy
from sqlwin.schema import POSITION, TS, WEIGHT
from sqlwin.state.combine import keep_all, last_written
from sqlwin.state.contract import HORIZON
from sqlwin.state.slices import ENDLESS, slice_width

DAY = 86_400 * SECOND
NO_WITHIN = "without WITHIN a match may stay open for ever"


@dataclass(frozen=True)
class PatternMatcher(Results):
    """carried: the input columns and their types. measures: with the types of their values. kept:
    columns of the rows of a match that are given with ALL ROWS PER MATCH. weighted: rows may be
    retracted, see `weights`."""

    stream: str
    carried: dict[str, pl.DataType]
    partition: tuple[str, ...]
    matching: Matching
    measures: Reading
    types: tuple[pl.DataType, ...]
    policy: Policy
    update_before: bool = False
    kept: tuple[str, ...] = ()
    weighted: bool = False

    @property
    def keys(self) -> dict[str, pl.DataType]:
        return {name: self.carried[name] for name in self.partition}

    @property
    def identity(self) -> tuple[str, ...]:
        return self.attempts.identity

    @property
    def output(self) -> dict[str, pl.DataType]:
        names = (term.name for term in self.measures.terms)
        rows = {name: self.carried[name] for name in self.kept}
        return {**self.keys, **rows, **dict(zip(names, self.types, strict=True))}

    @cached_property
    def ledger(self) -> ResultLedger:
        kept = (*self.kept, *(term.name for term in self.measures.terms))
        return ResultLedger(self, self.identity, TS, kept, recorded=True)

    @cached_property
    def progress(self) -> Progress:
        return Progress(self.keys)

    @cached_property
    def partitions(self) -> Partitions:
        return Partitions(self.partition)

    @cached_property
    def attempts(self) -> Attempts:
        reads = (self.measures, self.output, self.kept)
        return Attempts(self.partitions, self.matching, *reads)

    @cached_property
    def resuming(self) -> Resuming:
        return Resuming(self.partitions, self.matching, self.weighted)

    @cached_property
    def eviction(self) -> Eviction:
        return Eviction(self.attempts, self.progress, self.ledger, self.policy, self.corrects)

    @cached_property
    def emission(self) -> Emission:
        return Emission(self.partitions, self.ledger, self.identity)

    @property
    def corrects(self) -> bool:
        return self.policy.late is not Late.NEVER

    # Stores.

    @property
    def width(self) -> int:
        retain = self.policy.retain
        if retain is None:
            retain = ENDLESS if self.corrects else DAY
        return slice_width(retain + (self.matching.within or 0))

    def stores(self) -> list[StoreSpec]:
        row = {**self.carried, **PLACE, **(SIGN if self.weighted else {})}
        rows = layout_of(ROWS, row, self.partition, POSITION, self.width)
        combine = last_written if self.weighted else keep_all
        words = "rows that matches may have"
        return [
            StoreSpec(rows, combine(rows), words, self._rows, pins=True),
            self.progress.spec(self.width),
            emitted(self.ledger, {**self.output, **PLACE, **ROW_TYPES}, self.width, self._rows),
        ]

    def _rows(self, load: Load) -> Records:
        within = self.matching.within
        if within is None:
            return NO_WITHIN
        retained = Retained(self.policy.retain, None, self.width, bool(self.partition))
        rows = retained.rows(load, within)
        more = self.attempts.back * load.keys_if(bool(self.partition))
        return rows if isinstance(rows, str) else rows + more

    # What comes.

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        if self.weighted:  # by position, what is retracted first
            return effective(rows).select(*self.carried, *POSITION, WEIGHT)
        return rows[[*self.carried, *POSITION]]

    def horizons(self, stores: Stores) -> pl.DataFrame:
        """Nothing counts rows of a key."""
        none = {**self.keys, HORIZON: pl.Int64()}
        return pl.DataFrame(schema=none)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        known = self.progress.of(self.partitions.of(batch), stores, stores.watermark)
        if not self.corrects:  # what was passed is as if it had not come
            batch = self.partitions.joined(batch, known).filter(~before(POSITION, OPEN))[
                batch.columns
            ]
        stores[ROWS].put(batch)
        # behind an end of input rows may be before what is open, and not before the watermark
        changed = self.partitions.joined(batch, known).filter(
            (pl.col(TS) < stores.watermark) | before(POSITION, OPEN)
        )
        touched = self.partitions.of(changed)
        if touched.is_empty():
            return self.nothing()
        records = self.progress.of(touched, stores, stores.watermark)
        if self.corrects:
            records = self.resuming.after(changed, records, stores)
        matches, moved = self.attempts.decided(records, SINCE if self.corrects else OPEN, stores)
        if self.corrects:
            self.emission.correct(matches, moved, stores, now)
        out = self.emission.close(matches, moved, stores)
        self.progress.put(moved, stores)
        return out

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        closed = stores.watermark
        if watermark <= closed:
            return self.nothing()
        stores.watermark = watermark
        records = self._waiting(closed, watermark, stores)
        matches, moved = self.attempts.decided(records, OPEN, stores)
        out = self.emission.close(matches, moved, stores)
        self.progress.put(moved, stores)
        self.eviction.evict(closed, stores)
        return out

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        """All rows are known, so all is decided; a row that comes yet is late."""
        late = self.ledger.on_end(stores)
        records = self._waiting(stores.watermark, END, stores)
        matches, moved = self.attempts.decided(records, OPEN, stores, ended=True)
        out = self.emission.close(matches, moved, stores)
        self.progress.put(moved, stores)
        return pl.concat([late, out])

    # Partitions that are decided further.

    def _waiting(self, closed: int, until: int, stores: Stores) -> pl.DataFrame:
        """Progress of partitions that are open before `until`, or have rows since `closed`."""
        fresh = self.partitions.of(stores[ROWS].scan(closed, until))
        records = everything(stores, PROGRESS)
        waiting = records.filter(pl.col(OPEN[1]) > NO_PART, pl.col(OPEN[0]) < until)
        if not self.partition:
            every = self.progress.of(pl.DataFrame({"__all": [True]}), stores, closed)
            return every.head(len(fresh) or len(waiting))
        keys = pl.concat([fresh, waiting.select(self.partition)]).unique(maintain_order=True)
        return self.progress.of(keys, stores, closed)

    # What the ledger needs.

    def judged(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """What waits in the ledger was decided."""
        return ids.with_columns(pl.lit(True).alias(FINAL))

    def open_results(self, stores: Stores) -> pl.DataFrame:
        """None: those that are open are decided by `on_end` itself."""
        return stores[RECORDS].layout.empty().select(self.identity)

    def valued(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if ids.is_empty():
            return ids.with_columns(pl.lit(None, self.output[n]).alias(n) for n in self.ledger.kept)
        records = self.progress.of(self.partitions.of(ids), stores, stores.watermark)
        records = self.resuming.at(ids, records, stores)
        matches, _ = self.attempts.decided(records, SINCE, stores)
        on = list(self.identity)
        return ids.join(matches, on=on, how="inner", nulls_equal=True, maintain_order="left")

    def presented(self, results: pl.DataFrame) -> pl.DataFrame:
        if self.matching.all_rows is None:
            return results.sort(POSITION).with_columns(row_key_at(self.stream))
        own = {name: ROW_TYPES[name] for name in ROW_PLACE[1:]}
        return results.sort(POSITION + ROW_PLACE).with_columns(row_key_at(self.stream, own))
