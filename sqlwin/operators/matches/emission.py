"""What goes out of MATCH_RECOGNIZE: matches that are decided, and corrections of those that stand.

What begins where a partition was open, and is not any more, is `full`. What differs before that
from what stands is a change, which LATE sends; what is open again waits until it is decided.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.results import ResultLedger
from sqlwin.operators.emitter.schema import ADDED, EXISTS, FINAL, OLD, PENDING, STANDS, WORD
from sqlwin.operators.emitter.schema import STORE as RECORDS
from sqlwin.operators.matches.attempts import OLD_OPEN
from sqlwin.operators.matches.partitions import Partitions
from sqlwin.operators.matches.progress import OPEN, before
from sqlwin.operators.matches.resuming import SINCE


@dataclass(frozen=True)
class Emission:
    """identity: of a match."""

    partitions: Partitions
    ledger: ResultLedger
    identity: tuple[str, ...]

    def close(self, matches: pl.DataFrame, moved: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Emit what begins where a partition was open and is not any more: `full`."""
        stand = self._standing(moved, stores)
        within = self.partitions.between(matches, moved, OLD_OPEN, OPEN)
        gone = self.partitions.between(stand, moved, OLD_OPEN, OPEN)
        known, left = self._differing(within, gone, stores)
        word = pl.lit("full").alias(WORD)
        new = known.with_columns(word, pl.lit(True).alias(EXISTS))
        old = left.with_columns(word, pl.lit(False).alias(EXISTS))
        return self.ledger.send(pl.concat([new, old], how="diagonal"), stores)

    def correct(self, matches: pl.DataFrame, moved: pl.DataFrame, stores: Stores, now: int) -> None:
        """Note what differs of what was and is decided; what is open again waits for that."""
        stand = self._standing(moved, stores)
        first = moved.with_columns(
            pl.when(before(OPEN, OLD_OPEN)).then(new).otherwise(old).alias(f"__first{n}")
            for n, (new, old) in enumerate(zip(OPEN, OLD_OPEN, strict=True))
        )
        until = tuple(f"__first{n}" for n in range(len(OPEN)))
        known, gone = self._differing(
            self.partitions.between(matches, first, SINCE, until),
            self.partitions.between(stand, first, SINCE, until),
            stores,
        )
        changed = pl.concat([known.select(gone.columns), gone])
        settled = (
            self.partitions.between(stand, first, SINCE, until)
            .filter(pl.col(PENDING) > 0)
            .join(changed, on=list(self.identity), how="anti", nulls_equal=True)
        )
        reopened = self.partitions.between(stand, first, OPEN, OLD_OPEN)
        self.ledger.quiet(pl.concat([settled, reopened.filter(pl.col(PENDING) > 0)]), stores)
        flags = (pl.lit(1, pl.Int64).alias(ADDED), pl.lit(True).alias(FINAL))
        self.ledger.on_batch(changed.with_columns(flags), stores, now)

    def _standing(self, moved: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Records of matches of partitions that stand, or wait to."""
        found = stores[RECORDS].scan(START, END, self.partitions.keys(moved))
        return found.filter(STANDS | (pl.col(PENDING) > 0))

    def _differing(
        self, there: pl.DataFrame, records: pl.DataFrame, stores: Stores
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Matches that are not as they stand, with their records, and records of those that stand
        and are none."""
        known = self.ledger.known(there, stores)
        moves = (pl.col(name).ne_missing(pl.col(OLD + name)) for name in self.ledger.kept)
        differs = known.filter(pl.any_horizontal(~pl.col(STANDS), *moves))
        gone = records.filter(STANDS).join(
            there, on=list(self.identity), how="anti", nulls_equal=True
        )
        return differs, gone
