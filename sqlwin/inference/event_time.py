"""The event time of a file, and how far its watermark stays behind.

The first column of instants is the event time, and the watermark stays as far behind as rows of
the sample come behind later ones. Without one `sqlwin infer` reads a text that is mostly a time in
another format by TO_TIMESTAMP, as a column of its own.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow as pa

from sqlwin.inference.inferred import Inferred, literal, quoted
from sqlwin.inference.sample import sample
from sqlwin.runtime.files.globbing import listing
from sqlwin.runtime.formats import csv_lines, json_lines
from sqlwin.schema import Column


def with_time(found: Inferred, base: Path = Path()) -> Inferred:
    """With the event time computed of a text, or of a number, where no column is an instant."""
    if found.time is not None:
        return found
    from sqlwin.runtime.formats.time_texts import format_of

    rows = _texts(found, base)
    for name in (name for name, type_ in found.columns.items() if type_ == "STRING"):
        given = format_of(rows[name]) if name in rows.columns else None
        if given is not None:
            text = f"TO_TIMESTAMP({quoted(name)}, {literal(given.pattern)})"
            odd = {column: each for column, each in found.odd.items() if column != name}
            behind = _behind(given.instants)
            return replace(found, time=_free(found), computed=text, behind=behind, odd=odd)
    return found


def _texts(found: Inferred, base: Path) -> pl.DataFrame:
    """Of the sample, as texts; none of Parquet, whose times are typed."""
    if found.format == "parquet":
        return pl.DataFrame()
    schema = tuple(Column(name, pa.string()) for name in found.columns)
    data = sample(listing(found.path, base))
    if found.format == "json":
        return json_lines.decode(data, schema).lines.rows
    header = csv_lines.header_of(data, found.delimiter)
    return csv_lines.decode(data, schema, header, found.delimiter).lines.rows


def _free(found: Inferred) -> str:
    taken = {name.lower() for name in found.columns}
    return next(
        name for name in ("event_time", "event_time_1", "event_time_2") if name not in taken
    )


def timed(found: Inferred, rows: pl.DataFrame) -> Inferred:
    time = next((name for name, type_ in found.columns.items() if type_ == "TIMESTAMP"), None)
    if time is None:
        return found
    return replace(found, time=time, behind=_behind(rows[time]))


def _behind(times: pl.Series) -> int:
    instants = times.drop_nulls().cast(pl.Datetime("us")).to_physical()
    behind = (instants.cum_max() - instants).max() if len(instants) else 0
    return int(behind or 0)  # type: ignore[arg-type]
