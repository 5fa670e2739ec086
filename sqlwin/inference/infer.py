"""The columns of a file, and their types.

A column has the first type that every value of the sample has, read as the source would read it;
else it is text. Of JSON a text stays text, unless all of its kind are instants or dates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow as pa

from sqlwin.errors import InputError
from sqlwin.inference.event_time import timed
from sqlwin.inference.inferred import Inferred
from sqlwin.inference.sample import SAMPLE_ROWS, sample
from sqlwin.runtime.files.globbing import listing
from sqlwin.runtime.formats import csv_lines, json_lines
from sqlwin.runtime.formats.content import FAILURES
from sqlwin.runtime.formats.lines import Lines
from sqlwin.schema import Column, Schema, type_name, type_names

FORMATS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}
"""By suffix; any other file has JSON lines, or CSV where its first line is no object."""
ODD = 0.25
"""Of the values of a column, that may be of another type than the others."""
DELIMITERS = (",", "\t", ";", "|")
NUMBERS = ("BIGINT", "DOUBLE", "BOOLEAN")
TIMES = ("DATE", "TIMESTAMP")
TYPES: Mapping[str, pa.DataType] = {
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "STRING": pa.string(),
}


def infer(path: str, base: Path = Path()) -> Inferred:
    """Of a file; of a folder or a pattern some of its files, from the first to the last.
    InputError where there is none, or it has no columns. base: what a path is relative to."""
    files = listing(path, base)
    if not files:
        under = "" if base == Path() or Path(path).is_absolute() else f"; it is relative to {base}"
        raise InputError(f"no file matches {path}{under}")
    first = files[0]
    format_ = FORMATS.get(Path(first).suffix.lower())
    try:
        if format_ == "parquet":
            return _parquet(path, first)
        data = sample(files)
    except (*FAILURES, pl.exceptions.PolarsError) as error:
        raise InputError(f"cannot read {first}: {error}") from None
    found = _csv(path, data) if format_ or not data.lstrip().startswith(b"{") else _json(path, data)
    if not found.columns:
        raise InputError(f"{first} has no columns: it is empty")
    return found


def _parquet(path: str, file: str) -> Inferred:
    frame = pl.scan_parquet(file).head(SAMPLE_ROWS).collect()
    columns = {field.name: _arrow_type(field.type) for field in frame.to_arrow().schema}
    return timed(Inferred(path, "parquet", columns), frame)


def _arrow_type(type_: pa.DataType) -> str:
    """What the source reads it as: integers of any width fit into the next of ours."""
    if pa.types.is_timestamp(type_):
        return "TIMESTAMP"
    if pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return "STRING"
    if pa.types.is_unsigned_integer(type_):
        return "DECIMAL(20, 0)" if type_.bit_width == 64 else "BIGINT"
    name = type_name(type_)
    return name if name.partition("(")[0] in (*type_names(), "DECIMAL") else "STRING"


def _csv(path: str, data: bytes) -> Inferred:
    widths = {cut: len(csv_lines.header_of(data, cut).names) for cut in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda cut: widths[cut])
    header = csv_lines.header_of(data, delimiter)

    def decode(columns: Schema) -> Lines:
        return csv_lines.decode(data, columns, header, delimiter).lines

    texts = dict.fromkeys(header.names, (*NUMBERS, *TIMES))
    return _typed(Inferred(path, "csv", {}, delimiter=delimiter), texts, decode)


def _json(path: str, data: bytes) -> Inferred:
    def decode(columns: Schema) -> Lines:
        return json_lines.decode(data, columns).lines

    return _typed(Inferred(path, "json", {}), dict(_json_names(data)), decode)


def _json_names(data: bytes) -> Iterator[tuple[str, Sequence[str]]]:
    """Names in the order in which lines bring them, with the types that they may have."""
    kinds: dict[str, set[type]] = {}
    for line in data.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        for name, value in row.items() if isinstance(row, dict) else ():
            kinds.setdefault(name, set()).update([] if value is None else [type(value)])
    for name, found in kinds.items():
        yield name, TIMES if found == {str} else NUMBERS if found and str not in found else ()


def _typed(
    empty: Inferred, names: Mapping[str, Sequence[str]], decode: Callable[[Schema], Lines]
) -> Inferred:
    """names: with the types that are tried, in their order."""
    whole = decode(tuple(Column(name, TYPES["STRING"]) for name in names))
    columns: dict[str, str] = {}
    for name, tried in names.items():
        there = whole.rows[name].drop_nulls().len() > 0
        fits = (
            type_
            for type_ in tried
            if there and _fits(decode((Column(name, TYPES[type_]),)), name, whole)
        )
        columns[name] = next(fits, "STRING")
    odd = {
        name: mostly
        for name, type_ in columns.items()
        if type_ == "STRING" and (mostly := _mostly(decode, name, names[name], whole))
    }
    found = replace(empty, columns=columns, odd=odd)
    return timed(found, decode(tuple(Column(n, TYPES[t]) for n, t in columns.items())).rows)


def _mostly(
    decode: Callable[[Schema], Lines], name: str, tried: Sequence[str], whole: Lines
) -> tuple[str, int] | None:
    """The type of all values but a few, and how many those are."""
    there = whole.rows[name].drop_nulls().len()
    for type_ in tried:
        read = decode((Column(name, TYPES[type_]),))
        broken = len(read.bad.keys() - whole.bad.keys())
        if 0 < broken <= there * ODD:
            return type_, broken
    return None


def _fits(read: Lines, name: str, whole: Lines) -> bool:
    """Whether no value is malformed as this type, and none that is there becomes NULL."""
    broken = read.bad.keys() - whole.bad.keys()
    return not broken and read.rows[name].null_count() == whole.rows[name].null_count()
