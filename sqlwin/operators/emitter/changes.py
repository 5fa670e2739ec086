"""What an emission carries beside its values, and the key by which it is known.

Every emission of a result has its row key, so `+U`, `-D` and later revisions find it: a JSON array
of the group keys and the window, or of a row's place in its stream.

>>> rows = pl.DataFrame({"k": ["a\\"b", None]})
>>> rows.select(row_key(dict(rows.schema))).to_series().to_list()
['["a\\\\"b"]', '[null]']
"""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import Any

import polars as pl

from sqlwin.instants import format_datetime
from sqlwin.polars_frames import iso
from sqlwin.schema import EMIT, OP, PART, REVISION, ROW_KEY, SEQ

CHANGE_SCHEMA = {OP: pl.String, EMIT: pl.String, REVISION: pl.Int32, ROW_KEY: pl.String}


def row_key(columns: dict[str, pl.DataType]) -> pl.Expr:
    """A JSON array of the columns' values; equal texts iff equal values.

    Instants are ISO 8601 with a trailing Z, decimals and dates are strings.
    """
    parts = [_json(name, dtype).fill_null("null") for name, dtype in columns.items()]
    joined = pl.concat_str(parts, separator=",") if parts else pl.lit("")
    return pl.concat_str([pl.lit("["), joined, pl.lit("]")]).alias(ROW_KEY)


def row_key_at(stream: str, edges: dict[str, pl.DataType] | None = None) -> pl.Expr:
    """The `row_key` of a row: stream, partition, position; `edges`: of its window."""
    source = json.dumps([stream], ensure_ascii=False)[:-1]
    rest = row_key({PART: pl.Int32(), SEQ: pl.Int64(), **(edges or {})}).str.slice(1)
    return pl.concat_str([pl.lit(source + ","), rest]).alias(ROW_KEY)


def _json(name: str, dtype: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if isinstance(dtype, pl.Datetime):
        text = iso(column, zoned=dtype.time_zone is not None)
        return pl.concat_str([pl.lit('"'), text, pl.lit('"')])
    if dtype == pl.String:
        # {"v":"…"} without its first five characters and its last
        return pl.struct(column.alias("v")).struct.json_encode().str.slice(5).str.head(-1)
    if dtype.is_float():
        # -0.0 and 0.0 are one key; NaN and infinities are no JSON numbers
        text = pl.when(column == 0).then(0.0).otherwise(column).cast(pl.String)
        quoted = pl.concat_str([pl.lit('"'), text, pl.lit('"')])
        return pl.when(column.is_finite()).then(text).otherwise(quoted)
    if dtype.is_integer() or dtype == pl.Boolean:
        return column.cast(pl.String)
    if dtype == pl.Binary:
        return pl.concat_str([pl.lit('"'), column.bin.encode("hex"), pl.lit('"')])
    if dtype.is_nested():
        return column.map_batches(_nested_texts, return_dtype=pl.String)
    return pl.concat_str([pl.lit('"'), column.cast(pl.String), pl.lit('"')])


def _nested_texts(values: pl.Series) -> pl.Series:
    texts = [
        None
        if value is None
        else json.dumps(_nested(value), ensure_ascii=False, separators=(",", ":"))
        for value in values.to_list()
    ]
    return pl.Series(values.name, texts, dtype=pl.String)


def _nested(value: Any) -> Any:
    """As `_json` has it, in lists and structs; a map is a list of its entries."""
    if isinstance(value, list | tuple):
        return [_nested(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _nested(each) for name, each in value.items()}
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else "NaN" if math.isnan(value) else str(value)
    if isinstance(value, datetime):
        return format_datetime(value)
    if isinstance(value, bytes):
        return value.hex()
    return value if value is None or isinstance(value, int | str) else str(value)
