"""What one task of the source does: decode, front, cut by bucket, pack.

Invariant: every bucket of every query gets at least one mark from each batch, so
its clock and watermark move whether or not it has rows; and no row leaves here
but in the bucket of its keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from sqlwin.instants import START
from sqlwin.runtime.files import ROWS_IN_A_FILE, decoded, read
from sqlwin.runtime.rejects import under
from sqlwin.runtime.watermarks import merged
from sqlwin.spark.buckets import cut
from sqlwin.spark.feed import Feed
from sqlwin.spark.listing import Piece, opened
from sqlwin.spark.program import Program, load
from sqlwin.spark.tags import ERRORS, MARK, ROWS
from sqlwin.spark.wire import CAP, Mark, Packed, encode


@dataclass(frozen=True)
class Reading:
    """pieces: (number of the stream, number of the piece, piece). control: tells the clock."""

    program: str
    pieces: tuple[tuple[int, int, Piece], ...]
    watermarks: Mapping[int, int]
    now: int
    end: bool
    control: bool


@dataclass(frozen=True)
class StepReading:
    """The part of a feed's step that concerns the queries `only`."""

    program: str
    feed: str
    step: int
    only: frozenset[int]
    watermarks: Mapping[int, int]


@dataclass(frozen=True)
class Ticking:
    """The clock alone."""

    program: str
    now: int
    end: bool


def packed(reading: Reading | StepReading | Ticking) -> Iterator[Packed]:
    program = load(reading.program)
    if isinstance(reading, Reading):
        return _files(reading, program)
    if isinstance(reading, StepReading):
        return _step(reading, program)
    return _ticks(reading, program)


@dataclass
class Packer:
    """Prepared rows of one query, by bucket, until there are enough for a payload."""

    program: Program
    query: int
    held: dict[int, list[tuple[int, pl.DataFrame]]] = field(default_factory=dict)
    bytes: dict[int, int] = field(default_factory=dict)

    def add(self, at: int, rows: pl.DataFrame) -> Iterator[Packed]:
        lowered, labels = self.program.lowered[self.query], self.program.labels[self.query]
        for bucket, part in cut(rows, lowered.inputs[0].keys, len(labels)):
            self.held.setdefault(bucket, []).append((at, part))
            self.bytes[bucket] = self.bytes.get(bucket, 0) + int(part.estimated_size())
            if self.bytes[bucket] >= CAP:
                yield from self._flushed(bucket)

    def flush(self) -> Iterator[Packed]:
        for bucket in list(self.held):
            yield from self._flushed(bucket)

    def errors(self, at: int, errors: pl.DataFrame) -> Iterator[Packed]:
        label = self.program.labels[self.query][0]
        if not errors.is_empty():
            for payload in encode(errors):
                yield Packed(self.query, label, ERRORS, at, payload)

    def mark(self, mark: Mark) -> Iterator[Packed]:
        for label in self.program.labels[self.query]:
            yield Packed(self.query, label, MARK, 0, mark.dump())

    def _flushed(self, bucket: int) -> Iterator[Packed]:
        parts = self.held.pop(bucket)
        self.bytes.pop(bucket)
        label = self.program.labels[self.query][bucket]
        at = parts[0][0]
        for payload in encode(pl.concat([part for _, part in parts])):
            yield Packed(self.query, label, ROWS, at, payload)
            at += 1


def _files(reading: Reading, program: Program) -> Iterator[Packed]:
    packers = [Packer(program, number) for number in range(len(program.queries))]
    marks: dict[int, dict[int, int]] = {number: {} for number in range(len(packers))}
    counts = dict.fromkeys(marks, 0)
    for stream_number, number, piece in reading.pieces:
        stream = program.streams[stream_number]
        header = dict(stream.options).get("header", "true").lower() == "true"
        with opened(piece, header and dict(stream.options).get("format") == "csv") as path:
            came = read(path, number, stream)
        at = number * ROWS_IN_A_FILE
        for query, lowered in enumerate(program.lowered):
            if lowered.stream != stream:
                continue
            packer = packers[query]
            watermark = _hint(reading.watermarks, query)
            taken = program.fronts[query].take(came.rows, watermark)
            yield from packer.add(at, taken.rows)
            yield from packer.errors(at, under(came.errors, watermark))
            yield from packer.errors(at, taken.errors)
            marks[query] = merged(marks[query], taken.marks)
            counts[query] += len(came.rows) + len(came.errors)
    for query, packer in enumerate(packers):
        yield from packer.flush()
        if reading.control or counts[query]:
            end = reading.end and reading.control
            seen = Mark(reading.now, end, marks[query], read=counts[query])
            yield from packer.mark(seen)


def _step(reading: StepReading, program: Program) -> Iterator[Packed]:
    for query, step in Feed(reading.feed).step(reading.step, reading.only).items():
        packer = Packer(program, query)
        marks: dict[int, int] = {}
        if step.rows is not None:
            watermark = _hint(reading.watermarks, query)
            came = decoded(step.rows, step.first, program.lowered[query].stream, watermark)
            taken = program.fronts[query].take(came.rows, watermark)
            marks = taken.marks
            yield from packer.add(0, taken.rows)
            yield from packer.flush()
            yield from packer.errors(0, came.errors)
            yield from packer.errors(0, taken.errors)
        read_ = 0 if step.rows is None else len(step.rows)
        yield from packer.mark(Mark(step.now, step.end, marks, step.watermark, read_))


def _ticks(reading: Ticking, program: Program) -> Iterator[Packed]:
    for query in range(len(program.queries)):
        yield from Packer(program, query).mark(Mark(reading.now, reading.end))


def _hint(watermarks: Mapping[int, int], query: int) -> int:
    """The watermark before the batch; a query that has none yet has seen nothing."""
    return watermarks.get(query, START)
