"""A query in several buckets in this process, as on Spark, which are cut again between pushes.

Each stage has a task for each bucket, and rows go to that of their keys. A cut is that of a
checkpoint that is exported and imported: state goes where the rows of its keys go from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count, cycle
from typing import Any, cast

import polars as pl

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.plan.ir.statements import Script
from sqlwin.polars_frames import stacked
from sqlwin.runtime.checkpoint.rebuckets import rebucketed
from sqlwin.runtime.lowering.explained import explain
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.tasks.task import Output, Task
from sqlwin.spark.stages.buckets import bucket_of, cut
from sqlwin.state.blobs.blobs import DictBlobs

COUNTS = (2, 3, 1)


def bucketed(parsed: Script, counts: tuple[int, ...] = COUNTS) -> Iterator[EmbeddedQuery]:
    """The query, and with each `next` the query in another number of buckets."""
    query = EmbeddedQuery(parsed, explain)
    stages = [Buckets(stage) for stage in query._chain.stages]
    query._task.tasks = cast("list[Task]", stages)
    for number in cycle(counts):
        for stage in stages:
            stage.cut(number)
        yield query


class Buckets:
    """The tasks of a stage, as if they were one; of what is the same in all, that of the first."""

    def __init__(self, query: Lowered) -> None:
        self.query, self.lives = query, count()
        self.tasks = [Task(query, DictBlobs(), "first")]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tasks[0], name)

    def cut(self, number: int) -> None:
        for task in self.tasks:
            task.commit()
        old = [task.blobs for task in self.tasks if task.blobs is not None]
        keyed = any(each.keys for each in self.query.inputs)
        new = rebucketed(self.query, old, number if keyed else 1, bucket_of)
        token = f"life{next(self.lives)}"
        self.tasks = [Task(self.query, blobs, token) for blobs in new]
        for task in self.tasks:
            task.stores._check()

    def take(self, rows: Mapping[int, Iterable[pl.DataFrame]], *rest: Any, **named: Any) -> Output:
        parts: list[dict[int, list[pl.DataFrame]]] = [{} for _ in self.tasks]
        for at, frames in rows.items():
            for frame in frames:
                for number, part in cut(frame, self.query.inputs[at].keys, len(parts)):
                    parts[number].setdefault(at, []).append(part)
        outputs = [
            task.take(part, *rest, **named) for task, part in zip(self.tasks, parts, strict=True)
        ]
        return Output(
            stacked([each.results for each in outputs]),
            outputs[0].watermarks,
            self.deadline(),
            stacked([each.errors for each in outputs]),
            sum(each.replayed for each in outputs),
        )

    def read(self, positions: Mapping[str, Mapping[int, int]]) -> None:
        for task in self.tasks:
            task.read(positions)

    def deadline(self) -> int | None:
        return min((at for task in self.tasks if (at := task.deadline()) is not None), default=None)
