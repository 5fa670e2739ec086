"""The task of a chain in one process: a task for each stage, and rows from one to the next.

`take` runs one batch of all stages, from below. The results of a stage, and its watermark, go
through the input pipelines of the stages that read it, which take them in the same batch.

Invariant: the stages' state is committed together, so no stage is ahead of those below it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from functools import cached_property
from typing import TypeVar

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.polars_frames import stacked
from sqlwin.runtime.checkpoint.task_state import TaskState
from sqlwin.runtime.inputs.row_counts import RowCounts, total
from sqlwin.runtime.inputs.watermarks import Marks
from sqlwin.runtime.lowering.chain import Chain, DownstreamInput, pipelines_of
from sqlwin.runtime.lowering.input_pipelines import PreparedBatch, of_streams, prepare_batch
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.lowering.output_projection import OutputProjection
from sqlwin.runtime.rows.error_stream import no_rejects
from sqlwin.runtime.tasks.operator_counts import OperatorCounts, measured
from sqlwin.runtime.tasks.recovery import refuse_loss
from sqlwin.runtime.tasks.task import Output, Task
from sqlwin.state.blobs.blobs import PrefixedBlobs
from sqlwin.state.contract import Blobs
from sqlwin.state.segments.store import SEGMENT_ROWS

T = TypeVar("T")
Reached = dict[str, dict[int, int]]
"""By derived stream and part, the watermark of what gives its rows."""


@dataclass
class Flow:
    """The input of a stage from those below. rows: by stream."""

    rows: dict[str, list[pl.DataFrame]] = field(default_factory=dict)
    reached: Reached = field(default_factory=dict)

    def add(self, downstream: DownstreamInput, results: pl.DataFrame, reached: int) -> None:
        name = downstream.stream.name
        if downstream.marked:
            self.reached.setdefault(name, {})[downstream.part] = reached
        if len(results):
            self.rows.setdefault(name, []).append(downstream.rows(results))


class ChainTask:
    """Arguments as of `Task`. A lost message store is filled again where there is one stage, and
    refused where there are more, or where rows have the time at which they came."""

    def __init__(
        self,
        chain: Chain,
        blobs: Blobs | None = None,
        token: str = "",
        segment_rows: int = SEGMENT_ROWS,
        lazy: bool | None = None,
    ) -> None:
        self.chain = chain
        blobs_of = [stage_blobs(blobs, chain, at) for at in range(len(chain.stages))]
        if lazy is not None and (len(blobs_of) > 1 or chain.clock):
            for stage, own in zip(chain.stages, blobs_of, strict=True):
                refuse_loss(stage, TaskState(own).metadata(), [] if own is None else own.names())
            lazy = None
        self.tasks = [
            Task(stage, own, token, segment_rows=segment_rows, lazy=lazy)
            for stage, own in zip(chain.stages, blobs_of, strict=True)
        ]
        self.took: list[tuple[Output, RowCounts, float]] = []

    @property
    def top(self) -> Task:
        return self.tasks[-1]

    @property
    def projection(self) -> OutputProjection:
        return self.top.projection

    def take(
        self,
        rows: Mapping[int, Iterable[pl.DataFrame]],
        marks: Mapping[str, Marks],
        now: int,
        end: bool = False,
        watermark: Mapping[str, int] | None = None,
        has_rows: bool = False,
        counts: Mapping[int, RowCounts] | None = None,
        reloaded: Collection[str] = (),
    ) -> Output:
        """As `Task.take`; rows, and counts of them, by number of `Chain.inputs`."""
        flows = [Flow() for _ in self.tasks]
        self.took = []
        outputs, errors = [], [no_rejects()]
        for number, task in enumerate(self.tasks):
            began = time.perf_counter()
            derived_rows = _through(task, flows[number], now)
            errors.append(derived_rows.errors)
            own = {at: rows[n] for n, at in self._own[number] if n in rows}
            output = task.take(
                {**own, **derived_rows.rows},
                {**_of(task.query, marks), **flows[number].reached},
                now,
                end,
                _of(task.query, watermark or {}),
                has_rows if self._own[number] else bool(derived_rows.rows),
                reloaded,
            )
            outputs.append(output)
            given = [(counts or {}).get(n, RowCounts()) for n, _ in self._own[number]]
            counted = total([*given, *derived_rows.counts.values()])
            self.took.append((output, counted, time.perf_counter() - began))
            for downstream in self.chain.downstream[number]:
                flows[downstream.to].add(downstream, output.results, task.output_watermark())
        return self._together(outputs, errors)

    def commit(self) -> None:
        for task in self.tasks:
            task.commit()

    def measured(self, sizes: bool = False) -> list[OperatorCounts]:
        """Of each stage, what it did in the last batch. sizes: also of state that is in memory."""
        return [
            measured(task, output, counts, seconds=seconds, sizes=sizes)
            for task, (output, counts, seconds) in zip(self.tasks, self.took, strict=True)
        ]

    def read(self, positions: Mapping[str, Mapping[int, int]]) -> None:
        """As `Task.read`."""
        for task in self.tasks:
            task.read(_of(task.query, positions))

    def watermark(self, stream: str) -> int:
        return self._reader(stream).clock.of(stream)

    def missing(self) -> pl.DataFrame | None:
        """As `Task.missing`."""
        return self.top.missing()

    def complete_stores(self) -> Stores:
        """Of the query's own stage; see `Task.complete_stores`."""
        return self.top.complete_stores()

    def replay_from(self, stream: str, pushed: int) -> dict[int, int]:
        """As `Task.replay_from`."""
        return self._reader(stream).replay_from(stream, pushed)

    def deadline(self) -> int | None:
        known = (task.deadline() for task in self.tasks)
        return min((at for at in known if at is not None), default=None)

    def edge(self) -> tuple[object, ...]:
        """As `Task.edge`."""
        return tuple(task.edge() for task in self.tasks)

    def _check(self) -> None:
        for task in self.tasks:
            task.stores._check()

    @cached_property
    def _own(self) -> list[list[tuple[int, int]]]:
        """Of each stage: number of an input of the chain, and what it is there."""
        inputs = list(enumerate(self.chain.inputs))
        stages = range(len(self.chain.stages))
        return [[(n, at) for n, (of, at) in inputs if of == stage] for stage in stages]

    def _reader(self, stream: str) -> Task:
        for task in self.tasks:
            if stream in task.query.streams:
                return task
        raise KeyError(stream)

    def _together(self, outputs: list[Output], errors: list[pl.DataFrame]) -> Output:
        return Output(
            outputs[-1].results,
            {name: self.watermark(name) for name in self.chain.streams},
            min((each.deadline for each in outputs if each.deadline is not None), default=None),
            stacked([*errors, *(each.errors for each in outputs)]),
            sum(each.replayed for each in outputs),
        )


def stage_blobs(blobs: Blobs | None, chain: Chain, stage: int) -> Blobs | None:
    """Where a stage has its blobs; those of the query's own have plain names."""
    if blobs is None or stage == len(chain.stages) - 1:
        return blobs
    return PrefixedBlobs(blobs, f"stage{stage}/")


def _through(task: Task, flow: Flow, now: int) -> PreparedBatch:
    """Rows of derived streams as the stage's operator takes them."""
    if not flow.rows:
        return of_streams(())
    pipelines = pipelines_of(task.query)
    found = (
        prepare_batch(pipelines, name, stacked(frames), task.clock.of(name), now=now)
        for name, frames in flow.rows.items()
    )
    return of_streams(found)


def _of(stage: Lowered, by_stream: Mapping[str, T]) -> dict[str, T]:
    return {name: each for name, each in by_stream.items() if name in stage.streams}
