"""Windows measured in messages, tumbling and hopping.

Numbers stand in for time. A hop of n messages every m has the windows that start
at message 1, 1 + m, 1 + 2m …. Each is full at its n-th message, and goes out `full`
with the batch that brings it. Numbers come in order, so nothing is late. Before it is
full a window goes out `early` by the policy, and `full` if the input ends or is silent
for TIMEOUT: then it is `shown`, until its next row. Once its n messages are there it
goes out `full` for good, as an update if it was emitted before.

Messages that fail WHERE are numbered like all others and take no other part.

| store          | record                                                      |
|----------------|-------------------------------------------------------------|
| `counts`       | messages of the partition                                   |
| `ring`         | keys, slot: `__pane`, `__first`, `__last`, accumulators     |
| `revisions`    | keys, slot: `__window`, and as in `emitter.schema`          |
| `past_windows` | with RETAIN n ROWS, see `past`                              |

Both rings have a slot for whatever may be live at once, so that what no open
window needs is overwritten, never deleted.

Invariant: a pane of `ring` is live iff its number is within `size` of the
partition's count; a record of `revisions` is live iff its window is open; live
ones of a key never share a slot; nothing waits in a record that is not live.

Worked example, SAMZA-552's: MAX(value) of 3 messages every 3, EARLY EVERY 1 minute.
Messages 1 (value 0) at 9:00:00 and 2 (value 5) at 9:00:59 leave the window from
message 1 due at 9:01:00; then it goes out `early` with 5, revision 0. Message 3
(value 9) at 9:02:01 fills it: `full`, 9, revision 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from sqlwin.errors import QueryError
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.panes import WINDOW, origin, pane_start, windows_of
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.changes import row_key
from sqlwin.operators.emitter.results import FULL, ResultLedger, Results
from sqlwin.operators.emitter.schema import ADDED, EXISTS, FINAL, FORCED, STORE, WORD
from sqlwin.operators.load import Load, Records
from sqlwin.operators.order.numbering import BEFORE, COUNT, NUMBER, Numbering
from sqlwin.operators.order.numbering import STORE as COUNTS
from sqlwin.operators.state_queries import STATE, MessageRange, StateQuery, of_keys, stated
from sqlwin.operators.store_spec import ONE_SLICE, StoreSpec, layout_of
from sqlwin.operators.windows.contents import FIRST, LAST, PANE
from sqlwin.operators.windows.counting import Counting
from sqlwin.operators.windows.folded import Folded
from sqlwin.operators.windows.grouping import Grouping
from sqlwin.operators.windows.past import PastWindows
from sqlwin.policies import Policy
from sqlwin.schema import PLACE, POSITION, REVISION, ROW_KEY, SEQ, empty
from sqlwin.state.combine import last_written
from sqlwin.windows import Hop

RING = "ring"
SLOT = "__slot"


@dataclass(frozen=True)
class TupleAggregator(Counting, Folded, Results):
    """`hop` in messages of the partition, a prefix of `keys`. sets: each has the partition."""

    stream: str
    hop: Hop
    below: dict[str, pl.DataType]
    partition: tuple[str, ...]
    keys: dict[str, pl.DataType]
    folds: tuple[Fold, ...]
    values: tuple[pl.DataType, ...]
    policy: Policy
    where: str | None = None
    withdraw: bool = False
    sets: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def by(self) -> Grouping:
        return Grouping(self.keys, self.sets)

    @cached_property
    def ledger(self) -> ResultLedger:
        """The window is a part of the identity: whatever lay in its slot before is another."""
        kept = tuple(fold.call.name for fold in self.folds)
        return ResultLedger(self, (*self.by.names, WINDOW, SLOT), SLOT, kept)

    @cached_property
    def past(self) -> PastWindows:
        columns = {**self.output, FIRST: pl.Int64(), LAST: pl.Int64()}
        of = (self.partition, self.by.names, columns, self.hop.advance)
        return PastWindows(self.policy.retain_rows, *of)

    @property
    def output(self) -> dict[str, pl.DataType]:
        bounds = {"window_start": pl.Int64(), "window_end": pl.Int64()}
        names = (fold.call.name for fold in self.folds)
        return {**self.by.types, **bounds, **dict(zip(names, self.values, strict=True))}

    @property
    def numbering(self) -> Numbering:
        return Numbering({name: self.keys[name] for name in self.partition})

    @property
    def columns(self) -> dict[str, pl.DataType]:
        """Of a record of the ring; accumulators as lifting makes them."""
        none = empty({**self.below, **PLACE, NUMBER: pl.Int64()})
        types = {**self._lift(none).schema, SLOT: pl.Int64()}
        accumulators = (name for fold in self.folds for name in fold.columns)
        return {
            name: types[name] for name in (*self.by.names, SLOT, PANE, FIRST, LAST, *accumulators)
        }

    def stores(self) -> list[StoreSpec]:
        of_slots = (self.by.names, (SLOT,), ONE_SLICE)
        ring = layout_of(RING, self.columns, *of_slots)
        words = "accumulators of the open windows"
        types = {**self.output, WINDOW: pl.Int64(), SLOT: pl.Int64()}
        records = layout_of(STORE, self.ledger.schema(types), *of_slots)
        emitted = "what was emitted of each window"
        return [
            StoreSpec(ring, last_written(ring), words, self._live_panes),
            self.numbering.spec(),
            StoreSpec(records, last_written(records), emitted, self._live_windows),
            *self.past.stores(),
        ]

    def _live_panes(self, load: Load) -> Records:
        return -(-self.hop.size // self.hop.pane) * load.keys_if(bool(self.keys))

    def _live_windows(self, load: Load) -> Records:
        """Emitted early; else a drain forces them, which is rare."""
        if self.policy.early is None:
            return 0.0
        return load.keys_if(bool(self.keys)) * -(-self.hop.size // self.hop.advance)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        held = everything(stores, RING).drop(SLOT)
        numbered, counts = self.numbering.number(batch, stores)
        came = self._lift(numbered)
        live = self.numbering.with_counts(held, counts).select(held.columns)
        panes = self._merged([PANE], pl.concat([live, came.select(held.columns)]))
        # those that close have been settled before a new window takes their slot
        full = self._filled(panes, counts, stores)
        self._keep(panes, counts, stores)
        self._touch(self._windows(came, counts).filter(~self._is_full), stores, now)
        return full

    # What goes out.

    def _filled(self, panes: pl.DataFrame, counts: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The windows whose n-th message the batch brought."""
        windows = self._windows(panes, counts).filter(self._is_full, self._was_open)
        closing = windows.select(self.ledger.identity).unique()
        valued = self._beside(self.ledger.known(closing, stores), windows)
        emitted = self._keyed(valued).with_columns(pl.col(REVISION) + 1)
        self.past.keep(emitted, counts, stores)
        there = pl.lit(True).alias(EXISTS)
        return self.ledger.send(valued.with_columns(FULL.alias(WORD), there), stores)

    def _touch(self, windows: pl.DataFrame, stores: Stores, now: int) -> None:
        """Note what came into open windows. What was forced is so no more."""
        if windows.is_empty():
            return
        touched = windows.group_by(self.ledger.identity).agg(pl.col(ADDED).sum())
        known = self.ledger.before(self.judged(touched, stores), stores)
        renewed = known.with_columns(pl.lit(False).alias(FORCED))
        self.ledger.note(renewed.filter(known[FORCED]), stores)
        self.ledger.on_batch(renewed, stores, now)

    def judged(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Of a window that is full nothing is pending."""
        return ids.with_columns(pl.lit(False).alias(FINAL))

    def open_results(self, stores: Stores) -> pl.DataFrame:
        windows = self._held(stores).filter(~self._is_full)
        return windows.select(self.ledger.identity).unique()

    def valued(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self._beside(ids, self._held(stores))

    def presented(self, results: pl.DataFrame) -> pl.DataFrame:
        return self._keyed(results).sort("window_end", *self.by.names)

    def _keyed(self, known: pl.DataFrame) -> pl.DataFrame:
        start = pl.col(WINDOW).alias("window_start")
        end = (pl.col(WINDOW) + self.hop.size).alias("window_end")
        identity = {**self.by.types, "window_start": pl.Int64(), "window_end": pl.Int64()}
        return known.with_columns(start, end).with_columns(row_key(identity))

    # State queries.

    @property
    def key(self) -> dict[str, pl.DataType]:
        return self.keys

    @property
    def order(self) -> tuple[str, ...]:
        return ("window_end", *self.by.names)

    def windows(self, question: StateQuery, stores: Stores) -> pl.DataFrame:
        """Those that are open, and past ones: without RETAIN the last that became full. By the
        numbers of messages."""
        end, retains = pl.col(WINDOW) + self.hop.size, self.past.newest is not None
        held = of_keys(self._held(stores), question.keys).filter(
            ~self._is_full if retains else end > pl.col(COUNT),
            end > question.lo,
            pl.col(WINDOW) <= question.hi,
        )
        judged = held.select(*self.ledger.identity, self._is_full.alias(FINAL)).unique()
        known = stated(self._beside(self.ledger.known(judged, stores), held))
        keyed = self._keyed(known)
        columns = (*self.output, STATE, REVISION, FIRST, LAST, ROW_KEY)
        past = [self.past.found(question, stores)] if retains else []
        return pl.concat([keyed.select(columns), *(each.select(columns) for each in past)])

    def messages(self, stretch: MessageRange, stores: Stores) -> pl.DataFrame:
        raise QueryError("the query keeps no messages: its windows are kept as partial results")

    # From messages to panes to windows.

    def _lift(self, numbered: pl.DataFrame) -> pl.DataFrame:
        rows = numbered.sort(POSITION)
        taking = rows.filter(pl.col(self.where)) if self.where else rows
        pane = pane_start(pl.col(NUMBER), self.hop.pane, origin(self.hop)).alias(PANE)
        lifted = [expr for fold in self.folds for expr in fold.lift()]
        extent = [pl.col(SEQ).min().alias(FIRST), pl.col(SEQ).max().alias(LAST)]
        added = pl.len().cast(pl.Int64).alias(ADDED)
        panes = taking.group_by(*self.keys, pane).agg(*extent, *lifted, added)
        return (
            self._merged([PANE], self.by.spread(panes), pl.col(ADDED).sum()) if self.sets else panes
        )

    def _keep(self, panes: pl.DataFrame, counts: pl.DataFrame, stores: Stores) -> None:
        slots = self.hop.size // self.hop.pane
        live = self.numbering.with_counts(panes, counts).filter(
            pl.col(PANE) + self.hop.size > pl.col(COUNT)
        )
        slot = ((pl.col(PANE) - origin(self.hop)) // self.hop.pane % slots).alias(SLOT)
        ring = stores[RING]
        ring.put(live.with_columns(slot).select(ring.layout.schema.names()))

    def _held(self, stores: Stores) -> pl.DataFrame:
        """The panes of each window that the ring still holds whole."""
        counts = everything(stores, COUNTS)
        return self._windows(everything(stores, RING).drop(SLOT), counts)

    def _windows(self, panes: pl.DataFrame, counts: pl.DataFrame) -> pl.DataFrame:
        """Each pane once for every window that holds it, with its slot and the counts."""
        slots = -(-self.hop.size // self.hop.advance)
        slot = (pl.col(WINDOW) - origin(self.hop)) // self.hop.advance % slots
        windows = windows_of(panes, PANE, self.hop).with_columns(slot.alias(SLOT))
        return self.numbering.with_counts(windows, counts)

    @property
    def _is_full(self) -> pl.Expr:
        return pl.col(WINDOW) + self.hop.size <= pl.col(COUNT) + 1

    @property
    def _was_open(self) -> pl.Expr:
        return pl.col(WINDOW) + self.hop.size > pl.col(BEFORE) + 1

    # From panes to values.

    def _beside(self, known: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
        """`known` with their values; panes of other windows may be among `windows`."""
        identity = list(self.ledger.identity)
        wanted = windows.join(known, on=identity, how="semi", nulls_equal=True)
        names = [*identity, FIRST, LAST, *(fold.call.name for fold in self.folds)]
        values = self.finished(self._merged([WINDOW, SLOT], wanted)).select(names)
        return known.join(values, on=identity, how="inner", nulls_equal=True)

    def _merged(self, by: list[str], panes: pl.DataFrame, *more: pl.Expr) -> pl.DataFrame:
        merges = [expr for fold in self.folds for expr in fold.merge()]
        extent = [pl.col(FIRST).min(), pl.col(LAST).max()]
        return panes.group_by(*self.by.names, *by).agg(*extent, *merges, *more)

    def _place(self, window: dict[str, Any]) -> str:
        last = f"its last row is {self.stream} at position {window[LAST]}"
        return f"the window from message {window[WINDOW]}; {last}"
