"""A bucket of a query as a group of transformWithState.

Its state is one MapState of blobs: segments and headers by name, which Spark
commits with the batch. A call restores the task from its checkpoint metadata, runs the
batch, commits, and yields the outputs as a few binary rows.

A level of the chain is one such operator. Rows for stages of other levels pass through; the
results of a stage are sent to the buckets of the stages above, see `stage_output`.

Invariant: the rows a call yields depend only on the state and on the set of input rows,
not on the order in which the shuffle delivered them.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace

import pandas as pd
import polars as pl
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from sqlwin.errors import StateError
from sqlwin.runtime.inputs.row_counts import RowCounts, total
from sqlwin.runtime.inputs.watermarks import each_merged
from sqlwin.runtime.lowering.derived import retractions_first
from sqlwin.runtime.lowering.input_pipeline import PreparedRows
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.tasks.operator_counts import measured
from sqlwin.runtime.tasks.task import Output, Task
from sqlwin.schema import PART, POSITION, SEQ, WEIGHT
from sqlwin.spark.stages.program import Program, load
from sqlwin.spark.stages.row_kinds import (
    ARRIVED,
    DONE,
    ERRORS,
    MARK,
    RAW,
    RESULTS,
    ROWS,
    STATE,
    WARNING,
    of_input,
)
from sqlwin.spark.stages.segment_cache import HostCache, default_capacity
from sqlwin.spark.stages.stage_output import PAYLOADS, to_stages_above
from sqlwin.spark.stages.state_blobs import StateBlobs
from sqlwin.spark.stages.wire import PACKED, Done, Mark, Packed, decode, encode, unpacked_blob
from sqlwin.state.blobs.sqlite_file import TO_DO
from sqlwin.state.contract import Blobs, SegmentCache

TAKEN = "taken"
PASSED = (ERRORS, DONE, WARNING, ARRIVED)
"""Kinds of rows that a bucket passes through unchanged."""


class BucketProcessor(StatefulProcessor):
    """The stateful processor of transformWithState, keyed by (query, bucket).

    level: of the stages that it runs.
    """

    def __init__(self, program: str, level: int = 0) -> None:
        self.program, self.level = program, level

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.blobs = StateBlobs(handle.getMapState("blobs", "name string", "data binary"))
        self.cache = HostCache(capacity=default_capacity())

    def handleInputRows(  # noqa: N802
        self,
        key: tuple[int, int],
        rows: Iterator[pd.DataFrame],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        stage, label = int(key[0]), int(key[1])
        program = load(self.program)
        if program.levels[stage] != self.level:
            yield from (frame[list(PACKED.names)] for frame in rows)
            return
        arrived = [
            Packed(stage, label, row.kind, row.at, bytes(row.payload))
            for frame in rows
            for row in frame.itertuples(index=False)
        ]
        for row in work(program, stage, label, arrived, self.blobs, self.cache):
            yield pd.DataFrame({name: [value] for name, value in vars(row).items()})

    def close(self) -> None:
        pass


def work(
    program: Program,
    stage: int,
    label: int,
    arrived: Iterable[Packed],
    blobs: Blobs,
    cache: SegmentCache | None = None,
) -> Iterator[Packed]:
    """One batch of one bucket: its outputs, and `done` last."""
    ordered = sorted(arrived, key=lambda row: (row.kind, row.at, row.payload))
    imported = [row for row in ordered if row.kind == STATE]
    if imported:  # the batch is nothing else
        for row in imported:
            blobs.put(*unpacked_blob(row.payload))
        return
    seen = [Mark.load(row.payload) for row in ordered if row.kind == MARK]
    task = Task(program.lowered[stage], blobs, uuid.uuid4().hex[:16], cache, run=program.run)
    rows: dict[int, list[pl.DataFrame]] = {}
    errors, counts = [], [RowCounts(mark.taken, mark.late, mark.expired) for mark in seen]
    for at in range(len(task.query.inputs)):
        prepared_batches = _prepare(program, stage, at, ordered, task, blobs, _clock(seen).now)
        rows[at] = [
            *_payloads_of(ordered, ROWS, at),
            *(prepared.rows for prepared in prepared_batches),
        ]
        errors += [prepared.errors for prepared in prepared_batches]
        counts += [prepared.counts for prepared in prepared_batches]
    began = time.perf_counter()
    output = _run_batch(task, rows, seen)
    seconds = time.perf_counter() - began
    task.commit()
    yield from to_stages_above(
        program, stage, label, output.results, task.output_watermark(), _clock(seen)
    )
    owner, _ = program.places[stage]
    home = label if owner == stage else program.labels[owner][0]

    def sent(kind: str, payload: bytes) -> Packed:
        return Packed(owner, home, kind, 0, payload)

    yield from (sent(row.kind, row.payload) for row in ordered if row.kind in PASSED)
    passed = [decode(row.payload) for row in ordered if row.kind == ERRORS]
    refusals = [*errors, output.errors]
    for refused in refusals:
        yield from (sent(ERRORS, payload) for payload in _encoded(refused))
    if owner == stage and owner not in program.counted:
        yield from (sent(RESULTS, payload) for payload in _encoded(output.results))
    done = replace(
        _done(output, task.query, seen),
        stage=stage,
        emitted=len(output.results) * (owner == stage),
        errors=sum(map(len, [*refusals, *passed])),
        counts=asdict(measured(task, output, total(counts), program.measured, seconds)),
    )
    yield sent(DONE, done.dump())


def _clock(seen: list[Mark]) -> Mark:
    """The time of a batch, and whether input ends."""
    now = max((mark.now for mark in seen), default=0)
    return Mark(now, any(mark.end for mark in seen))


def _payloads_of(arrived: Iterable[Packed], kind: str, at: int) -> list[pl.DataFrame]:
    """Of one input."""
    return [decode(row.payload) for row in arrived if row.kind == of_input(kind, at)]


def _run_batch(task: Task, rows: dict[int, list[pl.DataFrame]], seen: list[Mark]) -> Output:
    marks: dict[str, Mapping[int, int]] = {}
    raised: dict[str, int] = {}
    for mark in seen:
        marks = each_merged(marks, mark.marks)
        for stream, watermark in mark.watermark.items():
            raised[stream] = max(watermark, raised.get(stream, watermark))
    clock, has_rows = _clock(seen), any(mark.has_rows for mark in seen)
    reloaded = {name for mark in seen for name in mark.reloaded}
    return task.take(rows, marks, clock.now, clock.end, raised, has_rows, reloaded)


def _prepare(
    program: Program,
    stage: int,
    at: int,
    arrived: list[Packed],
    task: Task,
    blobs: Blobs,
    now: int,
) -> list[PreparedRows]:
    """Rows that were packed whole, through the pipeline: here the watermark is known."""
    raw = _payloads_of(arrived, RAW, at)
    if not raw:
        return []
    stream = task.query.inputs[at].stream
    whole = _ordered_changes(arrived, at) if stream.of else pl.concat(raw)
    if stream.offset is None and not stream.of:
        whole = _placed(whole, blobs, of_input(TAKEN, at))
    return [program.pipelines[stage][at].process(whole, task.clock.of(stream.name), now=now)]


def _ordered_changes(arrived: list[Packed], at: int) -> pl.DataFrame:
    """The changes of the buckets below."""
    parts: dict[int, list[pl.DataFrame]] = {}
    for row in arrived:
        if row.kind == of_input(RAW, at):
            parts.setdefault(row.at >> PAYLOADS, []).append(decode(row.payload))
    frames = [pl.concat(part) for part in parts.values()]
    return retractions_first(frames, [PART, SEQ], pl.col(WEIGHT) < 0)


def _placed(rows: pl.DataFrame, blobs: Blobs, counter: str) -> pl.DataFrame:
    """Positions by content, then by a count of this bucket's rows, to distinguish equal rows."""
    try:
        before = int(blobs.get(counter))
    except KeyError:
        before = 0
    except ValueError as error:
        raise StateError(f"the state in spark/state: {counter} is damaged; {TO_DO}") from error
    blobs.put(counter, str(before + len(rows)).encode())
    number = (pl.int_range(pl.len(), dtype=pl.Int64) + before) % 2**32
    return rows.sort(POSITION[1:], maintain_order=True).with_columns(pl.col(SEQ) + number)


def _encoded(frame: pl.DataFrame) -> Iterator[bytes]:
    return iter(()) if frame.is_empty() else encode(frame)


def _done(output: Output, query: Lowered, seen: list[Mark]) -> Done:
    declared = {name for name, stream in query.streams.items() if not stream.of}
    return Done(
        watermarks={name: at for name, at in output.watermarks.items() if name in declared},
        deadline=output.deadline,
        read=sum(mark.read for mark in seen),
        emitted=len(output.results),
        replayed=output.replayed,
    )
