"""The rows of a feed: cells of the golden as text, or those of a file as its format has them."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from sqlwin.errors import InputError, RunError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.files.source import read
from sqlwin.runtime.rows.conform import Rows
from sqlwin.schema import PART, SEQ
from sqlwin.testing.cells import text_of
from sqlwin.testing.golden import Step

FORMATS = {
    ".csv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
}


def rows(step: Step, stream: Stream) -> Rows:
    """What is pushed. InputError for a file that cannot be read, or has a malformed row."""
    if step.file is not None:
        return _of_file(step, stream)
    columns = step.rows.columns
    return [dict(zip(columns, map(text_of, row), strict=True)) for row in step.rows.rows]


def _of_file(step: Step, stream: Stream) -> pl.DataFrame:
    path = step.file
    assert path is not None
    format_ = FORMATS.get(path.suffix.lower())
    if format_ is None:
        raise InputError(f"of {path.name} the suffix is none of {', '.join(FORMATS)}")
    options = {"format": format_}
    kept = {name: value for name, value in stream.options if name in ("delimiter", "header")}
    local = replace(stream, options=tuple({**options, **kept}.items()))
    try:
        decoded = read(str(path), 0, local, shown=path.name)
    except RunError as error:
        raise InputError(str(error)) from None
    if len(decoded.errors):
        first = decoded.errors.row(0, named=True)
        raise InputError(
            f"{len(decoded.errors)} malformed rows in {path.name}, the first: "
            f"{first['reason']}: {first['row']}; a test of malformed rows has them in the golden"
        )
    return decoded.rows.drop(PART, SEQ)
