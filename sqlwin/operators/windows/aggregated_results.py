"""Results of the windowed aggregator: what it is made of, and what its ledger needs to know.

Invariant: a window's results are computed from its panes and messages as they are stored at that
moment; nothing of a result is kept but what was emitted of it, which is the ledger's.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from sqlwin.instants import END
from sqlwin.kernels.columns import beside
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.panes import WINDOW_END, start_of
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.emitter.changes import row_key, row_key_at
from sqlwin.operators.emitter.results import ResultLedger
from sqlwin.operators.emitter.schema import FINAL
from sqlwin.operators.ranks.cohorts import RankedLedger, RankedResults, Ranks, rank_of
from sqlwin.operators.windows.closed import ClosedWindows
from sqlwin.operators.windows.contents import Contents
from sqlwin.operators.windows.grouping import LAST, Grouping
from sqlwin.operators.windows.retention import Retention
from sqlwin.operators.windows.stores import WindowStores
from sqlwin.polars_frames import INSTANT
from sqlwin.policies import Policy
from sqlwin.windows import Unit
from sqlwin.windows.group import Aligned, Hop, Whole


@dataclass(frozen=True)
class AggregatedResults(RankedResults):
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
