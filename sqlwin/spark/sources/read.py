"""One task of the source: decode, run the input pipelines, partition by bucket, pack.

Invariant: every bucket of every query gets at least one mark from each batch, so
its clock and watermark move whether or not it has rows; and no row leaves here
but in the bucket of its keys, or of its position where no operator takes it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping

import polars as pl

from sqlwin.instants import START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.connectors.sources import source_of
from sqlwin.runtime.files.pieces import Piece
from sqlwin.runtime.files.source import ROWS_IN_A_FILE, decoded
from sqlwin.runtime.inputs.row_counts import RowCounts, total
from sqlwin.runtime.inputs.watermarks import each_merged
from sqlwin.runtime.lowering.input_pipelines import prepare_batch
from sqlwin.runtime.rows.error_stream import once, under
from sqlwin.spark.checkpoint.progress import number_of
from sqlwin.spark.sources.packer import Packer
from sqlwin.spark.sources.step_source import StepSource
from sqlwin.spark.stages.arrivals import Arrivals
from sqlwin.spark.stages.program import Program, load
from sqlwin.spark.stages.wire import Mark, Packed, decode

Marks = dict[str, Mapping[int, int]]
"""By stream and partition, the greatest event time."""


@dataclass(frozen=True)
class Reading:
    """pieces: (number of the stream, number of the piece, piece). control: gives the clock.
    reloaded: static tables of which the batch has another version."""

    program: str
    pieces: tuple[tuple[int, int, Piece], ...]
    watermarks: Mapping[int, int]
    now: int
    end: bool
    control: bool
    reloaded: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepReading:
    """The part of a step that concerns the queries `only`."""

    program: str
    steps: str
    step: int
    only: frozenset[int]
    watermarks: Mapping[int, int]


@dataclass(frozen=True)
class Ticking:
    """The clock alone; first: and, before any row of a stream, the tables that were given."""

    program: str
    now: int
    end: bool
    first: bool = False


def packed(reading: Reading | StepReading | Ticking) -> Iterator[Packed]:
    program = load(reading.program)
    if isinstance(reading, Reading):
        return _files(reading, program)
    if isinstance(reading, StepReading):
        return _step(reading, program)
    return _ticks(reading, program)


def _files(reading: Reading, program: Program) -> Iterator[Packed]:
    packers = [Packer(program, number) for number in range(len(program.lowered))]
    marks: dict[int, Marks] = {number: {} for number in range(len(packers))}
    counts, has_rows = dict.fromkeys(marks, 0), dict.fromkeys(marks, False)
    taken = dict.fromkeys(marks, RowCounts())
    arrivals, paths = Arrivals(), _paths(reading)
    for stream_number, number, piece in reading.pieces:
        stream = program.streams[stream_number]
        queries = _reading(program, stream, piece, paths[stream_number])
        if not queries:
            continue
        decoded_rows = source_of(stream).read(piece, number)
        at = number * ROWS_IN_A_FILE
        for query in queries:
            errors_: list[pl.DataFrame] = []
            for stage in readers(program, query, stream):
                packer = packers[stage]
                watermark = _hint(reading.watermarks, packer, stream.name)
                prepared = prepare_batch(
                    program.pipelines[stage],
                    stream.name,
                    decoded_rows.rows,
                    watermark,
                    now=reading.now,
                )
                yield from packer.add_batch(at, prepared)
                marks[stage] = each_merged(marks[stage], prepared.marks)
                taken[stage] += total(prepared.counts.values())
                counts[stage] += 0 if errors_ else len(decoded_rows.rows) + len(decoded_rows.errors)
                has_rows[stage] |= len(decoded_rows.rows) + len(decoded_rows.errors) > 0
                errors_ += [under(decoded_rows.errors, watermark), prepared.errors]
            yield from packers[query].errors(at, once(errors_))
            yield from packers[query].warn(at, decoded_rows.warnings if errors_ else ())
            if program.recorded and errors_ and stream_number not in program.tables:
                sent = arrivals.sent(query, stream.name, decoded_rows.rows)
                yield from packers[query].arrived(at, sent)
    for stage, packer in enumerate(packers):
        yield from packer.flush()
        if reading.control or has_rows[stage]:
            end = reading.end and reading.control
            streams = packer.lowered.streams
            reloaded = tuple(name for name in reading.reloaded if name in streams)
            seen = Mark(
                reading.now,
                end,
                marks[stage],
                read=counts[stage],
                has_rows=has_rows[stage],
                taken=taken[stage].taken,
                expired=taken[stage].expired,
                late=taken[stage].late,
                reloaded=reloaded if reading.control else (),
            )
            yield from packer.mark(seen)


def _paths(reading: Reading) -> dict[int, list[str]]:
    """By number of the stream."""
    found: dict[int, list[str]] = {}
    for stream, _, piece in reading.pieces:
        found.setdefault(stream, []).append(piece.path)
    return found


def _reading(program: Program, stream: Stream, piece: Piece, paths: list[str]) -> list[int]:
    """The queries that read the folder of a piece. paths: of the pieces of the stream."""
    each = enumerate(program.folders)
    return [query for query, folders in each if folders.reads(stream, piece.path, paths)]


def readers(program: Program, query: int, stream: Stream) -> list[int]:
    """The stages of a query that read a stream."""
    known = program.stages(query)
    return [at for at in known if program.lowered[at].streams.get(stream.name) == stream]


def _step(reading: StepReading, program: Program) -> Iterator[Packed]:
    for query, step in StepSource(reading.steps).step(reading.step, reading.only).items():
        streams = program.chains[query].streams
        stream = streams[next(iter(streams)) if step.stream is None else step.stream]
        errors_: list[pl.DataFrame] = []
        for stage in program.stages(query):
            packer = Packer(program, stage)
            marks: Marks = {}
            if reading.step == 1:
                marks |= yield from _inline(packer, step.now)
            reads = stream.name in packer.lowered.streams
            if reads and step.rows is not None:
                watermark = _hint(reading.watermarks, packer, stream.name)
                decoded_rows = decoded(step.rows, step.first, stream, watermark)
                prepared = prepare_batch(
                    program.pipelines[stage],
                    stream.name,
                    decoded_rows.rows,
                    watermark,
                    now=step.now,
                )
                marks |= prepared.marks
                yield from packer.add_batch(0, prepared)
                errors_ += [decoded_rows.errors, prepared.errors]
            yield from packer.flush()
            rows = len(step.rows) if reads and step.rows is not None else 0
            raised = {stream.name: step.watermark} if reads and step.watermark is not None else {}
            yield from packer.mark(Mark(step.now, step.end, marks, raised, rows, rows > 0))
        yield from Packer(program, query).errors(0, once(errors_))


def _ticks(reading: Ticking, program: Program) -> Iterator[Packed]:
    for stage, lowered in enumerate(program.lowered):
        packer = Packer(program, stage)
        known = [each for each in program.given if each[0] in lowered.streams]
        for name, payload in known if reading.first else ():
            decoded_rows = decoded(decode(payload), 0, lowered.streams[name], None)
            prepared = prepare_batch(
                program.pipelines[stage], name, decoded_rows.rows, START, now=reading.now
            )
            yield from packer.add_batch(0, prepared)
            yield from packer.errors(0, decoded_rows.errors)
            yield from packer.errors(0, prepared.errors)
        marks: Marks = (yield from _inline(packer, reading.now)) if reading.first else {}
        yield from packer.flush()
        yield from packer.mark(Mark(reading.now, reading.end, marks))


def _inline(packer: Packer, now: int) -> Generator[Packed, None, Marks]:
    """The rows that the query has itself, of which there is no file; and how far they go."""
    marks: Marks = {}
    for name, stream in packer.lowered.streams.items():
        if stream.inline:
            from sqlwin.runtime.inline.rows import placed

            pipelines = packer.program.pipelines[packer.query]
            prepared = prepare_batch(pipelines, name, placed(stream), START, now=now)
            marks |= prepared.marks
            yield from packer.add_batch(0, prepared)
            yield from packer.errors(0, prepared.errors)
    return marks


def _hint(watermarks: Mapping[int, int], packer: Packer, stream: str) -> int:
    """A stream's watermark before the batch; a query that has none yet has seen nothing."""
    first = packer.lowered.readers(stream)[0]
    return watermarks.get(number_of(packer.query, first), START)
