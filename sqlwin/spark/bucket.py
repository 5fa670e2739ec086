"""A bucket of a query as a group of transformWithState.

Its state is one MapState of blobs: segments and headers by name, which Spark
commits with the batch. A call rebuilds the task from its header, hands it the
batch, commits, and yields what came out as a few binary rows.

Invariant: what a call yields depends on the state and on the set of rows alone,
not on the order in which the shuffle delivered them.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd
import polars as pl
from pyspark.sql.streaming.stateful_processor import (
    MapState,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from sqlwin.runtime.front import Taken
from sqlwin.runtime.task import Output, Task
from sqlwin.runtime.watermarks import each_merged
from sqlwin.schema import POSITION, SEQ
from sqlwin.spark.cache import HostCache, default_capacity
from sqlwin.spark.program import Program, load
from sqlwin.spark.tags import ERRORS, MARK, RAW, RESULTS, ROWS, of_input
from sqlwin.spark.wire import Done, Mark, Packed, decode, encode
from sqlwin.state.contract import Blobs, SegmentCache

TAKEN = "taken"
Emitted = tuple[str, bytes]


@dataclass(frozen=True)
class StateBlobs:
    """`Blobs` over a MapState of (name) to (data)."""

    state: MapState

    def get(self, name: str) -> bytes:
        found = self.state.getValue((name,))
        if found is None:
            raise KeyError(name)
        return bytes(found[0])

    def put(self, name: str, data: bytes) -> None:
        self.state.updateValue((name,), (data,))

    def delete(self, name: str) -> None:
        self.state.removeKey((name,))

    def names(self) -> list[str]:
        return sorted(name for (name,) in self.state.keys())  # noqa: SIM118


class BucketProcessor(StatefulProcessor):
    """The stateful processor of transformWithState, keyed by (query, bucket)."""

    def __init__(self, program: str) -> None:
        self.program = program

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.blobs = StateBlobs(handle.getMapState("blobs", "name string", "data binary"))
        self.cache = HostCache(capacity=default_capacity())

    def handleInputRows(  # noqa: N802
        self,
        key: tuple[int, int],
        rows: Iterator[pd.DataFrame],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        query, label = int(key[0]), int(key[1])
        came = [
            Packed(query, label, row.kind, row.at, bytes(row.payload))
            for frame in rows
            for row in frame.itertuples(index=False)
        ]
        for kind, payload in work(load(self.program), query, came, self.blobs, self.cache):
            yield pd.DataFrame(
                {"query": [query], "bucket": [label], "kind": [kind], "payload": [payload]}
            )

    def close(self) -> None:
        pass


def work(
    program: Program,
    query: int,
    came: Iterable[Packed],
    blobs: Blobs,
    cache: SegmentCache | None = None,
) -> Iterator[Emitted]:
    """One batch of one bucket: (kind, payload) of what goes out, the mark last."""
    ordered = sorted(came, key=lambda row: (row.kind, row.at, row.payload))
    seen = [Mark.load(row.payload) for row in ordered if row.kind == MARK]
    task = Task(program.lowered[query], blobs, uuid.uuid4().hex[:16], cache, run=program.run)
    rows: dict[int, list[pl.DataFrame]] = {}
    errors = []
    for at in range(len(task.query.inputs)):
        fronted = _fronted(program, query, at, ordered, task, blobs)
        rows[at] = [*_of(ordered, ROWS, at), *(taken.rows for taken in fronted)]
        errors += [taken.errors for taken in fronted]
    output = _taken(task, rows, seen)
    task.commit()
    for row in ordered:
        if row.kind == ERRORS:
            yield ERRORS, row.payload
    for refused in (*errors, output.errors):
        yield from ((ERRORS, payload) for payload in _encoded(refused))
    if query not in program.counted:
        yield from ((RESULTS, payload) for payload in _encoded(output.results))
    yield MARK, _done(output, seen).dump()


def _of(came: Iterable[Packed], kind: str, at: int) -> list[pl.DataFrame]:
    """Of one input."""
    return [decode(row.payload) for row in came if row.kind == of_input(kind, at)]


def _taken(task: Task, rows: dict[int, list[pl.DataFrame]], seen: list[Mark]) -> Output:
    marks: dict[str, Mapping[int, int]] = {}
    raised: dict[str, int] = {}
    for mark in seen:
        marks = each_merged(marks, mark.marks)
        for stream, watermark in mark.watermark.items():
            raised[stream] = max(watermark, raised.get(stream, watermark))
    return task.take(
        rows,
        marks,
        now=max((mark.now for mark in seen), default=0),
        end=any(mark.end for mark in seen),
        watermark=raised,
        heard=any(mark.read for mark in seen),
    )


def _fronted(
    program: Program, query: int, at: int, came: list[Packed], task: Task, blobs: Blobs
) -> list[Taken]:
    """Rows that were packed whole, through the front, which here knows the watermark."""
    raw = _of(came, RAW, at)
    if not raw:
        return []
    stream = task.query.inputs[at].stream
    whole = pl.concat(raw)
    if stream.offset is None:
        whole = _placed(whole, blobs, of_input(TAKEN, at))
    return [program.fronts[query].of(at).take(whole, task.clock.of(stream.name))]


def _placed(rows: pl.DataFrame, blobs: Blobs, counter: str) -> pl.DataFrame:
    """Positions by content, then by a count of this bucket's rows, which tells equal rows apart."""
    try:
        before = int(blobs.get(counter))
    except KeyError:
        before = 0
    blobs.put(counter, str(before + len(rows)).encode())
    number = (pl.int_range(pl.len(), dtype=pl.Int64) + before) % 2**32
    return rows.sort(POSITION[1:], maintain_order=True).with_columns(pl.col(SEQ) + number)


def _encoded(frame: pl.DataFrame) -> Iterator[bytes]:
    return iter(()) if frame.is_empty() else encode(frame)


def _done(output: Output, seen: list[Mark]) -> Done:
    return Done(
        watermarks=output.watermarks,
        deadline=output.deadline,
        read=sum(mark.read for mark in seen),
        emitted=len(output.results),
        replayed=output.replayed,
    )
