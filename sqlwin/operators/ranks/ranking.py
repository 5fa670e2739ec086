"""Ranks among the rows of one group window: top-n of each window, and the like.

The windows are an aggregator's: it says which go out, when, and as what. Whenever one
does, the groups that share its window and partition are taken as they are now, those
with it that the aggregator did not emit too, ranked anew, and what differs from what
was last sent goes out: a ranking is told whole or not at all, so it always agrees
with itself. What waited in these groups waits no more.

- A row that the aggregator emits `full` goes out in any case. Early and late, one that
  is as it was does not.
- A group that was never sent, and does not wait, stays unsent: its time has not come.
  It has its place all the same.
- Ties go by the group keys; where the rows of a window are not grouped, by position.
- A row whose group is no more, for the input withdrew its rows, goes out `-D`, as it was
  last sent; it then has no place, until it comes again. `session_ranking` has more of that.

| store    | record                                                              |
|----------|---------------------------------------------------------------------|
| `ranked` | partition, window's end, row key: columns and rank last emitted,     |
|          | `__revision`, `__stands`                                             |

Invariant: within retention, `ranked` holds each row that was sent, as it was last
sent. With RETAIN n ROWS alone no window is ever out of reach of a key not seen yet:
then nothing leaves `ranked`.

Worked example, rank of products by total, largest first, in the minute from 9:00: at
9:01 tea (3) and milk (2) go out `full` as 1 and 2, revision 0. A late row adds 4 to
milk: it goes out `late` as 6 and 1, revision 1, and so does tea, as 3 and 2, revision 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from sqlwin.kernels.panes import ENDLESS
from sqlwin.kernels.standings import Standing
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.operators.emitter.kernel import changelog
from sqlwin.operators.emitter.results import WAITED
from sqlwin.operators.emitter.schema import EXISTS, OLD, STANDS, STORE, WORD
from sqlwin.operators.sessions.operator import SessionAggregator
from sqlwin.operators.state_queries import STATE, MessageRange, StateQuery, of_keys
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.operators.windows.aggregator import WindowAggregator
from sqlwin.operators.windows.contents import EXTENT
from sqlwin.schema import EMIT, OP, REVISION, ROW_KEY, empty
from sqlwin.state.combine import last_written

RANKED = "ranked"
AT = "__at"
SENT = "__sent"


@dataclass(frozen=True)
class WindowRanker:
    """name: of the column of ranks. standing: within `partition`, and the window.

    inner: tells no old values by itself.
    """

    inner: WindowAggregator | SessionAggregator
    name: str
    standing: Standing
    withdraw: bool = False

    @property
    def output(self) -> dict[str, pl.DataType]:
        return {**self.inner.output, self.name: pl.Int64()}

    @property
    def columns(self) -> dict[str, pl.DataType]:
        """Of a record."""
        record = {AT: pl.Int64(), ROW_KEY: pl.String()}
        return {**self.output, **record, REVISION: pl.Int32(), STANDS: pl.Boolean()}

    @property
    def partition(self) -> tuple[str, ...]:
        return self.standing.partition

    @property
    def family(self) -> tuple[str, ...]:
        """The columns that say which rows are ranked among each other."""
        return (AT, *self.partition)

    def stores(self) -> list[StoreSpec]:
        """Those of the results below, and each row as it was last emitted."""
        below = self.inner.stores()
        records = next(spec for spec in below if spec.name == STORE)
        order = (AT, ROW_KEY)
        width = records.layout.slice_width
        ranked = layout_of(RANKED, self.columns, self.partition, order, width)
        words = "rows as they were last emitted"
        return [*below, StoreSpec(ranked, last_written(ranked), words, self.inner.declared.results)]

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return self.inner.prepare(rows)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        return self._ranked(self.inner.on_batch(batch, stores, now), stores)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        emitted = self._ranked(self.inner.on_watermark(watermark, stores, now), stores)
        retain = self.inner.policy.retain
        if retain is not None and self._ends:
            stores[RANKED].expire(watermark - retain + 1)
        return emitted

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        return self._ranked(self.inner.on_tick(now, stores), stores)

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        ledger = self.inner.ledger
        late = self._ranked(ledger.all_late(stores), stores)
        return pl.concat([late, self._ranked(ledger.all_open(stores), stores)])

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return self.inner.horizons(stores)

    def restore(self, batch: pl.DataFrame, stores: Stores, now: int, since: int | None) -> None:
        self.inner.restore(batch, stores, now, since)

    def without_eviction(self) -> WindowRanker:
        return replace(self, inner=self.inner.without_eviction())

    def final_before(self, closed: int) -> int:
        return self.inner.final_before(closed)

    def next_deadline(self, stores: Stores) -> int | None:
        return self.inner.next_deadline(stores)

    def nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})

    # State queries.

    @property
    def key(self) -> dict[str, pl.DataType]:
        inner, windows = self.inner.key, self.inner
        per_row = isinstance(windows, WindowAggregator) and windows.per_row
        return {name: inner[name] for name in self.partition} if per_row else inner

    @property
    def order(self) -> tuple[str, ...]:
        return (*reversed(self.inner.edges), *self.partition, self.name, ROW_KEY)

    def windows(self, question: StateQuery, stores: Stores) -> pl.DataFrame:
        """Ranked among all that share their window, whatever the key asked for.

        What the aggregator has dropped of such a window still has its place, as it was told.
        """
        all_ = self.inner.windows(replace(question, keys=None), stores)
        now = all_.drop(REVISION).with_columns(self._at)
        known = self._known(now, stores)
        left = self._left(known.filter(STANDS), now, stores).drop(self.name, REVISION, STANDS)
        gone = left.with_columns(pl.lit("full").alias(STATE))
        ranked = self._by.of(
            pl.concat([now, gone], how="diagonal"), self.name, ties=self.inner.by.names
        )
        told = ranked.join(known.select(ROW_KEY, REVISION), on=ROW_KEY, how="left")
        return of_keys(told, question.keys).select(*self.output, STATE, REVISION, *EXTENT, ROW_KEY)

    def messages(self, stretch: MessageRange, stores: Stores) -> pl.DataFrame:
        return self.inner.messages(stretch, stores)

    # What goes out.

    def _ranked(self, emitted: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """What the emission changes in its windows."""
        if emitted.is_empty():
            return self.nothing()
        all_ = self._with_families(emitted, stores)
        placed = self._placed(all_, self._known(all_, stores))
        out = self._told(placed)
        one_more = (pl.col(REVISION) + 1).cast(pl.Int32)
        sent = out.with_columns(one_more, pl.col(EXISTS).alias(STANDS))
        stores[RANKED].put(sent.select(list(self.columns)))
        return changelog(out, self.output, self.withdraw)

    def _with_families(self, emitted: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """And all that shares a window and partition with what goes out, as it is now."""
        others = self.inner.others(emitted, self.partition, stores)
        around = self._marked(self.inner.ledger.as_they_are(others, stores), sent=False)
        return pl.concat([self._sent(emitted), around])

    def _told(self, placed: pl.DataFrame) -> pl.DataFrame:
        """Which of the rows are told, those that have no place any more first."""
        moved = [pl.col(c).ne_missing(pl.col(OLD + c)) for c in self.output]
        differs = pl.any_horizontal(~pl.col(STANDS), *moved)
        ours = pl.any_horizontal(SENT, WAITED, STANDS)
        told = (ours & differs) | (pl.col(SENT) & (pl.col(WORD) == "full"))
        return placed.filter(pl.when(EXISTS).then(told).otherwise(STANDS))

    def _placed(self, all_: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
        """All rows of these windows, ranked, what was sent of them beside; first those that are
        no more, as they were sent."""
        now = all_.filter(EXISTS)
        gone = all_.filter(~pl.col(EXISTS)).join(now, on=ROW_KEY, how="anti")
        out = known.filter(STANDS).drop(REVISION)
        marks = (pl.lit("late").alias(EMIT), pl.lit(False).alias(WAITED), pl.lit("").alias(OP))
        # what the aggregator has no more, and did not withdraw, has its place
        left = out.join(all_, on=ROW_KEY, how="anti").with_columns(marks)
        rows = pl.concat([now, self._marked(left, sent=False)])
        last = (pl.col(c).alias(OLD + c) for c in self.output)
        old = known.select(ROW_KEY, REVISION, STANDS, *last)
        placed = self._by.of(
            rows.join(old, on=ROW_KEY, how="left"), self.name, ties=self.inner.by.names
        )
        before = gone.join(old, on=ROW_KEY, how="inner").with_columns(
            pl.col(OLD + c).alias(c) for c in self.output
        )
        return pl.concat([before.select(placed.columns), placed]).with_columns(
            pl.col(REVISION).fill_null(-1), pl.col(STANDS).fill_null(False)
        )

    def _left(self, out: pl.DataFrame, now: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Of what was sent, and stands, what the aggregator has dropped: it changes no more."""
        return out.join(now, on=ROW_KEY, how="anti")

    def _sent(self, emitted: pl.DataFrame) -> pl.DataFrame:
        return self._marked(emitted.with_columns(pl.lit(False).alias(WAITED)), sent=True)

    def _marked(self, rows: pl.DataFrame, sent: bool) -> pl.DataFrame:
        exists = (pl.col(OP) != "-D").alias(EXISTS)
        marks = (self._at, pl.lit(sent).alias(SENT), pl.col(EMIT).alias(WORD), WAITED, exists)
        return rows.select(*self.inner.output, ROW_KEY, *marks)

    def _known(self, sent: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """What was last sent of the same windows and partitions."""
        windows = sent.select(self.family).unique()
        if windows.is_empty():
            return stores[RANKED].scan(0, 0)
        keys = windows.select(self.partition) if self.partition else None
        known = stores[RANKED].scan(*bounds(windows[AT]), keys)
        return known.join(windows, on=windows.columns, how="semi", nulls_equal=True)

    @property
    def _by(self) -> Standing:
        return Standing(self.standing.function, self.family, self.standing.order)

    @property
    def _at(self) -> pl.Expr:
        end = pl.col("window_end").cast(pl.Int64) if self._ends else pl.lit(ENDLESS, pl.Int64)
        return end.alias(AT)

    @property
    def _ends(self) -> bool:
        """Whether its windows end before the input does."""
        return "window_end" in self.inner.output
