"""Windows whose emissions are deltas: DISCARDING, Beam's and Samza's discarding mode.

An emission holds the rows that came since the window's last one, and nothing takes it back. So
what a window holds is kept until it is emitted, and then dropped; of the window itself stays a
record, which knows how many deltas went out. A row key ends with the number of its delta, for
each is a row of its own.

| store       | record                                                         | combined by  |
|-------------|----------------------------------------------------------------|--------------|
| `unsent`    | (keys, window): extent and accumulators of its next delta       | merging      |
| `revisions` | a window of which a delta went out, or waits: `emitter.schema`  | last written |

Windows do not share panes here, for those of one row may have been emitted at different times:
a row is merged into each window that holds it. Aggregates that read all rows have lists of these
as accumulators, so no messages are kept.

Invariant: the deltas of a window, with what is unsent of it, hold each of its rows once.

Worked example, a minute, EARLY EVERY 2 ROWS, SUM: 1 and 2 come, `+I early` 3, revision 0, and
nothing is kept of them. 4 comes; at the end of the minute `+I full` 4, revision 1. A late 8 is
`+I late` 8, revision 2. Together 15, the sum of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import polars as pl

from sqlwin.instants import END
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.panes import WINDOW_END, ends_at, ends_of
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.emitter.results import ResultLedger
from sqlwin.operators.emitter.schema import ADDED, FINAL, FORCED, STANDS, STORE
from sqlwin.operators.load import Load, Records
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.operators.windows.aggregator import WindowAggregator
from sqlwin.operators.windows.contents import Contents
from sqlwin.operators.windows.grouping import LAST, PANE, ROWS, merged_by, merges
from sqlwin.operators.windows.retention import Retention
from sqlwin.operators.windows.stores import INT, WindowStores
from sqlwin.policies import Late
from sqlwin.schema import REVISION, ROW_KEY
from sqlwin.state.combine import merged
from sqlwin.windows.group import Whole

UNSENT = "unsent"


@dataclass(frozen=True)
class UnsentContents(Contents):
    """What came into each window since its last emission."""

    def _from_messages(self, fold: Fold) -> bool:
        return False

    @property
    def unsent(self) -> dict[str, pl.DataType]:
        """The columns of a record."""
        rest = {name: dtype for name, dtype in self.pane.items() if name != PANE}
        return {**rest, WINDOW_END: INT}

    def of_windows(self, panes: pl.DataFrame, since: int) -> pl.DataFrame:
        """Panes as the windows that hold them and end at `since` or later."""
        held = ends_of(panes, PANE, self.window, since)
        return merged_by(held, self.identity, self.folds)

    def closing(
        self, closed: int, watermark: int, stores: Stores, keys: pl.DataFrame | None = None
    ) -> pl.DataFrame:
        return stores[UNSENT].scan(closed + 1, watermark + 1, keys)

    def of(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        keys = self._keys(windows, self.by.names)
        held = stores[UNSENT].scan(*bounds(windows[WINDOW_END]), keys)
        return held.join(windows, on=list(self.identity), how="inner", nulls_equal=True)


@dataclass(frozen=True)
class DeltaLedger(ResultLedger):
    """Each emission is the first of its delta, so none stands; a record counts them."""

    recorded: bool = True

    def before(self, touched: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self.known(touched, stores) if len(touched) else touched

    def all_open(self, stores: Stores) -> Iterator[pl.DataFrame]:
        """And those of which all is sent are forced by it as well, without a word."""
        yield from super().all_open(stores)
        sent = stores[STORE].scan(stores.watermark + 1, END).filter(~pl.col(FORCED))
        self.note(sent.with_columns(pl.lit(True).alias(FORCED)), stores)

    def send(self, results: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        out = super().send(results, stores)
        if len(results):
            stores[UNSENT].erase(results.select(self.identity))
        return out

    def revised(self, sent: pl.DataFrame) -> pl.DataFrame:
        return super().revised(sent).with_columns(pl.lit(False).alias(STANDS))


@dataclass(frozen=True)
class UnsentRetention(Retention):
    def retire(self, stores: Stores) -> None:
        if self.policy.retain is not None and not isinstance(self.window, Whole):
            for name in (STORE, UNSENT):
                stores[name].expire(self.ended(stores) + 1)


@dataclass(frozen=True)
class UnsentStores(WindowStores):
    contents: UnsentContents

    @property
    def panes(self) -> StoreSpec:
        contents, keys = self.contents, self.contents.by.names
        layout = layout_of(UNSENT, contents.unsent, keys, (WINDOW_END,), self.width)
        words = "what came since each window was last emitted"
        return StoreSpec(layout, merged(layout, merges(contents.folds)), words, self._unsent)

    def _unsent(self, load: Load) -> Records:
        """Of open windows: late rows are few."""
        window = self.contents.window
        if isinstance(window, Whole):
            return self.results(load)
        return self._ending(load, window.size)

    def _emitted(self, load: Load) -> Records:
        return self.results(load)


@dataclass(frozen=True)
class DiscardingAggregator(WindowAggregator):
    """Neither weighted nor ranked, and with no retention by rows."""

    @cached_property
    def contents(self) -> UnsentContents:
        return UnsentContents(self.stream, self.window, self.below, self.by, self.folds)

    @cached_property
    def ledger(self) -> ResultLedger:
        return DeltaLedger(self, self.contents.identity, WINDOW_END, ())

    @cached_property
    def retention(self) -> Retention:
        return UnsentRetention(self.policy, self.window, self.by, self.ledger)

    @cached_property
    def declared(self) -> WindowStores:
        parts = (self.contents, self.retention, self.ledger, self.closed)
        return UnsentStores(*parts, self.output)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        windows = self.contents.of_windows(batch, self.retention.ended(stores) + 1)
        judged = self.judged(windows, stores)
        if self.policy.late is Late.NEVER:  # it would never be sent
            judged = judged.filter(~pl.col(FINAL))
        watched = self.policy.early is not None or self.ledger.any_open(stores)
        noted = judged if watched else judged.filter(FINAL)
        touched = noted.select(*self.contents.identity, pl.col(ROWS).alias(ADDED), FINAL)
        known = self.ledger.before(touched, stores)
        stores[UNSENT].put(judged.drop(FINAL))
        self.ledger.on_batch(known, stores, now)
        return self.nothing()

    def next_full(self, stores: Stores) -> int | None:
        if isinstance(self.window, Whole):
            return None
        end = ends_at(stores.watermark, self.window)[0]
        return None if stores[UNSENT].scan(end, END).is_empty() else end

    def valued(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        held = ids if LAST in ids.columns else self.contents.of(ids, stores)
        return self.contents.finished(held)

    def _keyed(self, known: pl.DataFrame) -> pl.DataFrame:
        """Behind the window the number of the delta: what its revision will be."""
        keyed = super()._keyed(known)
        number = pl.col(REVISION).fill_null(-1) + 1
        return keyed.with_columns(
            pl.format("{},{}]", pl.col(ROW_KEY).str.head(-1), number).alias(ROW_KEY)
        )
