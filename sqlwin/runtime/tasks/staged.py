"""The task of a chain in one process: a task for each stage, and rows from one to the next.

`take` is one batch of all of them, from below. What a stage says goes through the fronts
of those that read it, with the watermark it has come to; then the stage above takes it, in
the same batch.

Invariant: the stages' state is written together, so none knows more than those below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import polars as pl

from sqlwin.operators.contract import Stores
from sqlwin.runtime.checkpoint.task_state import Kept
from sqlwin.runtime.inputs.watermarks import Marks
from sqlwin.runtime.lowering.chain import Chain, Feed, fronts_of
from sqlwin.runtime.lowering.derived import derived
from sqlwin.runtime.lowering.input_pipelines import Brought, brought, together
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.lowering.output_projection import Back
from sqlwin.runtime.rows.rejects import no_rejects
from sqlwin.runtime.tasks.recovery import refuse_loss
from sqlwin.runtime.tasks.task import Output, Task
from sqlwin.state.blobs import Shelf
from sqlwin.state.contract import Blobs
from sqlwin.state.segments import SEGMENT_ROWS

T = TypeVar("T")
Reached = dict[str, dict[int, int]]
"""By derived stream and part, the watermark of what gives its rows."""


@dataclass
class Flow:
    """What comes to a stage from those below. rows: by stream."""

    rows: dict[str, list[pl.DataFrame]] = field(default_factory=dict)
    reached: Reached = field(default_factory=dict)

    def add(self, feed: Feed, results: pl.DataFrame, reached: int) -> None:
        name = feed.stream.name
        if feed.stream.ts is not None:
            self.reached.setdefault(name, {})[feed.part] = reached
        if len(results):
            self.rows.setdefault(name, []).append(derived(results, feed.part))


class StagedTask:
    """Arguments as of `Task`. A lost message store is filled again where there is one stage, and
    refused where there are more."""

    def __init__(
        self,
        chain: Chain,
        blobs: Blobs | None = None,
        token: str = "",
        segment_rows: int = SEGMENT_ROWS,
        lazy: bool | None = None,
    ) -> None:
        self.chain = chain
        shelves = [shelf(blobs, chain, at) for at in range(len(chain.stages))]
        if len(shelves) > 1 and lazy is not None:
            for own in shelves:
                refuse_loss(Kept(own).header(), [] if own is None else own.names())
            lazy = None
        self.tasks = [
            Task(stage, own, token, segment_rows=segment_rows, lazy=lazy)
            for stage, own in zip(chain.stages, shelves, strict=True)
        ]

    @property
    def top(self) -> Task:
        return self.tasks[-1]

    @property
    def back(self) -> Back:
        return self.top.back

    def take(
        self,
        rows: Mapping[int, Iterable[pl.DataFrame]],
        marks: Mapping[str, Marks],
        now: int,
        end: bool = False,
        watermark: Mapping[str, int] | None = None,
        heard: bool = False,
    ) -> Output:
        """As `Task.take`; rows by number of `Chain.inputs`."""
        flows = [Flow() for _ in self.tasks]
        outputs, errors = [], [no_rejects()]
        for number, task in enumerate(self.tasks):
            came = _through(task, flows[number], now)
            errors.append(came.errors)
            own = {at: rows[n] for n, at in self._own(number) if n in rows}
            output = task.take(
                {**own, **came.rows},
                {**_of(task.query, marks), **flows[number].reached},
                now,
                end,
                _of(task.query, watermark or {}),
                heard if self._own(number) else bool(came.rows),
            )
            outputs.append(output)
            for feed in self.chain.feeds[number]:
                flows[feed.to].add(feed, output.results, task.reached())
        return self._together(outputs, errors)

    def commit(self) -> None:
        for task in self.tasks:
            task.commit()

    def read(self, positions: Mapping[str, Mapping[int, int]]) -> None:
        """As `Task.read`."""
        for task in self.tasks:
            task.read(_of(task.query, positions))

    def watermark(self, stream: str) -> int:
        return self._reader(stream).clock.of(stream)

    def missing(self) -> pl.DataFrame | None:
        """As `Task.missing`."""
        return self.top.missing()

    def whole(self) -> Stores:
        """Of the query's own stage; see `Task.whole`."""
        return self.top.whole()

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

    def _own(self, stage: int) -> list[tuple[int, int]]:
        """Of a stage: number of an input of the chain, and what it is there."""
        return [(n, at) for n, (of, at) in enumerate(self.chain.inputs) if of == stage]

    def _reader(self, stream: str) -> Task:
        return next(task for task in self.tasks if stream in task.query.streams)

    def _together(self, outputs: list[Output], errors: list[pl.DataFrame]) -> Output:
        return Output(
            outputs[-1].results,
            {name: self.watermark(name) for name in self.chain.streams},
            self.deadline(),
            pl.concat([*errors, *(each.errors for each in outputs)]),
            sum(each.replayed for each in outputs),
        )


def shelf(blobs: Blobs | None, chain: Chain, stage: int) -> Blobs | None:
    """Where a stage has its blobs; those of the query's own have plain names."""
    if blobs is None or stage == len(chain.stages) - 1:
        return blobs
    return Shelf(blobs, f"stage{stage}/")


def _through(task: Task, flow: Flow, now: int) -> Brought:
    """Rows of derived streams as the stage's operator takes them."""
    fronts = fronts_of(task.query)
    found = (
        brought(fronts, name, pl.concat(frames), task.clock.of(name), now=now)
        for name, frames in flow.rows.items()
    )
    return together(found)


def _of(stage: Lowered, by_stream: Mapping[str, T]) -> dict[str, T]:
    return {name: each for name, each in by_stream.items() if name in stage.streams}
