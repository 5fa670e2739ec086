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
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.columns import beside
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.panes import (
    WINDOW_END,
    earliest,
    ends_at,
    ends_between,
    ends_of,
    pane_of,
    start_of,
)
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.emitter.changes import row_key, row_key_at
from sqlwin.operators.emitter.results import ResultLedger
from sqlwin.operators.emitter.schema import ADDED, FINAL
from sqlwin.operators.ranks.cohorts import RankedLedger, RankedResults, Ranks, rank_of
from sqlwin.operators.state_queries import STATE, MessageRange, StateQuery, of_keys
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.windows.closed import KEPT, ClosedWindows
from sqlwin.operators.windows.contents import MESSAGES, PANES, Contents
from sqlwin.operators.windows.grouping import LAST, PANE, ROWS, Grouping
from sqlwin.operators.windows.retention import Retention
from sqlwin.operators.windows.stores import WindowStores
from sqlwin.polars_frames import INSTANT, PLACE, where
from sqlwin.policies import Late, Policy
from sqlwin.state.records import least
from sqlwin.windows import Unit
from sqlwin.windows.group import Aligned, Hop, Whole


@dataclass(frozen=True)
class WindowAggregator(RankedResults):
    """below: columns of the rows. keys: those grouped by. values: dtypes of the results.

    sets: the GROUPING SETS, each some of the keys; none where there is no such clause.
    per_row: the position of a row is among the keys, and says with the window what is emitted.
    weighted: rows may be retracted, see `weights`. ranks: of the groups of a window.
    """

    stream: str
    window: Aligned
    below: dict[str, pl.DataType]
    keys: dict[str, pl.DataType]
    folds: tuple[Fold, ...]
    values: tuple[pl.DataType, ...]
    policy: Policy
    update_before: bool = False
    sets: tuple[tuple[str, ...], ...] = ()
    per_row: bool = False
    weighted: bool = False
    ranks: Ranks | None = None

    @cached_property
    def by(self) -> Grouping:
        return Grouping(self.keys, self.sets)

    @cached_property
    def contents(self) -> Contents:
        kept = (self.below, self.by, self.folds, self.weighted)
        return Contents(self.stream, self.window, *kept)

    @cached_property
    def retention(self) -> Retention:
        return Retention(self.policy, self.window, self.by, self.ledger, self.weighted)

    @cached_property
    def closed(self) -> ClosedWindows:
        return ClosedWindows(self.policy, self.contents.identity, WINDOW_END, self.output)

    @property
    def edges(self) -> dict[str, pl.DataType]:
        """Of the window, instants or numbers; the whole stream has none to show."""
        if isinstance(self.window, Whole):
            return {}
        numbered = isinstance(self.window, Hop) and self.window.unit is Unit.ROWS
        edge = pl.Int64() if numbered else INSTANT
        return {"window_start": edge, "window_end": edge}

    @property
    def output(self) -> dict[str, pl.DataType]:
        names = (fold.call.name for fold in self.folds)
        values = dict(zip(names, self.values, strict=True))
        return {**self.by.types, **self.edges, **values, **rank_of(self.ranks)}

    @cached_property
    def ledger(self) -> ResultLedger:
        names, known = tuple(fold.call.name for fold in self.folds), self.contents.identity
        if self.ranks is not None:
            return RankedLedger(self, known, WINDOW_END, (*names, self.ranks.name))
        return ResultLedger(self, known, WINDOW_END, names)

    @cached_property
    def declared(self) -> WindowStores:
        parts = (self.contents, self.retention, self.ledger, self.closed)
        return WindowStores(*parts, self.output)

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
        if panes.is_empty() or not self._any_final(least(panes[PANE]), stores.watermark):
            return panes.clear()
        return where(panes, panes[PANE] < stores.watermark)

    def _any_final(self, pane: int, watermark: int) -> bool:
        """Whether a window that holds this pane, or a later one, has ended."""
        return not isinstance(self.window, Whole) and ends_at(pane, self.window)[0] <= watermark

    # What the ledger asks for.

    def judged(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return ids.with_columns((pl.col(WINDOW_END) <= stores.watermark).alias(FINAL))

    def open_results(self, stores: Stores) -> pl.DataFrame:
        return self.contents.closing(stores.watermark, END, stores)

    def valued(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        # those of the panes are merged already, those of records are to be found
        merged = ids if LAST in ids.columns else self.contents.of(ids, stores)
        return self.contents.valued(merged, stores)

    def implied(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self.valued(ids, stores) if self.ledger.kept else self.contents.of(ids, stores)

    @property
    def ties(self) -> tuple[str, ...]:
        return self.by.names

    @property
    def bounds_of_window(self) -> tuple[str, ...]:
        return (WINDOW_END,)

    def sharing(self, results: pl.DataFrame, family: list[str], stores: Stores) -> pl.DataFrame:
        windows = results.select(family).unique()
        near = self.contents.sharing(windows, stores)
        emptied = self.ledger.emptied(near, stores, *bounds(windows[WINDOW_END]))
        beside = emptied.join(windows, on=family, how="semi", nulls_equal=True)
        near = pl.concat([near, beside.select(near.columns)])
        retired = self.retention.retired(near, stores)
        return near.join(retired, on=near.columns, how="anti", nulls_equal=True)

    def presented(self, results: pl.DataFrame) -> pl.DataFrame:
        return self._keyed(self._edged(results)).sort(WINDOW_END, *self.edges, *self.by.names)

    def _keyed(self, known: pl.DataFrame) -> pl.DataFrame:
        if not self.per_row:
            return known.with_columns(row_key({**self.by.types, **self.edges}))
        return known.with_columns(row_key_at(self.stream, self.edges))

    def _edged(self, known: pl.DataFrame) -> pl.DataFrame:
        if isinstance(self.window, Whole):
            return known
        if isinstance(self.window, Hop):  # no query
            ends = known.get_column(WINDOW_END)
            edges = zip(self.edges.items(), (ends - self.window.size, ends), strict=True)
            return beside(known, *(edge.cast(type_).alias(name) for (name, type_), edge in edges))
        end = pl.col(WINDOW_END)
        both = {"window_start": start_of(end, self.window), "window_end": end}
        return known.with_columns(
            both[name].cast(type_).alias(name) for name, type_ in self.edges.items()
        )
