"""Results of a stage, as rows for the buckets of the stages above it.

Rows are sent whole, and the input pipeline of the stage above runs twice: here over the keys,
to find each row's bucket, and there, where the watermark is known, over all columns.
Every bucket gets the watermark of the results, with rows or without.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from sqlwin.plan.ir.nodes import column_of
from sqlwin.runtime.lowering.input_pipeline import InputPipeline, PreparedRows
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.schema import PART, Column
from sqlwin.spark.stages.buckets import cut
from sqlwin.spark.stages.program import Program
from sqlwin.spark.stages.row_kinds import MARK, RAW, of_input
from sqlwin.spark.stages.wire import Mark, Packed, encode

PAYLOADS = 32
"""Bits of a position that count the payloads of one bucket; the others say which it is."""


def to_stages_above(
    program: Program, stage: int, label: int, results: pl.DataFrame, reached: int, clock: Mark
) -> Iterator[Packed]:
    """label: of the bucket. reached: the watermark of its results. clock: of the batch."""
    for reader in program.downstream[stage]:
        name = reader.stream.name
        rows = reader.rows(results)
        for number in program.lowered[reader.to].readers(name):
            known = keys(program.lowered[reader.to], number, rows, clock.now).rows
            yield from addressed(program, reader.to, number, rows, known, label << PAYLOADS)
        marks = {name: {reader.part: reached}} if reader.marked else {}
        mark = replace(clock, marks=marks, has_rows=not rows.is_empty()).dump()
        for label in program.labels[reader.to]:
            yield Packed(reader.to, label, MARK, 0, mark)


def addressed(
    program: Program, stage: int, number: int, rows: pl.DataFrame, keyed: pl.DataFrame, at: int = 0
) -> Iterator[Packed]:
    """Whole rows of an input to the buckets of their `keys`, from position `at` on."""
    labels = program.labels[stage]
    for bucket, found in cut(keyed, program.cut_by(stage, number), len(labels)):
        for payload in encode(rows[found[PART].to_numpy()]):
            yield Packed(stage, labels[bucket], of_input(RAW, number), at, payload)
            at += 1


def keys(query: Lowered, number: int, rows: pl.DataFrame, now: int = 0) -> PreparedRows:
    """The keys of the rows that WHERE lets pass; `__part` is the row's number here."""
    read = query.inputs[number]
    one = read.stream.schema[0]
    types = dict(read.columns)
    wanted = tuple((key, types[key]) for key in read.keys)
    nothing = ((one.name, column_of(Column(one.name, one.type))),)
    bare = replace(read, columns=wanted or nothing, retention=None, admission=None, carried=())
    numbered = rows.with_columns(pl.int_range(pl.len(), dtype=pl.Int32).alias(PART))
    return InputPipeline(replace(query, inputs=(bare,), operator=None)).process(
        numbered, None, now=now
    )
