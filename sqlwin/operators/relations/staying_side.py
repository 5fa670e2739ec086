"""One side of a join of relations: its rows, each for as long as it stays.

Invariant: a row is there from the instant it enters to the one it leaves at, and is found by the
identity that both have.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import row_key
from sqlwin.operators.load import Load, Records, not_estimated
from sqlwin.operators.relations.changes import LEFT, STAGE, WAITS
from sqlwin.operators.relations.stays import ENTERS, LEAVES, ROW, gone, staying
from sqlwin.operators.store_spec import ONE_SLICE, Columns, StoreSpec, layout_of
from sqlwin.polars_frames import PLACE
from sqlwin.schema import PART, POSITION, SEQ, TS, WEIGHT
from sqlwin.state.combine import last_written
from sqlwin.state.slices import slice_width
from sqlwin.windows.stays import Stay

AT: pl.DataType = pl.Datetime("us", "UTC")
ID, IN = "__id", "__in"
SPAN = (ENTERS, LEAVES)


def identified(stay: Stay) -> pl.Expr:
    """What a row is known by: its position, or what a change says."""
    if stay.there is not None:
        return pl.col(stay.partition[0])
    return row_key({PART: pl.Int32(), SEQ: pl.Int64()})


@dataclass(frozen=True)
class StayingSide:
    """columns: of its rows. keys: equal to those of the other side. retain: microseconds."""

    name: str
    columns: Columns
    keys: tuple[str, ...]
    stay: Stay
    retain: int

    @property
    def spec(self) -> StoreSpec:
        longest = self.stay.longest
        width = ONE_SLICE if longest is None else slice_width(longest + self.retain)
        columns = {**self.columns, **PLACE, STAGE: pl.Int8()}

        def expected(load: Load) -> Records:
            kept = (longest or 0) + self.retain + width
            return load.added(load.delays[int(self.name == "right")] + kept)

        layout = layout_of(self.name, columns, (), POSITION, width)
        words = "rows that wait, or have not left" if self.stay.timed else "the table"
        known = not_estimated if longest is None else expected
        return StoreSpec(layout, last_written(layout), words, known)

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        weight = [WEIGHT] if WEIGHT in rows.columns else []
        kept = rows.select(*self.columns, *POSITION, *weight)
        return kept if self.stay.timed else kept.with_columns(pl.lit(START, pl.Int64).alias(TS))

    def put(self, rows: pl.DataFrame, stores: Stores) -> None:
        """Of several of one position the last counts; a weight of -1 retracts."""
        gone = pl.col(WEIGHT) < 0 if WEIGHT in rows.columns else pl.lit(False)
        last = rows.unique(POSITION, keep="last", maintain_order=True)
        stage = pl.when(gone).then(LEFT).otherwise(WAITS).cast(pl.Int8).alias(STAGE)
        stores[self.name].put(last.select(*self.columns, *POSITION, stage))

    def staying(self, before: int, stores: Stores) -> pl.DataFrame:
        """Rows of earlier instants, with their stays."""
        rows = stores[self.name].scan(START, before).filter(pl.col(STAGE) == WAITS)
        return staying(rows.drop(STAGE), self.stay).with_row_index(ROW)

    def retire(self, rows: pl.DataFrame, before: int, stores: Stores) -> None:
        """Evict rows that left before an instant, and those of before it that were retracted."""
        store = stores[self.name]
        if self.stay.longest is not None:
            store.expire(max(before - self.stay.longest, START))
            return
        retracted = store.scan(START, before).filter(pl.col(STAGE) == LEFT)
        left = [each.select(POSITION) for each in (retracted, gone(rows, self.stay, before))]
        if any(map(len, left)):
            store.erase(pl.concat(left))

    def marked(self, rows: pl.DataFrame) -> pl.DataFrame:
        """As it stands beside a row of the other side."""
        own = {name: self.mark(name) for name in (ROW, *SPAN)}
        kept = rows.select(*self.columns, *own, identified(self.stay).alias(self.mark(ID)))
        return kept.rename(own)

    def mark(self, name: str) -> str:
        return f"__{self.name}.{name}"
