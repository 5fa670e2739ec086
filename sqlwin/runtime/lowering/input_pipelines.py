"""Rows of a stream through all input pipelines that read it, and batches of several streams.

Each pipeline gets the rows under the same positions. A row that two of them reject for the
same reason goes to the error stream once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import stacked
from sqlwin.runtime.inputs.row_counts import RowCounts, added
from sqlwin.runtime.inputs.watermarks import each_merged, merged
from sqlwin.runtime.lowering.input_pipeline import InputPipeline
from sqlwin.runtime.rows.error_stream import no_rejects, once


@dataclass(frozen=True)
class PreparedBatch:
    """rows: by number of the input. marks, read: by stream; see `PreparedRows`.
    errors: as `rejects`. counts: of rows, by number of the input."""

    rows: dict[int, list[pl.DataFrame]]
    marks: Mapping[str, Mapping[int, int]]
    read: Mapping[str, Mapping[int, int]]
    errors: pl.DataFrame
    counts: Mapping[int, RowCounts] = field(default_factory=dict)


def prepare_batch(
    pipelines: Sequence[InputPipeline],
    stream: str,
    raw: pl.DataFrame,
    watermark: int | None,
    lost: pl.DataFrame | None = None,
    *,
    now: int,
) -> PreparedBatch:
    """Rows of a stream, through the pipeline of each input that reads it."""
    readers = {
        at: pipeline
        for at, pipeline in enumerate(pipelines)
        if pipeline.input.stream.name == stream
    }
    prepared = {at: pipeline.process(raw, watermark, lost, now) for at, pipeline in readers.items()}
    marks: dict[int, int] = {}
    read: dict[int, int] = {}
    for each in prepared.values():
        marks, read = merged(marks, each.marks), merged(read, each.read)
    for pipeline in readers.values():
        if pipeline.input.stream.bounded:
            from sqlwin.runtime.inline.marks import last_marks  # by need

            marks = last_marks(pipeline.input.stream, marks)
    return PreparedBatch(
        {at: [each.rows] for at, each in prepared.items()},
        {stream: marks},
        {stream: read},
        once([each.errors for each in prepared.values()]),
        {at: each.counts for at, each in prepared.items()},
    )


def in_sequence(first: PreparedBatch, then: PreparedBatch) -> PreparedBatch:
    """Two batches of one stream as one."""
    return PreparedBatch(
        {at: first.rows.get(at, []) + then.rows.get(at, []) for at in {**first.rows, **then.rows}},
        each_merged(first.marks, then.marks),
        each_merged(first.read, then.read),
        stacked([first.errors, then.errors]),
        added(first.counts, then.counts),
    )


def of_streams(parts: Iterable[PreparedBatch]) -> PreparedBatch:
    """Batches of different streams as one."""
    combined, *others = list(parts) or [PreparedBatch({}, {}, {}, no_rejects())]
    for part in others:
        combined = PreparedBatch(
            {**combined.rows, **part.rows},
            {**combined.marks, **part.marks},
            {**combined.read, **part.read},
            stacked([combined.errors, part.errors]),
            added(combined.counts, part.counts),
        )
    return combined
