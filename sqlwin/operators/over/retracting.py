"""Rows that an OVER operator's input takes back, and rows that come in their place.

A batch is taken in two steps: first what is retracted, then what is new. A row that was
emitted and is no more goes out `-D`; one that comes under the position of another is that
row, `+U`, also where its instant is another: then its record moves there. Of a row whose
followers are retracted after it was emitted full the frame is open again: from then on
it counts as shown, so what changes is `late`. Of a row whose session is shorter without what is
retracted, and so is full, the frame has become full in the batch. A row that is not there, and one
that has left the row store, cannot be retracted: it is passed over. Of one that is evicted and
still in frames of others only these change: its result stays as it was emitted.

Invariant: of the records of one position at most one was ever emitted or waits.

Worked example, LEAD(x), rows at 10, 20, watermark 25: the row at 10 is emitted full. The
one at 20 is retracted: LEAD of the one at 10 is NULL, emitted `late`. One at 22 comes: emitted
`late` again.
"""

from __future__ import annotations

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds, everything
from sqlwin.operators.emitter.results import ResultLedger
from sqlwin.operators.emitter.schema import ADDED, DUE, FINAL, FORCED, OLD, PENDING, STANDS, STORE
from sqlwin.operators.over.base_sums import ROWS, stored
from sqlwin.operators.over.eviction import Leaving
from sqlwin.operators.over.fullness import Fullness
from sqlwin.operators.over.reading import Reading
from sqlwin.operators.over.touching import FILLED, HELD, REOPENED
from sqlwin.operators.weights import weighed
from sqlwin.schema import PART, POSITION, REVISION, SEQ, TS

MOVED, AGAIN, LATE_ONE = "__moved", "__again", "__late_one"


@dataclass(frozen=True)
class Retracting:
    """Of the rows of an OVER operator. per_instant: windows are not known by positions.

    early: rows that are not full go out.
    """

    reading: Reading
    leaving: Leaving
    ledger: ResultLedger
    per_instant: bool
    early: bool

    @property
    def fullness(self) -> Fullness:
        return self.leaving.fullness

    # What goes.

    def known(self, removed: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The rows as they are stored; of those that are not, or are left to the history, none."""
        if removed.is_empty():
            return removed
        on = list(POSITION)
        there = stored(stores, *bounds(removed[TS]))
        rows = there.join(removed, on=on, how="semi", maintain_order="left")
        return rows.join(self.reading.history.rows(stores), on=on, how="anti")

    def take_out(self, rows: pl.DataFrame, stores: Stores) -> None:
        if rows.is_empty():
            return
        stores[ROWS].put(weighed(rows, -1))
        for sums in self.reading.sums:
            sums.retract(rows, stores)

    # What comes again.

    def returning(self, added: pl.DataFrame, left: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Identities of rows that were emitted, were not full, were retracted, and come again.

        left: as they were retracted they became full. Records of rows that come at another
        instant are there from now on.
        """
        on = list(self.ledger.identity)
        if self.per_instant or added.is_empty():
            return left.clear()
        moved = self._moved(added, left, stores)
        rows = added.select(on).join(moved, on=on, how="anti", nulls_equal=True)
        still_open = pl.Series(~self.fullness.timed(rows, stores.watermark))
        waits = still_open | _among(rows, left)
        waiting = rows.filter(waits)
        self._show(rows.filter(~waits), stores)
        opened = moved.filter(~pl.col(LATE_ONE)).select(on)
        known = self.ledger.known(pl.concat([waiting, opened]), stores)
        return known.filter(STANDS).select(on)

    def filled(self, touched: pl.DataFrame, again: pl.DataFrame) -> pl.DataFrame:
        """`touched` where those that come `again` and are full have become so in this batch."""
        if again.is_empty():
            return touched
        filled = pl.col(FILLED) | (pl.col(FINAL) & _among(touched, again))
        return touched.with_columns(filled.alias(FILLED))

    def closed(self, touched: pl.DataFrame, closed: pl.DataFrame) -> pl.DataFrame:
        """`touched` with those that were open before the batch and are full by what it retracts,
        where its new rows have not opened them again: they have become full in it."""
        if closed.is_empty():
            return touched
        among = _among(touched, closed)
        touched = touched.with_columns(
            pl.col(FILLED) | (pl.col(FINAL) & among), pl.col(REOPENED) & ~among
        )
        marks = {FINAL: True, HELD: False, FILLED: True, REOPENED: False}
        alone = closed.join(touched, on=closed.columns, how="anti", nulls_equal=True)
        alone = alone.with_columns(
            pl.lit(0, pl.Int64).alias(ADDED), *(pl.lit(v).alias(k) for k, v in marks.items())
        )
        return pl.concat([touched, alone.select(touched.columns)])

    def rest(self, added: pl.DataFrame, left: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of `left` for which nothing came, and that are out, with their records."""
        on = list(self.ledger.identity)
        removed = left.join(added, on=on, how="anti", nulls_equal=True)
        return self.ledger.known(removed, stores).filter(STANDS)

    def _show(self, late: pl.DataFrame, stores: Stores) -> None:
        """Rows that were emitted full and may not be full now."""
        known = self.ledger.known(late, stores).filter(STANDS)
        self.ledger.note(known.with_columns(pl.lit(True).alias(FORCED)), stores)

    def _moved(self, added: pl.DataFrame, left: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Let records of positions that came at another instant go along.

        Gives where they are now, and `__late_one`: whether they were full then.
        """
        place, on = [PART, SEQ], list(self.ledger.identity)
        used = (pl.col(REVISION) >= 0) | (pl.col(PENDING) > 0)
        records = self.leaving.lasting(everything(stores, STORE).filter(used), stores)
        rest = [name for name in on if name not in place]
        to = added.select(PART, SEQ, *(pl.col(name).alias(MOVED + name) for name in rest))
        elsewhere = [pl.col(name).ne_missing(pl.col(MOVED + name)) for name in rest]
        going = records.join(to, on=place, how="inner").filter(pl.any_horizontal(elsewhere))
        going = going.join(stored(stores), on=on, how="anti", nulls_equal=True)
        if going.is_empty():
            return added.select(on).clear().with_columns(pl.lit(False).alias(LATE_ONE))
        late = pl.Series(self.fullness.timed(going, stores.watermark)) & ~_among(going, left)
        there = going.with_columns(pl.col(MOVED + name).alias(name) for name in rest)
        stays_late = late & pl.Series(self.fullness.timed(there, stores.watermark))
        waits = pl.col(STANDS) | stays_late | pl.lit(self.early)
        emitted = going.with_columns(
            (pl.col(FORCED) | (pl.col(STANDS) & late)).alias(FORCED),
            pl.when(waits).then(DUE).alias(DUE),
            pl.when(waits).then(PENDING).otherwise(0).alias(PENDING),
        )
        columns = stores[STORE].layout.schema.names()
        here = emitted.with_columns(pl.col(MOVED + name).alias(name) for name in rest).select(
            columns
        )
        old = [pl.lit(None).alias(name) for name in columns if name.startswith(OLD)]
        stores[STORE].put(
            going.with_columns(
                pl.lit(-1, pl.Int32).alias(REVISION),
                pl.lit(None, pl.Int64).alias(DUE),
                pl.lit(0, pl.Int64).alias(PENDING),
                pl.lit(False).alias(STANDS),
                pl.lit(False).alias(FORCED),
                *(e.cast(going.schema[e.meta.output_name()]) for e in old),
            ).select(columns)
        )
        stores[STORE].put(here)
        self.ledger.renew_deadline(stores)
        return here.select(on).with_columns(late.alias(LATE_ONE))


def _among(rows: pl.DataFrame, known: pl.DataFrame) -> pl.Series:
    """Which of `rows` are among `known` identities."""
    marked = known.unique().with_columns(pl.lit(True).alias(AGAIN))
    on = known.columns
    found = rows.join(marked, on=on, how="left", nulls_equal=True, maintain_order="left")
    return found[AGAIN].fill_null(False)
