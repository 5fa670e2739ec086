"""PACK for any streaming DataFrame: whole rows, cut by bucket, as a few binary rows.

Whether a row has expired is known only where the watermark is, in the bucket. So
rows travel whole, and the front runs twice: here over the keys alone, to find
each row's bucket, and there over everything.

A position is the declared OFFSET. Without one rows of one instant are ordered by
their content, and equal rows cannot be told from a repeated one: each counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.plan.nodes import column_of
from sqlwin.runtime.files import decoded
from sqlwin.runtime.front import Front, Taken
from sqlwin.runtime.lower import Lowered
from sqlwin.runtime.rejects import once
from sqlwin.schema import PART, SEQ, Column
from sqlwin.spark.buckets import cut, hashes
from sqlwin.spark.program import Program, load
from sqlwin.spark.read import Packer
from sqlwin.spark.tags import RAW, of_input
from sqlwin.spark.wire import Mark, Packed, encode

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
    name = program.lowered[0].stream.name if stream is None else stream
    seen = Seen()
    for at, batch in enumerate(batches):
        frame = pl.from_arrow(pa.Table.from_batches([batch]))
        assert isinstance(frame, pl.DataFrame)
        yield from _packed(program, name, frame, at, seen)
    marks = {} if seen.ts is None else {name: {0: seen.ts}}
    yield from Packer(program, 0).mark(Mark(now, marks=marks, read=seen.rows))


@dataclass
class Seen:
    """rows: so far. ts: the greatest event time."""

    rows: int = 0
    ts: int | None = None


def _packed(
    program: Program, stream: str, frame: pl.DataFrame, at: int, seen: Seen
) -> Iterator[Packed]:
    lowered, labels = program.lowered[0], program.labels[0]
    came = decoded(frame, 0, lowered.streams[stream], None)
    taken = {number: _keys(lowered, number, came.rows) for number in lowered.readers(stream)}
    reached = [ts for each in taken.values() for ts in each.marks.values()]
    seen.rows += len(frame)
    seen.ts = max([*reached, *([] if seen.ts is None else [seen.ts])], default=None)
    for errors in (came.errors, once([each.errors for each in taken.values()])):
        yield from Packer(program, 0).errors(at, errors)
    whole = _placed(came.rows)
    for number, each in taken.items():
        for bucket, keys in cut(each.rows, lowered.inputs[number].keys, len(labels)):
            for payload in encode(whole[keys[PART].to_numpy()]):
                yield Packed(0, labels[bucket], of_input(RAW, number), at, payload)


def _keys(query: Lowered, number: int, rows: pl.DataFrame) -> Taken:
    """The keys of the rows that WHERE lets pass; `__part` is the row's number here."""
    read = query.inputs[number]
    one = read.stream.schema[0]
    types = dict(read.columns)
    keys = tuple((key, types[key]) for key in read.keys)
    nothing = ((one.name, column_of(Column(one.name, one.type))),)
    bare = replace(read, columns=keys or nothing, retain=None, admission=None)
    numbered = rows.with_columns(pl.int_range(pl.len(), dtype=pl.Int32).alias(PART))
    return Front(replace(query, inputs=(bare,), operator=None)).take(numbered, None)


def _placed(rows: pl.DataFrame) -> pl.DataFrame:
    names = tuple(name for name in rows.columns if name not in (PART, SEQ))
    content = hashes(rows, names) >> np.uint64(64 - CONTENT_BITS)
    seq = pl.Series(SEQ, content.astype(np.int64) << 32)
    return rows.with_columns(seq, pl.lit(0, pl.Int32).alias(PART))
