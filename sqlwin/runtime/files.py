"""Files as sources: their rows, in order, with the ones that could not be read.

A file is read fast, as columns; only where that fails is it read line by line,
so that one broken line costs itself. A row's position is (file number, row
number in the file), packed into `__seq`, and so survives any cut into batches.

    __seq = file number * 2**32 + row number
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.errors import RunError
from sqlwin.plan.nodes import Stream
from sqlwin.runtime.intake import conform, frame_of
from sqlwin.runtime.rejects import no_rejects, rejects
from sqlwin.schema import PART, SEQ, Schema, polars_type

FORMATS = ("json", "csv", "parquet")
ROWS_IN_A_FILE = 2**32
BROKEN = "__broken"


@dataclass(frozen=True)
class Decoded:
    """rows: declared columns, `__part`, `__seq`. errors: malformed rows, as `rejects`.

    warnings: what is legal, and probably not what was meant.
    """

    rows: pl.DataFrame
    errors: pl.DataFrame
    warnings: tuple[str, ...] = ()


def listing(path: str, base: Path) -> list[str]:
    """The files of a path, directory or glob, sorted by name; relative ones are under `base`."""
    whole = Path(path) if Path(path).is_absolute() else (base / path).absolute()
    found = whole.rglob("*") if whole.is_dir() else _matching(whole)
    return sorted(
        str(file) for file in found if file.is_file() and not file.name.startswith((".", "_"))
    )


def _matching(pattern: Path) -> Iterable[Path]:
    """A plain file, or what a glob finds; `**` goes down into folders."""
    anchor = Path(pattern.anchor)
    return anchor.glob(str(pattern.relative_to(anchor)))


def read(path: str, number: int, stream: Stream, watermark: int | None = None) -> Decoded:
    """One whole file, the `number`-th of its stream."""
    options = dict(stream.options)
    format_ = options.get("format", "json")
    try:
        frame = _READERS[format_](path, stream.columns, options)
    except (OSError, csv.Error, pl.exceptions.PolarsError) as error:
        raise RunError(f"cannot read {path} of stream {stream.name}: {error}") from error
    return decoded(frame, number * ROWS_IN_A_FILE, stream, watermark)


def decoded(frame: pl.DataFrame, first: int, stream: Stream, watermark: int | None) -> Decoded:
    """Rows of any types at positions from `first` on, made into the stream's columns."""
    found = conform(frame, stream.columns)
    bad = {**dict(_broken(frame)), **dict(found.malformed)}
    placed = _placed(found.rows, first)
    if not bad:
        return Decoded(placed, no_rejects())
    raw = _placed(frame.drop(BROKEN, strict=False), first)[list(bad)]
    errors = rejects(stream.name, raw, [f"malformed: {why}" for why in bad.values()], watermark)
    errors = _as_they_came(errors, frame, list(bad))
    good = placed.with_row_index("__at").filter(~pl.col("__at").is_in(list(bad))).drop("__at")
    return Decoded(good, errors)


def _placed(frame: pl.DataFrame, first: int) -> pl.DataFrame:
    seq = pl.Series(SEQ, np.arange(first, first + len(frame), dtype=np.int64))
    return frame.with_columns(pl.lit(0, pl.Int32).alias(PART), seq)


def _broken(frame: pl.DataFrame) -> Iterable[tuple[int, str]]:
    """Lines that could not be parsed at all."""
    if BROKEN not in frame.columns:
        return []
    at = frame[BROKEN].is_not_null().arg_true().to_list()
    return [(i, "the line cannot be parsed") for i in at]


def _as_they_came(errors: pl.DataFrame, frame: pl.DataFrame, at: list[int]) -> pl.DataFrame:
    if BROKEN not in frame.columns:
        return errors
    came = frame[BROKEN][at]
    return errors.with_columns(pl.coalesce(pl.Series(came), pl.col("row")).alias("row"))


def _json(path: str, columns: Schema, options: dict[str, str]) -> pl.DataFrame:
    schema = {column.name: _json_type(column.type) for column in columns}
    try:
        return pl.read_ndjson(path, schema=schema)
    except pl.exceptions.PolarsError:
        return _json_lines(path, columns)


def _json_type(type_: pa.DataType) -> pl.DataType:
    """What a JSON value of the type is read as; texts are cast, and checked, afterwards."""
    native = pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_boolean(type_)
    return polars_type(type_) if native else pl.String()


def _json_lines(path: str, columns: Schema) -> pl.DataFrame:
    records: list[dict[str, Any]] = []
    broken: list[str | None] = []
    declared = [column.name for column in columns]
    with Path(path).open(encoding="utf-8", errors="replace") as lines:
        for line in filter(str.strip, lines):
            record = _parsed(line)
            records.append({name: (record or {}).get(name) for name in declared})
            broken.append(line.rstrip("\n") if record is None else None)
    frame = frame_of(records, columns)
    return frame.with_columns(pl.Series(BROKEN, broken, dtype=pl.String))


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _csv(path: str, columns: Schema, options: dict[str, str]) -> pl.DataFrame:
    header = options.get("header", "true").lower() == "true"
    names = [column.name for column in columns]
    fast = {column.name: _json_type(column.type) for column in columns}
    settings: dict[str, Any] = {
        "has_header": header,
        "separator": options.get("delimiter", ","),
        "new_columns": None if header else names,
    }
    try:
        return pl.read_csv(path, schema_overrides=fast, **settings)
    except pl.exceptions.NoDataError:
        return pl.DataFrame(schema=fast)
    except pl.exceptions.PolarsError:
        return _csv_lines(path, names, header, settings["separator"])


def _csv_lines(path: str, names: list[str], header: bool, separator: str) -> pl.DataFrame:
    with Path(path).open(encoding="utf-8", errors="replace", newline="") as lines:
        rows = list(csv.reader(lines, delimiter=separator))
    if header:
        names, rows = rows[0], rows[1:]
    broken = [None if len(row) <= len(names) else _joined(row, separator) for row in rows]
    padded = [[*row, *[""] * len(names)][: len(names)] for row in rows]
    data = {name: [row[at] or None for row in padded] for at, name in enumerate(names)}
    frame = pl.DataFrame(data, schema=dict.fromkeys(names, pl.String))
    return frame.with_columns(pl.Series(BROKEN, broken, dtype=pl.String))


def _joined(row: list[str], separator: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="").writerow(row)
    return out.getvalue()


def _parquet(path: str, columns: Schema, options: dict[str, str]) -> pl.DataFrame:
    frame = pl.read_parquet(path)
    return frame.select(c.name for c in columns if c.name in frame.columns)


_READERS = {"json": _json, "csv": _csv, "parquet": _parquet}
