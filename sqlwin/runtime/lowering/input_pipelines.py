"""What the fronts of a query make of rows of one stream, and of several of them.

Each input that reads the stream takes the rows, under the same positions. What two
of them refuse for the same reason is told once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sqlwin.runtime.inputs.watermarks import each_merged, merged
from sqlwin.runtime.lowering.input_pipeline import Front
from sqlwin.runtime.rows.rejects import no_rejects, once


@dataclass(frozen=True)
class Brought:
    """rows: by number of the input. marks, read: by stream; see `Taken`. errors: as `rejects`."""

    rows: dict[int, list[pl.DataFrame]]
    marks: Mapping[str, Mapping[int, int]]
    read: Mapping[str, Mapping[int, int]]
    errors: pl.DataFrame


def brought(
    fronts: Sequence[Front],
    stream: str,
    raw: pl.DataFrame,
    watermark: int | None,
    lost: pl.DataFrame | None = None,
    *,
    now: int,
) -> Brought:
    """Rows of a stream, through the front of each input that reads it; see `Front.take`."""
    readers = {at: front for at, front in enumerate(fronts) if front.input.stream.name == stream}
    taken = {at: front.take(raw, watermark, lost, now) for at, front in readers.items()}
    marks: dict[int, int] = {}
    read: dict[int, int] = {}
    for each in taken.values():
        marks, read = merged(marks, each.marks), merged(read, each.read)
    return Brought(
        {at: [each.rows] for at, each in taken.items()},
        {stream: marks},
        {stream: read},
        once([each.errors for each in taken.values()]),
    )


def in_turn(first: Brought, then: Brought) -> Brought:
    """Two batches of one stream as one."""
    return Brought(
        {at: first.rows.get(at, []) + then.rows.get(at, []) for at in {**first.rows, **then.rows}},
        each_merged(first.marks, then.marks),
        each_merged(first.read, then.read),
        pl.concat([first.errors, then.errors]),
    )


def together(parts: Iterable[Brought]) -> Brought:
    """Batches of different streams as one."""
    whole = Brought({}, {}, {}, no_rejects())
    for part in parts:
        whole = Brought(
            {**whole.rows, **part.rows},
            {**whole.marks, **part.marks},
            {**whole.read, **part.read},
            pl.concat([whole.errors, part.errors]),
        )
    return whole
