"""PACK for any streaming DataFrame: whole rows, cut by bucket, as a few binary rows.

Whether a row has expired is known only in the bucket, where the watermark is. So
rows are sent whole, and the input pipeline runs twice: here over the keys, to find
each row's bucket, and there over all columns.

A position is the declared OFFSET. Without one rows of one instant are ordered by
their content, and two equal rows are two rows, not one row and its replay.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.files.source import decoded
from sqlwin.runtime.rows.conform import frame_of
from sqlwin.runtime.rows.error_stream import once
from sqlwin.schema import PART, SEQ
from sqlwin.spark.sources.packer import Packer
from sqlwin.spark.stages.buckets import hashes
from sqlwin.spark.stages.program import Program, load
from sqlwin.spark.stages.stage_output import addressed, keys
from sqlwin.spark.stages.wire import Mark, Packed

Batches = Iterable[pa.RecordBatch]
CONTENT_BITS = 31


def packer(program: str, stream: str) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """What mapInArrow runs over the DataFrame of a stream that the program's one query reads."""

    def pack(batches: Batches) -> Iterator[pa.RecordBatch]:
        for row in packed(load(program), batches, time.time_ns() // 1_000, stream):
            yield row.to_batch()

    return pack


def packed(
    program: Program, batches: Batches, now: int, stream: str | None = None
) -> Iterator[Packed]:
    """A task's rows, then what it saw, for every bucket. stream: None is the first of FROM."""
    name = next(iter(program.chains[0].streams)) if stream is None else stream
    seen = Seen()
    for at, batch in enumerate(batches):
        frame = frame_of(batch, program.chains[0].streams[name].columns)
        yield from _packed(program, name, frame, at, seen)
    marks = {} if seen.ts is None else {name: {0: seen.ts}}
    for at, stage in enumerate(_readers(program, name)):
        read = 0 if at else seen.rows
        mark = Mark(now, marks=marks, read=read, has_rows=seen.rows > 0)
        yield from Packer(program, stage).mark(mark)


def _readers(program: Program, stream: str) -> list[int]:
    """The stages that read a stream."""
    return [at for at, stage in enumerate(program.lowered) if stream in stage.streams]


@dataclass
class Seen:
    """rows: so far. ts: the greatest event time."""

    rows: int = 0
    ts: int | None = None


def _packed(
    program: Program, stream: str, frame: pl.DataFrame, at: int, seen: Seen
) -> Iterator[Packed]:
    decoded_rows = decoded(frame, 0, program.chains[0].streams[stream], None)
    positioned, errors_ = _placed(decoded_rows.rows), []
    for stage in _readers(program, stream):
        for number in program.lowered[stage].readers(stream):
            prepared = keys(program.lowered[stage], number, decoded_rows.rows)
            known = [] if seen.ts is None else [seen.ts]
            seen.ts = max([*prepared.marks.values(), *known], default=None)
            errors_.append(prepared.errors)
            yield from addressed(program, stage, number, positioned, prepared.rows, at)
    seen.rows += len(frame)
    for errors in (decoded_rows.errors, once(errors_)):
        yield from Packer(program, 0).errors(at, errors)


def _placed(rows: pl.DataFrame) -> pl.DataFrame:
    names = tuple(name for name in rows.columns if name not in (PART, SEQ))
    content = hashes(rows, names) >> np.uint64(64 - CONTENT_BITS)
    seq = pl.Series(SEQ, content.astype(np.int64) << 32)
    return rows.with_columns(seq, pl.lit(0, pl.Int32).alias(PART))
