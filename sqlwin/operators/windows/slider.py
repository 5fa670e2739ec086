"""Sliding windows measured in messages: one for each message, of it and those before.

A message's window is full with the message, so it goes out `full` at once, and for
good: there is nothing to send early, and a silent stream leaves nothing open.

The last size - 1 messages of a partition stay in a ring of as many slots, where
the newest overwrites what no window will read again.

Invariant: the ring holds every message that passed WHERE and whose number is
within size - 1 of the partition's count.

Worked example, the last 3 messages WHERE value > 0, of values 4, 0, 2: message 1 is
alone in [1, 2); message 2 is numbered and has no window; that of message 3, [1, 4),
holds 4 and 2.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.errors import QueryError
from sqlwin.kernels.frames import Mask
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.changes import row_key
from sqlwin.operators.emitter.kernel import changelog
from sqlwin.operators.emitter.schema import EXISTS, STANDS, WORD
from sqlwin.operators.load import Load, Records
from sqlwin.operators.order.numbering import BEFORE, COUNT, NUMBER, Numbering
from sqlwin.operators.order.numbering import STORE as COUNTS
from sqlwin.operators.over.framing import FrameCall, evaluate
from sqlwin.operators.state_queries import STATE, MessageRange, StateQuery
from sqlwin.operators.store_spec import ONE_SLICE, StoreSpec, layout_of
from sqlwin.operators.windows.counting import Counting
from sqlwin.operators.windows.past import PastWindows
from sqlwin.polars_frames import PLACE
from sqlwin.schema import REVISION, ROW_KEY
from sqlwin.state.combine import last_written

RING = "ring"
SLOT, _WANTED = "__slot", "__wanted"


@dataclass(frozen=True)
class TupleSlider(Counting):
    """A window of the last `size` messages of the partition for each message.

    calls: over a RANGE of size - 1 back, for they slide over the numbers: messages
    that WHERE drops leave gaps. retain_rows: the n of RETAIN n ROWS.
    """

    stream: str
    size: int
    partition: tuple[str, ...]
    carried: dict[str, pl.DataType]
    calls: tuple[FrameCall, ...]
    where: str | None = None
    retain_rows: int | None = None

    @property
    def past(self) -> PastWindows:
        """What was emitted of the newest messages."""
        return PastWindows(self.retain_rows, self.partition, self.partition, self.output)

    @property
    def output(self) -> dict[str, pl.DataType]:
        window = {"window_start": pl.Int64(), "window_end": pl.Int64()}
        return {**self.carried, **window, **{call.name: call.dtype for call in self.calls}}

    @property
    def numbering(self) -> Numbering:
        return Numbering({name: self.carried[name] for name in self.partition})

    def stores(self) -> list[StoreSpec]:
        columns = {**self.carried, **PLACE, NUMBER: pl.Int64(), SLOT: pl.Int64()}
        ring = layout_of(RING, columns, self.partition, (SLOT,), ONE_SLICE)
        words = "the last rows of each key" if self.partition else "the last rows"
        held = StoreSpec(ring, last_written(ring), words, self._held_rows)
        return [held, self.numbering.spec(), *self.past.stores()]

    def _held_rows(self, load: Load) -> Records:
        return (self.size - 1) * load.keys_if(bool(self.partition))

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        numbered, counts = self.numbering.number(batch, stores)
        rows = numbered.filter(pl.col(self.where)) if self.where else numbered
        held = self._held(counts, stores).select(rows.columns)
        both = pl.concat([held, rows])
        self._keep(both, counts, stores)
        emitted = self._emit(both, np.arange(len(both)) >= len(held))
        self.past.keep(emitted, counts, stores)
        return emitted

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        return self.nothing()

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        return self.nothing()

    def next_deadline(self, stores: Stores) -> int | None:
        return None

    # State queries.

    @property
    def key(self) -> dict[str, pl.DataType]:
        return {name: self.carried[name] for name in self.partition}

    @property
    def order(self) -> tuple[str, ...]:
        return ("window_end", *self.partition)

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        if self.retain_rows is None:
            raise QueryError(
                "the query keeps no windows: each is emitted full with its message",
                legal="RETAIN n ROWS; messages(…), the last of each partition",
            )
        return self.past.found(query, stores).select(*self.output, STATE, REVISION, ROW_KEY)

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        """Those of the ring: the last size - 1 of each partition."""
        held = self.numbering.with_counts(everything(stores, RING), everything(stores, COUNTS))
        live = held.filter(pl.col(NUMBER) > pl.col(COUNT) + 1 - self.size)
        return between.counted(live).select(*self.carried, *PLACE)

    # What is held.

    def _held(self, counts: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        held = self.numbering.with_counts(everything(stores, RING), counts)
        return held.filter(pl.col(NUMBER) > pl.col(BEFORE) + 1 - self.size)

    def _keep(self, rows: pl.DataFrame, counts: pl.DataFrame, stores: Stores) -> None:
        if self.size == 1:
            return
        live = self.numbering.with_counts(rows, counts).filter(
            pl.col(NUMBER) > pl.col(COUNT) + 1 - self.size
        )
        slot = (pl.col(NUMBER) % (self.size - 1)).alias(SLOT)
        ring = stores[RING]
        ring.put(live.with_columns(slot).select(ring.layout.schema.names()))

    def _emit(self, rows: pl.DataFrame, wanted: Mask) -> pl.DataFrame:
        ordered = rows.with_columns(pl.Series(_WANTED, wanted)).sort(NUMBER, *self.partition)
        picked = ordered[_WANTED].to_numpy()
        values = evaluate(ordered, self.calls, picked, NUMBER, self.stream)
        start = pl.max_horizontal(pl.col(NUMBER) - self.size + 1, pl.lit(1, pl.Int64))
        return self.emitted(ordered.filter(picked).with_columns(**values), start)

    def emitted(self, rows: pl.DataFrame, start: pl.Expr) -> pl.DataFrame:
        """Emissions of messages with their values; start: of their windows."""
        keyed = rows.with_columns(
            start.alias("window_start"), (pl.col(NUMBER) + 1).alias("window_end")
        )
        names = (*self.partition, "window_start", "window_end")
        key = row_key({name: keyed.schema[name] for name in names})
        new = {REVISION: pl.lit(-1, pl.Int32), STANDS: pl.lit(False), EXISTS: pl.lit(True)}
        known = keyed.with_columns(key, **new, **{WORD: pl.lit("full")})
        return changelog(known, self.output, pairs=False)
