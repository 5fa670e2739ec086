"""The first rows of a source, in the order in which a run reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from sqlwin.errors import InputError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.connectors.sources import source_of
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.schema import PART, SEQ


def first_rows(stream: Stream, base: Path, rows: int) -> pl.DataFrame:
    """The well-formed ones, at most so many; malformed rows are passed over.

    InputError where there are none.
    """
    source, progress = source_of(stream), FileProgress()
    source.find(progress, base, ends=True)
    found: list[pl.DataFrame] = []
    for number in progress.left():
        piece = progress.piece(number)
        located = replace(piece, path=source.split(piece.path, base))
        found.append(source.read(located, number).rows.head(rows - sum(map(len, found))))
        if sum(map(len, found)) >= rows:
            break
    if not sum(map(len, found)):
        raise InputError(f"{stream.name} has no rows to draw: its source is empty")
    return pl.concat(found).drop(PART, SEQ)
