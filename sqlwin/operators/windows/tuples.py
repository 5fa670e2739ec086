"""Windows measured in messages, tumbling and hopping: the windowed aggregator on numbers.

Numbers stand in for time. A hop of n messages every m has the windows that start
at message 1, 1 + m, 1 + 2m …. Each is full at its n-th message, and goes out `full`
with the batch that brings it. Numbers come in order, so nothing is late. Before it is
full a window goes out `early` by the policy, and `full` if the input ends or is silent
for TIMEOUT: then it is forced, until its next row. Once its n messages are there it
goes out `full` for good, as an update if it was emitted before.

So each partition has a watermark of its own, its count. What panes and messages hold, how they
become windows and what is emitted of these is as of windows of time; `counts` is beside their
stores, see `numbering`. Messages that fail WHERE are numbered like all others and take no other
part.

A full window is not corrected, so it is kept to be queried alone: until n messages came after its
last, as RETAIN n ROWS has it, and without it until one did.

Invariant: the stores hold what a window needs that is kept or open, and nothing of others; nothing
is pending in a full one.

Worked example, SAMZA-552's: MAX(value) of 3 messages every 3, EARLY EVERY 1 minute.
Messages 1 (value 0) at 9:00:00 and 2 (value 5) at 9:00:59 leave the window from
message 1 due at 9:01:00; then it goes out `early` with 5, revision 0. Message 3
(value 9) at 9:02:01 fills it: `full`, 9, revision 1.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.panes import WINDOW_END, earliest, ends_of
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.results import FULL
from sqlwin.operators.emitter.schema import ADDED, FINAL, FORCED, STORE
from sqlwin.operators.load import Load, Records
from sqlwin.operators.order.numbering import BEFORE, COUNT, Numbering
from sqlwin.operators.order.numbering import STORE as COUNTS
from sqlwin.operators.state_queries import STATE, MessageRange, StateQuery
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.windows.aggregator import WindowAggregator
from sqlwin.operators.windows.contents import Contents
from sqlwin.operators.windows.grouping import EXTENT, LAST, PANE
from sqlwin.operators.windows.messages import MESSAGES, PANES
from sqlwin.polars_frames import empty
from sqlwin.schema import REVISION, ROW_KEY
from sqlwin.state.contract import HORIZON
from sqlwin.windows.group import Hop


class MessageContents(Contents):
    window: Hop

    def _place(self, window: dict[str, Any]) -> str:
        last = f"its last row is {self.stream} at position {window[LAST]}"
        return f"the window from message {window[WINDOW_END] - self.window.size}; {last}"


@dataclass(frozen=True)
class TupleAggregator(WindowAggregator):
    """`window` in messages of the partition, a prefix of `keys`. sets: each has the partition."""

    partition: tuple[str, ...] = ()
    where: str | None = None

    @property
    def hop(self) -> Hop:
        assert isinstance(self.window, Hop)
        return self.window

    @cached_property
    def contents(self) -> Contents:
        return MessageContents(self.stream, self.hop, self.below, self.by, self.folds)

    @property
    def numbering(self) -> Numbering:
        return Numbering({name: self.keys[name] for name in self.partition})

    @property
    def kept(self) -> int:
        """The messages of a partition by whose last one a full window is kept."""
        return self.policy.retain_rows or 1

    def stores(self) -> list[StoreSpec]:
        """Messages have no numbers in a replay, so what is lost is not restored."""
        expected = {PANES: self._live_panes, MESSAGES: self._live_rows, STORE: self._live_windows}
        by_number = [
            replace(spec, pins=False, restorable=False, expected=expected[spec.name])
            for spec in super().stores()
        ]
        return [*by_number, self.numbering.spec()]

    def _live_rows(self, load: Load) -> Records:
        return (self.hop.size + self.kept - 1) * load.keys_if(bool(self.keys))

    def _live_panes(self, load: Load) -> Records:
        return -(-(self.hop.size + self.kept - 1) // self.hop.pane) * load.keys_if(bool(self.keys))

    def _live_windows(self, load: Load) -> Records:
        """Emitted early; else a drain forces them, which is rare."""
        if self.policy.early is None:
            return 0.0
        live = -(-(self.hop.size + self.kept - 1) // self.hop.advance)
        return load.keys_if(bool(self.keys)) * live

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows

    def horizons(self, stores: Stores) -> pl.DataFrame:
        """None: what a message does not change, it need not be refused for."""
        return empty({HORIZON: pl.Int64()})

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        numbered, counts = self.numbering.number(batch, stores)
        rows = self.contents.prepare(
            numbered.filter(pl.col(self.where)) if self.where else numbered
        )
        panes = self.contents.panes(rows)
        self.contents.put(rows, panes, stores)
        full = self.ledger.emit(self._filled(counts, stores), FULL, stores)
        self._touch(panes, counts, stores, now)
        self._evict(counts, stores)
        return full

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        stores.watermark = max(stores.watermark, watermark)
        return self.nothing()

    # What a batch does.

    def _filled(self, counts: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The windows whose n-th message the batch brought."""
        since: int = counts[BEFORE].min()  # type: ignore[assignment]
        until: int = counts[COUNT].max()  # type: ignore[assignment]
        keys = counts.select(self.partition) if self.partition else None
        closing = self.contents.closing(since + 1, until + 1, stores, keys)
        known = self.numbering.with_counts(closing, counts)
        was_open = pl.col(WINDOW_END) > pl.col(BEFORE) + 1
        return self.ledger.known(known.filter(was_open, ~_IS_OPEN).drop(BEFORE, COUNT), stores)

    def _touch(self, panes: pl.DataFrame, counts: pl.DataFrame, stores: Stores, now: int) -> None:
        """Note what came into open windows. What was forced is so no more."""
        if self.policy.early is None and not len(everything(stores, STORE)):
            return
        held = ends_of(panes, PANE, self.hop).group_by(self.contents.identity)
        windows = self.numbering.with_counts(held.agg(self._added.alias(ADDED)), counts)
        opened = windows.filter(_IS_OPEN).drop(BEFORE, COUNT)
        known = self.ledger.before(opened.with_columns(pl.lit(False).alias(FINAL)), stores)
        if known.is_empty():
            return
        renewed = known.with_columns(pl.lit(False).alias(FORCED))
        self.ledger.note(renewed.filter(known[FORCED]), stores)
        self.ledger.on_batch(renewed, stores, now)

    def _evict(self, counts: pl.DataFrame, stores: Stores) -> None:
        """Drop what no window needs that is open or kept."""
        after = pl.col(COUNT) + 2 - self.kept
        stores[STORE].cut(counts.select(*self.partition, after.alias(HORIZON)))
        first = counts.select(*self.partition, earliest(after, self.hop).alias(HORIZON))
        for name in (PANES, MESSAGES):
            if name in stores.named:
                stores[name].cut(first)

    # What the ledger asks for.

    def judged(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        known = self.numbering.with_counts(ids, everything(stores, COUNTS))
        return known.with_columns((~_IS_OPEN).alias(FINAL)).drop(COUNT)

    def open_results(self, stores: Stores) -> pl.DataFrame:
        there = self.contents.closing(START, END, stores)
        return self.judged(there, stores).filter(~pl.col(FINAL)).drop(FINAL)

    # State queries.

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """Those that are open, and the full ones that are kept, by the numbers of messages."""
        held = self.contents.within(query, stores)
        counted = self.numbering.with_counts(held, everything(stores, COUNTS))
        kept = counted.filter(pl.col(WINDOW_END) >= pl.col(COUNT) + 2 - self.kept).drop(COUNT)
        known = self._keyed(self._edged(self.ledger.looked_at(kept, stores)))
        return known.select(*self.output, STATE, REVISION, *EXTENT, ROW_KEY)

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        if not self.contents.whole:
            raise self.contents.no_messages()
        return between.counted(everything(stores, MESSAGES))


_IS_OPEN = pl.col(WINDOW_END) > pl.col(COUNT) + 1
