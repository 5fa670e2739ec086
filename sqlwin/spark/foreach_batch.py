"""What `foreachBatch` runs: results are delivered, and watermarks left for the next batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from pyspark.sql import DataFrame

from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.imports import batches_before
from sqlwin.spark.checkpoint.progress import After, after, leave, number_of
from sqlwin.spark.sinks.collected import collected
from sqlwin.spark.sinks.delivery import OnBatch
from sqlwin.spark.stages.program import Program
from sqlwin.spark.stages.wire import Done


def delivered(
    program: Program, on_batch: OnBatch, folder: Folder | None = None
) -> Callable[[DataFrame, int], None]:
    """What foreachBatch runs. folder: where a batch leaves what the next one needs to know.

    Spark counts batches from 0, offsets from 1: a batch has the number of its end. Those of a
    checkpoint that was imported go on from the batches before.
    """
    before = 0 if folder is None else batches_before(folder)

    def deliver(frame: DataFrame, number: int) -> None:
        number += before
        left = After() if folder is None else after(folder, number)
        results = {
            query: replace(what, before=_watermarks(program, query, left))
            for query, what in collected(program, frame).items()
        }
        on_batch(number + 1, results)
        if folder is not None:
            done = [each for what in results.values() for each in what.done]
            leave(folder, number + 1, _left(program, left, done))

    return deliver


def _left(program: Program, before: After, done: Iterable[Done]) -> After:
    """Watermarks after a batch; a query it did not touch keeps its own."""
    watermarks, deadlines = dict(before.watermarks), []
    for each in done:
        for stream, watermark in each.watermarks.items():
            first = program.lowered[each.stage].readers(stream)[0]
            watermarks[number_of(each.stage, first)] = watermark
        deadlines += [each.deadline] if each.deadline is not None else []
    return After(watermarks, min(deadlines, default=None))


def _watermarks(program: Program, query: int, left: After) -> dict[str, int]:
    """Of the streams of a query, as a batch left them."""
    found: dict[str, int] = {}
    for stage in program.stages(query):
        for name in program.lowered[stage].streams:
            first = program.lowered[stage].readers(name)[0]
            known = left.watermarks.get(number_of(stage, first))
            found |= {} if known is None else {name: known}
    return found
