"""Which rows came too late for every frame in ROWS that is kept.

A row that is older than retention is in no frame that is kept iff so many rows of its partition are
between it and the first row that is kept as the frames look back. Those rows are stored: the last
ones of each partition stay, however old. Rows of one batch are judged together.

Invariant: of the rows that count none is between a row that does not, and those that are kept;
hence what a batch's expired rows are, does not depend on which of them are looked at.

Worked example, ROWS 2 PRECEDING, all that is older than 60 out of retention; rows at 10, 20 and
70. One at 15 is in the frame of the row at 70, behind the one at 20. One at 5 is not, for those at
10 and 20 are between them.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.instants import START
from sqlwin.kernels.frames import Mask, ends
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import DOUBT_PART, Stores
from sqlwin.operators.over.base_sums import ROWS, stored
from sqlwin.operators.over.fullness import Fullness
from sqlwin.operators.over.ordering import arrange
from sqlwin.operators.over.partition_groups import PartitionGroup
from sqlwin.operators.over.reading import Reading
from sqlwin.schema import POSITION, TS
from sqlwin.state.stores.session_store import FROM


@dataclass(frozen=True)
class FrameJudging:
    reading: Reading
    fullness: Fullness

    def expired(self, rows: pl.DataFrame, stores: Stores, ended: int) -> pl.DataFrame:
        """Those of `rows` in doubt that are, prepared or not, with `__from`: their instant."""
        doubtful = rows.filter(pl.col(DOUBT_PART).is_not_null())
        doubtful = doubtful.with_columns(pl.col(TS).alias(FROM))
        if doubtful.is_empty():
            return doubtful
        older = self._older(rows, stores, ended - self.fullness.after)
        held = np.zeros(len(older), dtype=np.bool_)
        for group in self.reading.groups.each:
            held |= self._reached(older, group)
        counted = older.filter(pl.Series(held)).select(*POSITION)
        return doubtful.join(counted, on=list(POSITION), how="anti", maintain_order="left")

    def repeated(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of `rows` that are stored where no position is kept for admission."""
        removed = rows.filter(pl.col(TS) < stores[ROWS].horizon)  # admission knows the others
        if removed.is_empty():
            return removed
        history = self.reading.history.rows(stores)
        return removed.join(history, on=list(POSITION), how="semi", maintain_order="left")

    def _older(self, rows: pl.DataFrame, stores: Stores, mark: int) -> pl.DataFrame:
        """Stored rows and those of the batch that are not kept, in order."""
        history = self.reading.history.rows(stores)
        columns = self.reading.columns
        parts = (history, stored(stores, START, mark), rows.filter(pl.col(TS) < mark))
        every = pl.concat(part.select(columns) for part in parts)
        return every.unique(POSITION, maintain_order=True).sort(*POSITION)

    def _reached(self, rows: pl.DataFrame, group: PartitionGroup) -> Mask:
        """Which are so near to the end of their partition that frames of later rows hold them."""
        within = np.zeros(len(rows), dtype=np.bool_)
        arranged = arrange(rows, TS, group.partition, group.order)
        behind = ends(arranged.runs) - 1 - np.arange(len(rows))
        within[arranged.order] = behind < group.back
        return within
