"""The first rows of a source, in the order in which a run reads them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sqlwin.errors import InputError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.connectors.pieces import every_piece
from sqlwin.runtime.connectors.sources import source_of
from sqlwin.schema import PART, SEQ


def first_rows(stream: Stream, base: Path, rows: int) -> pl.DataFrame:
    """The well-formed ones, at most so many; malformed rows are passed over.

    InputError where there are none.
    """
    source, found = source_of(stream), list[pl.DataFrame]()
    for piece, number in every_piece(source, base):
        found.append(source.read(piece, number).rows.head(rows - sum(map(len, found))))
        if sum(map(len, found)) >= rows:
            break
    if not sum(map(len, found)):
        raise InputError(f"{stream.name} has no rows to draw: its source is empty")
    return pl.concat(found).drop(PART, SEQ)
