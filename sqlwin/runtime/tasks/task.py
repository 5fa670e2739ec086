"""A task: one bucket of a query, its operator, its stores and its clock.

A task is what both hosts run; a bucket of keys is Samza's task. `take` is one
batch: late rows by the watermark before it, then the watermark the batch brings,
then the clock, then, if it is the last, the end of input. Rows pass admission before
the operator sees them. `commit` writes what it keeps: see `stored_task`.

Worked example: tumbling minutes, no delay, rows of 9:00:10 and then 9:01:05. The
second batch is judged by the watermark 9:00:10, and moves it to 9:01:05: the
minute of 9:00 is full and is emitted.

A query of several streams has a watermark for each, and goes by the least of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import DOUBT, Restoring, next_full
from sqlwin.plan.properties.recovery import reaches_back
from sqlwin.polars_frames import stacked
from sqlwin.runtime.inputs.admission import Admitted, expired_before
from sqlwin.runtime.inputs.watermarks import Marks
from sqlwin.runtime.lowering.operator_inputs import on_batch
from sqlwin.runtime.rows.error_stream import INTERNAL, judged, no_rejects
from sqlwin.runtime.tasks.batch_admission import admitted, counted, retire
from sqlwin.runtime.tasks.recovery import hold, incomplete, release
from sqlwin.runtime.tasks.stored_task import StoredTask
from sqlwin.schema import POSITION

if TYPE_CHECKING:
    from sqlwin.operators.joins.operator import WindowJoin
    from sqlwin.operators.joins.static import StaticJoin


@dataclass(frozen=True)
class Output:
    """results: as `OutputProjection.schema`. watermarks: after the batch. deadline: of the next
    tick. errors: rows that the task did not admit. replayed: messages it had seen already.
    """

    results: pl.DataFrame
    watermarks: dict[str, int]
    deadline: int | None
    errors: pl.DataFrame = field(default_factory=no_rejects)
    replayed: int = 0


_NO_REPLAY = Admitted(pl.DataFrame())


class Task(StoredTask):
    """Takes batches; made as `StoredTask` is."""

    def take(
        self,
        rows: Mapping[int, Iterable[pl.DataFrame]],
        marks: Mapping[str, Marks],
        now: int,
        end: bool = False,
        watermark: Mapping[str, int] | None = None,
        has_rows: bool = False,
        reloaded: Collection[str] = (),
    ) -> Output:
        """One batch of rows from the input pipelines, by number of the input, and what all its
        partitions saw, by stream.

        watermark: raise the watermarks of streams at least to these instants. has_rows:
        whether there are rows, in whatever bucket. reloaded: static tables of which the rows are
        another version.
        """
        before = {name: self.clock.of(name) for name in self.clock.delays}
        batch, replayed_rows = self._put_back(
            {at: list(each) for at, each in rows.items()}, now, end
        )
        for stream, seen in marks.items():
            self.clock.observe(stream, seen, now)
        self.clock.pass_time(now)
        for stream, least in (watermark or {}).items():
            self.clock.raise_to(stream, least)
        if self.query.operator is None:
            return self._output([self.projection.pass_on(part) for part in batch.get(0, [])])
        if has_rows:
            self.stores.last_input = now
        if self.recovery is not None and not self.recovery.lazy:
            return self._output([], replayed_rows)
        if self.stores.ttl is not None:  # before rows are judged by what is kept
            self.stores.ttl.begin(now, self.stores.watermark)
        for each in self.query.inputs:
            if each.static and each.stream.name in reloaded:
                cast("StaticJoin", self.query.operator).forget_table(self.stores)
        self.stores.input_watermarks = tuple(before[each.stream.name] for each in self.query.inputs)
        admitted_rows = admitted(self.query, batch, self.stores, self.positions, self.numbers)
        self.stores.counted = counted(self.query, self.numbers, self.clock)
        self.admitted += sum(len(each.rows) for each in admitted_rows.values())
        emitted = self._operate({at: each.rows for at, each in admitted_rows.items()}, now, end)
        return self._output(
            [self.projection.project(emitted)], replayed_rows, *admitted_rows.values()
        )

    def output_watermark(self) -> int:
        """The watermark of its results; of a join that hands numbers on, a number."""
        if self.query.hands_numbers:
            return cast("WindowJoin", self.query.operator).reached(self.stores)
        return self.clock.least(self.query.clocks)

    def deadline(self) -> int | None:
        """The next processing time at which a tick may emit; None where nothing is pending."""
        operator = self.query.operator
        own = None if operator is None else operator.next_deadline(self.stores)
        known = [at for at in (own, self.clock.deadline(), self._full_at()) if at is not None]
        return min(known, default=None)

    def _full_at(self) -> int | None:
        """When the clock, as a watermark, makes a result full; None where event time does."""
        behind = self.query.behind_clock
        full = None if behind is None else next_full(self.query.operator, self.stores)
        return None if behind is None or full is None else full + behind

    def edge(self) -> tuple[object, ...]:
        """Changes when a window opens or anything is purged: when state is to be flushed."""
        newest = max((max(s.values()) for s in self.clock.seen.values() if s), default=0)
        opened, rule = self.query.opened(newest), self.query.policy
        any_row = opened is None or (rule is not None and rule.retain_rows is not None)
        state = self.stores.named.values()
        purged = [store.layout.slice_of(store.horizon) for store in state]
        ttl = self.stores.ttl
        erased = 0 if ttl is None else ttl.erasures
        return (opened, any_row and self.admitted, erased, *purged)

    def _put_back(
        self, batch: dict[int, list[pl.DataFrame]], now: int, end: bool
    ) -> tuple[dict[int, list[pl.DataFrame]], Admitted]:
        """Restore lost messages that the batch replays; its new rows, and the count of replays.

        Only an operator of one input has a message store that can be lost.
        """
        recovery, stores = self.recovery, self.stores
        if recovery is None:
            return batch, _NO_REPLAY
        arrived = batch.get(0, [])
        rows = pl.concat(arrived) if arrived else pl.DataFrame()
        replayed_rows = recovery.again(rows, stores)
        if len(replayed_rows):
            prepared = self._restoring.prepare(replayed_rows.drop(*INTERNAL, *DOUBT, strict=False))
            self._restoring.restore(prepared, stores, now, recovery.since)
            rows = rows.join(replayed_rows, on=list(POSITION), how="anti", maintain_order="left")
        missing, errors = recovery.missing(stores), no_rejects()
        if missing.is_empty():
            self.recovery = None
            if recovery.ever:
                release(self._restoring.final_before(recovery.closed), stores, now)
        else:
            rows, errors = self._behind(rows)
            if end or recovery.too_early(rows, reaches_back(self.query.query.plan)):
                raise incomplete(self.query, missing)
        return {0: [rows] if arrived else []}, Admitted(pl.DataFrame(), errors, len(replayed_rows))

    def _behind(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """New rows, less those that RETAIN n ROWS had expired before the loss."""
        rule = self.query.inputs[0].admission
        if rule is None or rule.by_rows is None or rows.is_empty():
            return rows, no_rejects()
        stream = self.query.stream.name
        return expired_before(rule, rows, self.positions.of(stream), self.clock.of(stream))

    def _operate(self, batch: dict[int, pl.DataFrame], now: int, end: bool) -> pl.DataFrame:
        """batch: prepared rows, by input."""
        query, stores, recovery = self.query, self.stores, self.recovery
        watermark = self.clock.least(self.query.clocks)
        if recovery is not None:
            query = replace(query, operator=self._restoring.without_eviction())
        operator = query.operator
        assert operator is not None
        out = [on_batch(query, batch, stores, now)] if batch or query.spanned else []
        out.append(operator.on_watermark(watermark, stores, now))
        if recovery is not None:
            hold(self._restoring.final_before(recovery.closed), stores)
        out.append(operator.on_tick(now, stores))
        if end:
            out.append(operator.on_end(stores, now))
        retire(self.query, stores, self.clock, self.pinning)
        return stacked(out)

    @cached_property
    def _restoring(self) -> Restoring:
        assert isinstance(self.query.operator, Restoring)
        return self.query.operator

    def _output(self, results: list[pl.DataFrame], *admitted: Admitted) -> Output:
        return Output(
            stacked([self.projection.nothing(), *results]),
            {name: self.clock.of(name) for name in self.clock.delays},
            self.deadline(),
            judged(
                stacked([no_rejects(), *(each.errors for each in admitted)]), self.query.expired
            ),
            sum(each.replayed for each in admitted),
        )
