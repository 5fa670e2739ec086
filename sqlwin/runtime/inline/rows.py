"""The rows of VALUES and of a series, as their stream's options say them.

>>> from sqlwin.schema import Column
>>> import pyarrow as pa
>>> options = (("connector", "series"), ("start", "1"), ("step", "2"), ("stop", "5"))
>>> rows_of(Stream("series", (Column("n", pa.int64()),), None, options=options))["n"].to_list()
[1, 3, 5]
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.plan.ir.inline import ROWS, series_of
from sqlwin.plan.ir.streams import VALUES, Stream
from sqlwin.polars_frames import polars_type
from sqlwin.sandbox.running import run
from sqlwin.schema import PART, SEQ

AT_ONCE = 500
"""Values of VALUES that are computed together."""


def placed(stream: Stream) -> pl.DataFrame:
    """The rows with their positions."""
    rows = rows_of(stream)
    part = pl.Series(PART, np.zeros(len(rows), np.int32))
    return rows.hstack([part, pl.Series(SEQ, np.arange(len(rows), dtype=np.int64))])


def rows_of(stream: Stream) -> pl.DataFrame:
    options = dict(stream.options)
    if options["connector"] == VALUES:
        return _values(stream, json.loads(options[ROWS]))
    start, last, step = (int(options[name]) for name in ("start", "stop", "step"))
    known = series_of(start, last, step)
    (column,) = stream.columns
    values = pl.Series(column.name, np.arange(known.start, known.stop, known.step, dtype=np.int64))
    return pl.DataFrame([values.cast(polars_type(column.type))])


def _values(stream: Stream, texts: Sequence[Sequence[str]]) -> pl.DataFrame:
    flat = [text for row in texts for text in row]
    cells: list[pa.ChunkedArray] = []
    for at in range(0, len(flat), AT_ONCE):
        part = flat[at : at + AT_ONCE]
        listed = ", ".join(f"{text} AS c{number}" for number, text in enumerate(part))
        cells += run(pa.table({"__none": pa.nulls(1)}), f"SELECT {listed} FROM rows").columns
    width = len(stream.columns)
    columns = []
    for at, column in enumerate(stream.columns):
        own = cells[at::width]
        together = pa.chunked_array([chunk for each in own for chunk in each.chunks], own[0].type)
        made: pl.Series = pl.from_arrow(together)  # type: ignore[assignment]
        columns.append(made.alias(column.name).cast(polars_type(column.type)))
    return pl.DataFrame(columns)
