"""From where on the matches of a partition are computed anew: a place that is surely attempted.

Late rows change no match that ends before them. With WITHIN that is so of each that begins more
than that long before; in a pattern of at most n rows, of each that begins n rows before or earlier.
Where attempts are made depends on the matches before, so they begin anew at
the last match that stands before all that may change or waits to go out; where there is none, at
that change itself, for then each row before it was attempted, and began none.

A row that is retracted is one more that changes. How many rows lie before it is another matter then
than when a match took it, so of a pattern without WITHIN attempts begin where they may.

Worked example, WITHIN 10, matches at 5, 20, 32 stand and a row at 45 comes: only what begins at 35
or later may have it, and attempts begin at 32.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.schema import PENDING, STANDS
from sqlwin.operators.emitter.schema import STORE as RECORDS
from sqlwin.operators.matches.attempts import ROWS
from sqlwin.operators.matches.matching import Matching
from sqlwin.operators.matches.partitions import Partitions
from sqlwin.operators.matches.progress import BEGIN, NO_PART, NO_SEQ, OPEN, before
from sqlwin.patterns import Excluded, contains, longest
from sqlwin.polars_frames import PLACE
from sqlwin.schema import POSITION, TS

SINCE = ("__since", "__since_part", "__since_seq")
_CHANGED = "__changed"
_OWN = {name: f"__own{name}" for name in POSITION}


@dataclass(frozen=True)
class Resuming:
    partitions: Partitions
    matching: Matching
    weighted: bool = False

    @property
    def knows(self) -> bool:
        """Whether matches end in time or have a greatest length, and each of them leaves a
        record."""
        pattern = self.matching.pattern
        ends = self.matching.within is not None or (
            longest(pattern) is not None and not self.weighted
        )
        return ends and not contains(pattern, Excluded)

    def after(self, late: pl.DataFrame, records: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The partitions' records with `SINCE`, as of rows that came late, and are stored."""
        within, most = self.matching.within, longest(self.matching.pattern)
        if within is not None:
            return self.at(late.with_columns(pl.col(TS) - within), records, stores)
        if most is None:
            return self.at(late, records, stores)
        return self.at(self._before(late, max(most - 1, 0), records, stores), records, stores)

    def _before(
        self, late: pl.DataFrame, count: int, records: pl.DataFrame, stores: Stores
    ) -> pl.DataFrame:
        """The rows with the instants of those that are so many before them in their partitions."""
        rows = stores[ROWS].scan(START, END, self.partitions.keys(records)).sort(POSITION)
        first = pl.col(TS).shift(count)
        by = self.partitions.by
        reached = rows.with_columns((first.over(by) if by else first).fill_null(START))
        known = rows.select(POSITION).rename(_OWN).hstack(reached)
        own = late.select(POSITION).rename(_OWN)
        return known.join(own, on=list(_OWN.values()), how="semi")

    def at(self, changed: pl.DataFrame, records: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The same where matches that begin before `changed` are as they stand, or wait."""
        if not self.knows:
            begins = zip(BEGIN, SINCE, strict=True)
            return records.with_columns(pl.col(begin).alias(since) for begin, since in begins)
        emitted = stores[RECORDS].scan(START, END, self.partitions.keys(records))
        waiting = emitted.filter(pl.col(PENDING) > 0)
        places = [each.select(*self.partitions.by, TS) for each in (changed, waiting)]
        first = self._least(pl.concat(places))
        joined = self.partitions.joined(emitted, first)
        stands = joined.filter(STANDS, pl.col(PENDING) == 0, pl.col(TS) < pl.col(_CHANGED))
        known = self.partitions.joined(self.partitions.joined(records, first), self._last(stands))
        edge = (pl.col(_CHANGED), pl.lit(NO_PART), pl.lit(NO_SEQ))
        found = known.with_columns(
            pl.when(pl.col(SINCE[0]).is_not_null())
            .then(since)
            .otherwise(at.cast(PLACE[own]))
            .alias(since)
            for since, at, own in zip(SINCE, edge, POSITION, strict=True)
        )
        for others, wrong in ((OPEN, before(OPEN, SINCE)), (BEGIN, before(SINCE, BEGIN))):
            found = found.with_columns(
                pl.when(wrong).then(other).otherwise(since).alias(since)
                for since, other in zip(SINCE, others, strict=True)
            )
        return found.select(*records.columns, *SINCE)

    def _least(self, changed: pl.DataFrame) -> pl.DataFrame:
        by = self.partitions.by
        """Where the first change of each partition is."""
        least = pl.col(TS).min().alias(_CHANGED)
        return changed.group_by(by).agg(least) if by else changed.select(least)

    def _last(self, stands: pl.DataFrame) -> pl.DataFrame:
        """Where the last match of each partition begins."""
        places = [
            pl.col(own).last().alias(since) for own, since in zip(POSITION, SINCE, strict=True)
        ]
        ordered = stands.sort(POSITION)
        by = self.partitions.by
        return ordered.group_by(by).agg(places) if by else ordered.select(places)
