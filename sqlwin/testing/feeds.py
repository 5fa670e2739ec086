"""The rows of a feed: cells of the golden as text, or those of a file as its format has them."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter
from typing import Any

import polars as pl

from sqlwin.errors import InputError, RunError
from sqlwin.functions.core.types import STRING
from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.files.source import read
from sqlwin.runtime.rows.conform import Rows
from sqlwin.schema import PART, SEQ, Column
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
    """What is pushed. InputError for a file that cannot be read."""
    if step.file is not None:
        return _of_file(step, stream)
    columns = step.rows.columns
    return [dict(zip(columns, map(text_of, row), strict=True)) for row in step.rows.rows]


def whole(path: str, stream: Stream, shown: str) -> Rows:
    """The rows of a file in their order; of the malformed ones the texts.

    InputError where a row cannot be taken apart, as a line that is no JSON.
    """
    typed = read(path, 0, stream, shown=shown)
    if not len(typed.errors):
        return typed.rows.drop(PART, SEQ)
    texts = tuple(Column(column.name, STRING) for column in stream.columns)
    asked = read(path, 0, replace(stream, columns=texts), shown=shown)
    good = set(typed.rows[SEQ])
    bad = asked.rows.filter(~pl.col(SEQ).is_in(good))
    if len(good) + len(bad) != len(typed.rows) + len(typed.errors):
        first = asked.errors.row(0, named=True)
        raise InputError(f"a row of {shown} is none: {first['reason']}: {first['row']}")
    every = [*typed.rows.iter_rows(named=True), *map(_text, bad.iter_rows(named=True))]
    every.sort(key=itemgetter(SEQ))
    return [{name: row[name] for name in row if name not in (PART, SEQ)} for row in every]


def _text(row: dict[str, Any]) -> dict[str, Any]:
    """A field of CSV that has nothing is NULL, whatever its column."""
    return {name: None if value == "" else value for name, value in row.items()}


def _of_file(step: Step, stream: Stream) -> Rows:
    path = step.file
    assert path is not None
    format_ = FORMATS.get(path.suffix.lower())
    if format_ is None:
        raise InputError(f"of {path.name} the suffix is none of {', '.join(FORMATS)}")
    options = {"format": format_}
    kept = {name: value for name, value in stream.options if name in ("delimiter", "header")}
    local = replace(stream, options=tuple({**options, **kept}.items()))
    try:
        return whole(str(path), local, path.name)
    except RunError as error:
        raise InputError(str(error)) from None
