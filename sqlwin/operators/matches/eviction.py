"""What leaves the stores of MATCH_RECOGNIZE when retention is over.

A partition's attempts begin at its first row whose match may still change: the first that no match
of the rows out of retention decides. Rows before it go, but for those that PREV reads, and with
them what was emitted of the matches that begin there.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.results import ResultLedger
from sqlwin.operators.emitter.schema import STORE as RECORDS
from sqlwin.operators.horizon import by_time
from sqlwin.operators.matches.attempts import OLD_OPEN, ROWS, Attempts
from sqlwin.operators.matches.progress import BEGIN, NO_PART, NO_SEQ, OPEN, Progress, before
from sqlwin.operators.matches.progress import STORE as PROGRESS
from sqlwin.operators.weights import there
from sqlwin.polars_frames import PLACE
from sqlwin.policies import Policy
from sqlwin.schema import POSITION, TS
from sqlwin.state.contract import HORIZON


@dataclass(frozen=True)
class Eviction:
    """corrects: whether late rows change what was emitted."""

    attempts: Attempts
    progress: Progress
    ledger: ResultLedger
    policy: Policy
    corrects: bool

    def evict(self, closed: int, stores: Stores) -> None:
        """Move where attempts begin to what retention leaves open, and drop what is before: once
        in a slice of time. closed: the watermark before."""
        limit, last = self._horizon(stores.watermark), self._horizon(closed)
        slice_of = stores[ROWS].layout.slice_of
        if limit <= START or (last > START and slice_of(limit) == slice_of(last)):
            return
        rows = stores[ROWS].scan(START, END)
        records = self.progress.of(self.attempts.partitions.of(rows), stores, stores.watermark)
        begun = self._begun(records, limit, stores)
        kept = self._without_pending(records, begun, stores)
        self.progress.put(kept, stores)
        self._drop(kept, rows, limit, stores)

    def _horizon(self, watermark: int) -> int:
        """What is older is out of retention."""
        if not self.corrects:
            return watermark
        return max(by_time(watermark, self.policy.retain, self.policy.since), START)

    def _begun(self, records: pl.DataFrame, limit: int, stores: Stores) -> pl.DataFrame:
        """Records with where attempts begin from now on."""
        if not self.corrects:
            ended = pl.col(OPEN[0]) >= END  # of input, and more may come
            places = zip(BEGIN, OPEN, (limit, NO_PART, NO_SEQ), strict=True)
            return records.with_columns(
                pl.when(ended).then(pl.lit(value, PLACE[own])).otherwise(open_).alias(begin)
                for (begin, open_, value), own in zip(places, POSITION, strict=True)
            )
        _, moved = self.attempts.decided(records, BEGIN, stores, limit=limit)
        rest = [name for name in records.columns if name not in (*BEGIN, *OPEN)]
        renamed = [
            *(pl.col(open_).alias(begin) for begin, open_ in zip(BEGIN, OPEN, strict=True)),
            *(pl.col(was).alias(open_) for was, open_ in zip(OLD_OPEN, OPEN, strict=True)),
        ]
        return moved.select(*rest, *renamed)

    def _without_pending(
        self, records: pl.DataFrame, begun: pl.DataFrame, stores: Stores
    ) -> pl.DataFrame:
        """`begun`, but of partitions where a change that may not be lost waits to go out."""
        pending = self.attempts.partitions.joined(
            self.ledger.pending(stores), begun.select(*self._by, *BEGIN)
        )
        waiting = self.attempts.partitions.of(pending.filter(before(POSITION, BEGIN)))
        if not self._by:
            return records if len(waiting) else begun
        on = list(self._by)
        moved = begun.join(waiting, on=on, how="anti", nulls_equal=True)
        stay = records.join(waiting, on=on, how="semi", nulls_equal=True)
        return pl.concat([moved.select(records.columns), stay])

    def _drop(self, begun: pl.DataFrame, rows: pl.DataFrame, limit: int, stores: Stores) -> None:
        """Rows before where attempts begin, but for those that PREV reads, and their records."""
        begins = begun.select(*self._by, pl.col(BEGIN[0]).alias(HORIZON))
        floors = self._row_floors(begun, rows) if self.attempts.back else begins
        for name, horizons in ((ROWS, floors), (RECORDS, begins), (PROGRESS, begins)):
            lowest = limit if horizons.is_empty() else horizons[HORIZON].min()
            if self._by and len(horizons):
                stores[name].cut(horizons)
            stores[name].expire(int(lowest))  # type: ignore[arg-type]

    def _row_floors(self, begun: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
        joined = self.attempts.partitions.joined(rows, begun.select(*self._by, *BEGIN))
        older = there(joined).filter(before(POSITION, BEGIN))
        own = pl.col(TS).sort().tail(self.attempts.back).first()
        kept = (
            older.group_by(self._by).agg(own.alias(HORIZON))
            if self._by
            else older.select(own.alias(HORIZON))
        )
        begins = begun.select(*self._by, BEGIN[0])
        return self.attempts.partitions.joined(begins, kept).select(
            *self._by, pl.min_horizontal(HORIZON, BEGIN[0]).alias(HORIZON)
        )

    @property
    def _by(self) -> tuple[str, ...]:
        return self.attempts.partitions.by
