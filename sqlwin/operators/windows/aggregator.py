"""The windowed aggregator over time windows: SAMZA-552's.

Windows are those of a hop, cumulating ones, or the whole stream as one. What they
hold is in `contents`, what goes out of them and when in `emitter.results`, when they are
evicted in `retention`; here rows find their windows.

Invariant: every window that ends by `watermark` and holds a row was emitted, or
is pending in the ledger.

Worked example, hour every half hour, rows at 0:10, 0:40, 1:05: panes 0:00, 0:30,
1:00. At watermark 1:00 the windows ending at 0:30 (pane 0:00) and at 1:00
(panes 0:00, 0:30) are full. A row at 0:20 then touches both, and both go out
again as revision 1; the window ending at 1:30, still open, does not hold it.

What a batch costs where nothing is late, early or shown: its panes are put, and no
window is looked at before it is full.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.panes import earliest, ends_at, ends_between, ends_of, pane_of
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.schema import ADDED, FINAL
from sqlwin.operators.state_queries import STATE, MessageRange, StateQuery, of_keys
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.windows.aggregated_results import AggregatedResults
from sqlwin.operators.windows.closed import KEPT
from sqlwin.operators.windows.grouping import PANE, ROWS
from sqlwin.operators.windows.messages import MESSAGES, PANES
from sqlwin.polars_frames import PLACE, where
from sqlwin.policies import Late
from sqlwin.state.records import least
from sqlwin.windows.group import Whole


@dataclass(frozen=True)
class WindowAggregator(AggregatedResults):
    """Fields as of `AggregatedResults`."""

    def stores(self) -> list[StoreSpec]:
        return list(self.declared)

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return self.contents.prepare(rows)

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return self.retention.horizons(stores)

    def restore(self, batch: pl.DataFrame, stores: Stores, now: int, since: int | None) -> None:
        """Put lost messages back, which the panes have counted: prepared rows, any again.

        since: `watermark` when they were lost, where windows went out without them: those that
        end later are emitted again. None: nothing did, and no window is touched.
        """
        lacking = self.contents.lacking(batch, stores)
        panes = self.contents.panes(lacking if since is not None else lacking.clear())
        touched = self._touched(panes, stores, START if since is None else since)
        known = self.ledger.before(touched, stores)
        self.contents.put_back(lacking, stores)
        self.ledger.on_batch(known, stores, now)

    def without_eviction(self) -> WindowAggregator:
        return replace(self, policy=self.policy.forever)

    def final_before(self, closed: int) -> int:
        return closed + 1

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        panes = self.contents.panes(batch)
        # of a pane that is kept some windows may be out of retention
        touched = self._touched(panes, stores, self.retention.ended(stores))
        known = self.ledger.before(touched, stores)
        self.contents.put(batch, panes, stores)
        self.ledger.on_batch(known, stores, now)
        return self.nothing()

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        if watermark <= stores.watermark and not self.retention.by_rows:
            return self.nothing()
        before = self.retention.ended(stores)
        self.retention.note(stores)
        out = self.ledger.emit_all(self._leaving(watermark, stores), stores)
        if self.closed.queried:
            ended = self.contents.closing(before, self.retention.ended(stores), stores)
            self.closed.put(self._answers(ended, stores), stores)
            self.closed.expire(stores)
        self.retention.retire(stores)
        return out

    def _leaving(self, watermark: int, stores: Stores) -> Iterator[pl.DataFrame]:
        """Windows that become final, and what is pending in those that retire."""
        if ends_between(self.window, stores.watermark, watermark):
            closing = self.contents.closing(stores.watermark, watermark, stores)
            emptied = self.ledger.emptied(closing, stores, stores.watermark + 1, watermark + 1)
            stores.watermark = watermark
            for part in (emptied, closing):
                yield from self.ledger.closing(part, stores)
        stores.watermark = max(stores.watermark, watermark)  # a small batch ends no window
        pending = self.ledger.pending(stores, self.retention.reach(stores))
        yield self.ledger.own(self.retention.retired(pending, stores), stores)

    def next_full(self, stores: Stores) -> int | None:
        if isinstance(self.window, Whole) or stores.watermark == START:
            return None
        end = ends_at(stores.watermark, self.window)[0]
        by_last = self.contents.presence.by_last_pane
        first = pane_of(stores.watermark, self.window) if by_last else earliest(end, self.window)
        return None if stores[PANES].scan(first, END).is_empty() else end

    # State queries.

    @property
    def key(self) -> dict[str, pl.DataType]:
        known = self.ranks.partition if self.ranks is not None and self.per_row else self.keys
        return {name: self.keys[name] for name in known if name not in PLACE}

    @property
    def order(self) -> tuple[str, ...]:
        edges = tuple(reversed(self.edges))
        return (*edges, *(self.by.names if self.ranks is None else self.ranks.sorted_by))

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """Ranked among all that share their window, whatever key the query asks for."""
        keys = query.keys
        if self.ranks is not None:
            query = replace(query, keys=None)
        held = self.contents.within(query, stores)
        removed = self.retention.retired(held, stores)
        kept = held.join(removed, on=list(self.contents.identity), how="anti", nulls_equal=True)
        columns = (*self.output, STATE, *KEPT)
        closed = self.closed.within(query, stores).select(columns)
        return of_keys(pl.concat([closed, self._answers(kept, stores).select(columns)]), keys)

    def _answers(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self._keyed(self._edged(self.ledger.looked_at(windows, stores)))

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        if not self.contents.whole:
            raise self.contents.no_messages()
        return between.stored(stores[MESSAGES])

    # What rows touch.

    def _touched(self, panes: pl.DataFrame, stores: Stores, since: int) -> pl.DataFrame:
        """What `ResultLedger.before` takes: the windows that hold these panes.

        Only of those that end after `since` and whose change a policy may emit.
        """
        watched = self.policy.early is not None or self.ledger.any_open(stores)
        looked_at = panes if watched else self._maybe_final(panes, stores)
        if looked_at.is_empty():
            return looked_at
        held = ends_of(looked_at, PANE, self.window, since + 1)
        windows = held.group_by(self.contents.identity).agg(self._added.alias(ADDED))
        windows = self.contents.there(windows, panes, stores)
        judged = self.judged(windows, stores)
        return judged if watched else judged.filter(FINAL)

    @property
    def _added(self) -> pl.Expr:
        """How many rows came into a window; all that were retracted from it count as one."""
        rows = pl.col(ROWS)
        return rows.clip(0).sum() + (rows < 0).any() if self.weighted else rows.sum()

    def _maybe_final(self, panes: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if stores.watermark == START or self.policy.late is Late.NEVER:
            return panes.clear()
        if panes.is_empty() or not self._any_final(least(panes.get_column(PANE)), stores.watermark):
            return panes.clear()
        return where(panes, panes[PANE] < stores.watermark)

    def _any_final(self, pane: int, watermark: int) -> bool:
        """Whether a window that holds this pane, or a later one, has ended."""
        return not isinstance(self.window, Whole) and ends_at(pane, self.window)[0] <= watermark
