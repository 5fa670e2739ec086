"""Records of a partition as rows of a stream: the value decoded, other parts as columns.

Every record has one row or one error, at its partition and offset. A value is as a line of a file,
so the decoders are those of files; a line end within a JSON value is white space, and a CSV value
is one record.

>>> from sqlwin.schema import Column
>>> columns = (Column("n", pa.int64()),)
>>> rows, bad = decoded([b'{"n": 1}', None, b'{"n":\\n 2}', b"3"], columns, "json", ",")
>>> rows.rows.rows(), rows.numbers.tolist(), bad
([(1,), (2,)], [0, 2], {1: 'the record has no value', 3: 'the line is no JSON object'})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.plan.options.connectors import DEBEZIUM
from sqlwin.plan.options.kafka_options import HEADER
from sqlwin.polars_frames import INSTANT, polars_type
from sqlwin.runtime.formats import csv_lines, debezium, json_lines
from sqlwin.runtime.formats.lines import BOM, NO_TEXT, Lines
from sqlwin.runtime.formats.records import records
from sqlwin.schema import Schema

NO_VALUE, EMPTY = "the record has no value", "the record is empty"
Found = tuple[Lines, dict[int, str]]


def decoded(values: Sequence[bytes | None], columns: Schema, format_: str, delimiter: str) -> Found:
    """Rows of the columns, numbered as their values, and why others are none.

    format_: `debezium` is JSON in which a value is an envelope.
    """
    bad: dict[int, str] = {}
    good: list[tuple[int, bytes]] = []
    for at, value in enumerate(values):
        if value is None:
            bad[at] = NO_VALUE
            continue
        try:
            good.append((at, _CLEANED[format_](value, delimiter)))
        except ValueError as why:
            bad[at] = str(why)
    numbers = np.array([at for at, _ in good], dtype=np.int64)
    lines = _DECODERS[format_]([value for _, value in good], columns, delimiter)
    assert lines.count == len(good), "a value is a line"
    bad |= {int(numbers[at]): why for at, why in lines.bad.items()}
    return replace(lines, numbers=numbers[lines.numbers], bad={}), dict(sorted(bad.items()))


def _json_line(value: bytes, _: str) -> bytes:
    value = value.removeprefix(BOM)
    if not value.strip():
        raise ValueError(EMPTY)
    if b"\n" not in value and b"\r" not in value:
        return value
    try:
        return msgspec.json.format(value, indent=-1)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ValueError("the record cannot be parsed") from None


def _csv_line(value: bytes, delimiter: str) -> bytes:
    value = value.removeprefix(BOM).removesuffix(b"\n").removesuffix(b"\r")
    if not value:
        raise ValueError(EMPTY)
    if b'"' in value or b"\n" in value:
        found = [record for record, _ in records(value, delimiter.encode(), 0)]
        why = next((record.why for record in found if record.why), "")
        if why or len(found) != 1:
            raise ValueError(why or f"the record has {len(found)} lines, not 1")
    return value


def _bytes(value: bytes, _: str) -> bytes:
    return value


_CLEANED: dict[str, Callable[[bytes, str], bytes]] = {
    "json": _json_line,
    DEBEZIUM: _json_line,
    "csv": _csv_line,
    "raw": _bytes,
}


def _json(values: Sequence[bytes], columns: Schema, _: str) -> Lines:
    return json_lines.decode(b"\n".join(values), columns).lines


def _envelopes(values: Sequence[bytes], columns: Schema, _: str) -> Lines:
    return debezium.decode(b"\n".join(values), columns).lines


def _csv(values: Sequence[bytes], columns: Schema, delimiter: str) -> Lines:
    names = [column.name for column in columns]
    data, header = csv_lines.headed(b"\n".join(values), names, delimiter)
    return csv_lines.decode(data, columns, header, delimiter).lines


def _raw(values: Sequence[bytes], columns: Schema, _: str) -> Lines:
    (column,) = columns
    texts, bad = _typed(values, column.type)
    keep = np.array([at for at in range(len(values)) if at not in bad], dtype=np.int64)
    frame = pl.DataFrame({column.name: texts}).filter(pl.Series(_mask(len(values), bad)))
    return Lines(frame, keep, dict.fromkeys(bad, f"the record is {NO_TEXT}"))


_DECODERS: dict[str, Callable[[Sequence[bytes], Schema, str], Lines]] = {
    "json": _json,
    DEBEZIUM: _envelopes,
    "csv": _csv,
    "raw": _raw,
}

# --- other parts of a record ---------------------------------------------------------


def parts(
    came: Sequence[Any], columns: Schema, of: Mapping[str, str]
) -> tuple[dict[str, pl.Series], dict[int, str]]:
    """Columns that are parts of the records, and why some cannot be."""
    found: dict[str, pl.Series] = {}
    bad: dict[int, str] = {}
    for column in columns:
        part = of[column.name]
        found[column.name], wrong = _typed([_part(each, part) for each in came], column.type)
        bad |= dict.fromkeys(wrong, f"{column.name}, its {part}, is {NO_TEXT}")
    return found, bad


def _part(record: Any, part: str) -> Any:
    if part == "timestamp":
        kind, millis = record.timestamp()
        return millis * 1000 if kind else None
    if part.startswith(HEADER):
        name = part.removeprefix(HEADER)
        return dict(record.headers() or ()).get(name)  # the last of equal names
    return getattr(record, part)()


def _typed(values: Sequence[Any], type_: pa.DataType) -> tuple[pl.Series, set[int]]:
    """A column of a type, with NULL at the values that are no text, though they should be."""
    dtype = polars_type(type_)
    if dtype == INSTANT:
        return pl.Series(values=values, dtype=pl.Int64).cast(INSTANT), set()
    if dtype != pl.String:
        return pl.Series(values=values, dtype=dtype), set()
    texts = [_text(value) for value in values]
    bad = {at for at, text in enumerate(texts) if text is None and values[at] is not None}
    return pl.Series(values=texts, dtype=pl.String), bad


def _text(value: Any) -> str | None:
    if not isinstance(value, bytes):
        return None if value is None else str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _mask(count: int, bad: set[int]) -> list[bool]:
    return [at not in bad for at in range(count)]
