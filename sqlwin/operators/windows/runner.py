"""Windows measured in messages that have no beginning: each message's, from the first on.

What came before a batch is in one accumulator for each partition, and no message is
kept. As of a sliding window of n messages, each window is full with its message.

Invariant: `sums` holds, of each partition, all messages that passed WHERE.

Worked example, SUM(value) of 4, 2, then 1: [1, 2) is 4, [1, 3) is 6, and 6 is kept; of
the next batch [1, 4) is 7.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.order.numbering import AT, COUNT, NUMBER
from sqlwin.operators.order.numbering import STORE as COUNTS
from sqlwin.operators.over.framing import evaluate
from sqlwin.operators.state_queries import FULL_WINDOW, STATE, MessageRange, StateQuery, of_keys
from sqlwin.operators.store_spec import ONE_SLICE, StoreSpec, layout_of
from sqlwin.operators.windows.slider import TupleSlider
from sqlwin.polars_frames import PLACE, empty
from sqlwin.schema import POSITION
from sqlwin.state.combine import merged

SUMS = "sums"


@dataclass(frozen=True)
class TupleRunner(TupleSlider):
    """calls: over a RANGE from the first number on. size: without meaning."""

    def stores(self) -> list[StoreSpec]:
        sums = layout_of(SUMS, self.columns, self.partition, (AT,), ONE_SLICE)
        combine = merged(sums, [expr for call in self.calls for expr in call.fold.merge()])
        of = "each key" if self.partition else "all messages"
        counts = self.numbering.spec()
        held = StoreSpec(sums, combine, f"accumulators of {of}", counts.expected)
        return [held, counts, *self.past.stores()]

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        numbered, counts = self.numbering.number(batch, stores)
        rows = numbered.filter(pl.col(self.where)) if self.where else numbered
        ordered = rows.sort(NUMBER, *self.partition)
        before = everything(stores, SUMS).drop(AT)
        every = np.ones(len(ordered), dtype=np.bool_)
        values = evaluate(ordered, self.calls, every, NUMBER, self.stream, before)
        stores[SUMS].put(self.sums(rows))
        emitted = self.emitted(ordered.with_columns(**values), pl.lit(1, pl.Int64))
        self.past.keep(emitted, counts, stores)
        return emitted

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """Of each partition the one of all messages so far: window, values, and what is carried
        of the partition alone. With RETAIN n ROWS those of the newest messages, as emitted."""
        if self.retain_rows is not None:
            return super().windows(query, stores)
        sums = of_keys(everything(stores, SUMS).drop(AT), query.keys)
        numbered = self.numbering.with_counts(sums, everything(stores, COUNTS))
        found = numbered.filter(pl.col(COUNT) >= query.lo, query.hi >= 1)
        edges = pl.lit(1, pl.Int64).alias("window_start"), (pl.col(COUNT) + 1).alias("window_end")
        values = [call.fold.finish(found).alias(call.name) for call in self.calls]
        full = pl.lit(FULL_WINDOW).alias(STATE)
        return found.with_columns(*edges, *values, full).select(
            *self.partition, "window_start", "window_end", *(c.name for c in self.calls), STATE
        )

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        raise QueryError("the query keeps no messages: those so far are kept as partial results")

    def sums(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Records of the store: rows of a partition as one accumulator."""
        lifts = [expr for call in self.calls for expr in call.fold.lift()]
        at = pl.lit(0, pl.Int64).alias(AT)
        return rows.sort(POSITION).group_by(*self.partition, at).agg(lifts)

    @property
    def columns(self) -> dict[str, pl.DataType]:
        """Of a record."""
        return dict(self.sums(empty({**self.carried, **PLACE})).schema)
