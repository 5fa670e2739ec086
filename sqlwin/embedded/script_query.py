"""One query of a script: its batches, each with a number, its sinks and its commits.

A batch is one file, or what was appended to one; the first batch also has all files of static
tables. State and file progress are committed together after the sinks have written the batch;
a batch that was interrupted runs again from the last commit, and sinks write it under the same
number.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from sqlwin.embedded.batch_clock import BatchClock
from sqlwin.embedded.checkpoint.query_position import write_source_text
from sqlwin.embedded.checkpoint.resumed_run import blobs_of, resumed_run
from sqlwin.embedded.input_reader import InputReader, folders_of
from sqlwin.embedded.outbox import Outbox
from sqlwin.embedded.run_progress import PROGRESS, RunProgress, forget_end, note_end
from sqlwin.embedded.shared_reads import SharedReads
from sqlwin.embedded.timer import Timer
from sqlwin.plan.ir.statements import Script
from sqlwin.plan.options.settings import run_settings
from sqlwin.runtime.connectors.metrics import OperatorMetrics, QueryMetrics
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.outlets import Outlet
from sqlwin.runtime.connectors.progress import Batch, BatchRows, Summary
from sqlwin.runtime.connectors.reloads import ReloadedTable
from sqlwin.runtime.connectors.sources import source_of
from sqlwin.runtime.lowering.chain import chain
from sqlwin.runtime.lowering.input_pipelines import of_streams
from sqlwin.runtime.rows.error_stream import located, reasons
from sqlwin.runtime.rows.malformed import Malformed
from sqlwin.runtime.tasks.chain_task import ChainTask
from sqlwin.runtime.tasks.operator_counts import name_of
from sqlwin.runtime.tasks.task import Output


class ScriptQuery:
    """Its task, sources, sinks and place in the input."""

    def __init__(
        self,
        script: Script,
        number: int,
        outlet: Outlet,
        options: RunOptions,
        malformed: Malformed,
        shared: SharedReads,
    ) -> None:
        self.query, self.number = script.queries[number], number
        self.malformed, self.opened = malformed, ExitStack()
        self.options, self.source_text = options, script.source_text
        self.chain = chain(self.query)
        self.sources = {name: source_of(each) for name, each in self.chain.streams.items()}
        self.reloaded = {
            name: replace(each, folder=self._versions(name))
            for name, each in self.sources.items()
            if isinstance(each, ReloadedTable)
        }
        self.sources |= self.reloaded
        self.outlet = outlet
        self.blobs = blobs_of(options.checkpoint, number)
        forget_end(self.blobs)
        self.outbox = Outbox(self.blobs) if outlet.sends else None
        self.progress = self._resumed()
        self.task = ChainTask(self.chain, self.blobs, uuid.uuid4().hex)
        self.input = InputReader(
            self.chain,
            self.progress,
            self.sources,
            frozenset(self.reloaded),
            options,
            run_settings(script.settings),
            self.task.watermark,
            shared,
            folders_of(self.query.plan),
        )
        self.clock = BatchClock(self.blobs if self.chain.clock else None)
        self.deadline = self.task.deadline()
        if self.outbox is not None:
            self.outbox.send(outlet)  # a run that was killed may not have

    def step(self, summary: Summary) -> bool:
        """Read the next file of each stream that has one, as one batch."""
        timer = Timer()
        at = self.clock.of(self.progress.batch + 1, now())
        read_ = self.input.read(at)
        if not read_:
            return False
        timer.lap("read")
        before = self._watermarks()
        rows = sum(each.rows for each in read_.values())
        input_batch = of_streams(each.batch for each in read_.values())
        self.clock.record(self.progress.batch + 1, at)
        output = self.task.take(
            input_batch.rows,
            input_batch.marks,
            at,
            has_rows=rows > 0,
            counts=input_batch.counts,
            reloaded=read_.keys() & self.chain.tables,
        )
        timer.lap("operators")
        malformed = [each.malformed for each in read_.values()]
        errors = pl.concat([*malformed, input_batch.errors, output.errors])
        ends = {name: each.end for name, each in read_.items()}
        taken = [(name, part) for name, each in read_.items() for part in each.decoded]
        self._finish(output, errors, ends, summary, rows, timer)
        self._show(output, errors, taken, before, at, rows)
        return True

    def _watermarks(self) -> dict[str, int]:
        return {name: self.task.watermark(name) for name in self.chain.streams}

    def _show(
        self,
        output: Output,
        errors: pl.DataFrame,
        taken: Sequence[tuple[str, pl.DataFrame]],
        before: Mapping[str, int],
        at: int,
        read: int,
    ) -> None:
        if self.options.on_rows is not None:
            number, after = self.progress.batch, self._watermarks()
            self.options.on_rows(
                BatchRows(
                    self.number, number, taken, output.results, errors, before, after, at, read
                )
            )

    def tick(self, summary: Summary) -> None:
        """Emit the corrections whose period is over."""
        if self.deadline is not None and self.deadline <= now():
            self._without_rows(summary, end=False)

    def finish(self, summary: Summary) -> None:
        self._without_rows(summary, end=self.options.ends)

    def ended(self) -> None:
        """The run ends, with no batch under way: sinks have those that are committed, and no more.
        An export counts on that."""
        if self.blobs is not None and PROGRESS in self.blobs.names():
            note_end(self.blobs, self.progress.batch)

    def close(self) -> None:
        """What was read since the last commit is read again by the next run."""
        self.opened.close()
        if self.blobs is not None:
            self.blobs.close()

    def _without_rows(self, summary: Summary, end: bool) -> None:
        number = self.progress.batch + 1
        timer, before, at = Timer(), self._watermarks(), self.clock.of(number, now())
        self.clock.record(number, at)
        output = self.task.take({}, {}, at, end=end)
        timer.lap("operators")
        self._finish(output, output.errors, {}, summary, 0, timer)
        self._show(output, output.errors, (), before, at, 0)

    def _finish(
        self,
        output: Output,
        errors: pl.DataFrame,
        ends: Mapping[str, int],
        summary: Summary,
        read_: int,
        timer: Timer,
    ) -> None:
        """ends: of what was read, by stream."""
        number = self.progress.batch + 1
        errors = located(errors, self.input.places())
        batch = Batch(number, read_, len(output.results), len(errors), output.watermarks)
        self.malformed.see(self.number, number, read_, errors)
        self.outlet.write(number, output.results, errors)
        timer.lap("sinks")
        self.progress.move(ends)
        self.deadline = output.deadline
        if self.outbox is not None:
            self.outbox.add(number, output.results, errors)
        self._commit()
        if self.outbox is not None:
            self.outbox.send(self.outlet)
        for name, each in self.reloaded.items():
            each.drop(self.progress.streams[name])
        timer.lap("commit")
        self._measure(batch, errors, timer)
        summary.add(batch, errors)
        summary.replayed += output.replayed
        self.options.on_batch(batch)

    def _versions(self, name: str) -> Path:
        """The folder of a table's versions; without a checkpoint it goes with the run."""
        if self.options.checkpoint is not None:
            return self.options.checkpoint / "tables" / f"{self.number}-{name.lower()}"
        return Path(self.opened.enter_context(TemporaryDirectory(prefix="sqlwin-table-")))

    def _measure(self, batch: Batch, errors: pl.DataFrame, timer: Timer) -> None:
        if self.options.on_metrics is None:
            return
        did = self.task.measured(sizes=self.options.watched)
        measured = zip(self.chain.stages, did, strict=True)
        metrics = QueryMetrics(
            self.number,
            batch.number,
            now(),
            batch.read,
            batch.emitted,
            Counter(reasons(errors)),
            batch.watermarks,
            timer.laps,
            tuple(OperatorMetrics(name_of(stage), **asdict(each)) for stage, each in measured),
            self.input.unread(),
            self.input.lags(),
            self.input.sizes(),
        )
        self.options.on_metrics(metrics)

    def _commit(self) -> None:
        if self.blobs is None:
            return
        with self.blobs.transaction():
            self.task.commit()
            write_source_text(self.blobs, self.source_text)
            self.blobs.put(PROGRESS, self.progress.dump())
            if self.outbox is not None:
                self.outbox.write(self.blobs)

    def _resumed(self) -> RunProgress:
        """The progress at the last commit; the query continues from there, as it was then."""
        progress, going = resumed_run(
            self.blobs, self.query, self.number, self.chain.streams, self.options.checkpoint
        )
        if going is not self.query:
            self.chain = chain(going)
        return progress.renamed(lambda name, file: self.sources[name].name(file, self.options.base))


def now() -> int:
    return time.time_ns() // 1_000
