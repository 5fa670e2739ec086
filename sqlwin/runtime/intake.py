"""Rows from outside, made into the columns a stream declares.

What comes may be dicts, Arrow, pandas or Polars, a parsed file. A value that is
not of its column's type makes its row malformed: the row goes to the error
stream whole, with what was found and what would be legal, and all others are
taken. A column that is missing is NULL.

>>> import pyarrow as pa
>>> found = conform(pl.DataFrame({"n": ["1", "one", None]}), (Column("n", pa.int64()),))
>>> found.rows["n"].to_list(), [reason for _, reason in found.malformed]
([1, None, None], ["n is 'one', not a BIGINT"])
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa

from sqlwin.errors import InputError
from sqlwin.runtime.nested_values import fitted, of_text
from sqlwin.schema import INSTANT, TIMESTAMP, Column, Schema, polars_type, type_name

Rows = Any
"""A list of dicts, an Arrow table or batch, a pandas or a Polars frame."""


@dataclass(frozen=True)
class Conformed:
    """rows: of the declared columns, good and malformed. malformed: (row number, reason)."""

    rows: pl.DataFrame
    malformed: list[tuple[int, str]]


def frame_of(rows: Rows, columns: Schema) -> pl.DataFrame:
    """Any accepted form of rows as a frame, types as they come; InputError for others."""
    if isinstance(rows, pl.DataFrame):
        return rows
    if isinstance(rows, pa.RecordBatch):
        rows = pa.Table.from_batches([rows])
    if isinstance(rows, pa.Table):
        return pl.from_arrow(rows)  # type: ignore[return-value]
    if isinstance(rows, Sequence) and not isinstance(rows, str | bytes):
        return _from_dicts(rows, columns)
    if type(rows).__module__.split(".")[0] == "pandas":
        return pl.from_pandas(rows)
    raise InputError(
        f"rows come as a list of dicts, an Arrow table, a pandas or a Polars frame, "
        f"not as {type(rows).__name__}"
    )


def conform(frame: pl.DataFrame, columns: Schema) -> Conformed:
    """The declared columns of `frame`, cast to their types; others are left out."""
    out: dict[str, pl.Series] = {}
    malformed: dict[int, str] = {}
    for column in columns:
        if column.name not in frame.columns:
            out[column.name] = pl.Series([None] * len(frame), dtype=polars_type(column.type))
            continue
        given = frame[column.name]
        out[column.name] = _cast(given, column)
        if out[column.name].null_count() == given.null_count():  # a NULL stays one
            continue
        lost = (out[column.name].is_null() & given.is_not_null()).arg_true()
        for at in lost.to_list():
            malformed.setdefault(
                at, f"{column.name} is {given[at]!r}, not a {type_name(column.type)}"
            )
    return Conformed(pl.DataFrame(out), sorted(malformed.items()))


def unknown_columns(frame: pl.DataFrame, columns: Schema, stream: str) -> None:
    """InputError where `frame` has a column the stream does not declare."""
    declared = [column.name for column in columns]
    unknown = [name for name in frame.columns if name not in declared]
    if unknown:
        raise InputError(
            f"{stream} has no column {', '.join(unknown)}; it has {', '.join(declared)}"
        )


def _cast(given: pl.Series, column: Column) -> pl.Series:
    dtype = polars_type(column.type)
    if given.dtype == dtype:
        return given
    if isinstance(dtype, pl.Datetime):
        return _instants(given)
    if dtype.is_nested():
        known = given.to_list()
        values = [of_text(text) for text in known] if given.dtype == pl.String else known
        return fitted(values, column.type)
    if given.dtype == pl.String:
        return _from_text(given, dtype)
    if dtype.is_integer() and given.dtype.is_float():
        whole = (
            given.to_frame("x").select(pl.when(pl.col("x") % 1 == 0).then(pl.col("x"))).to_series()
        )
        return whole.cast(dtype, strict=False)
    if dtype == pl.Boolean and given.dtype != pl.Boolean:
        return pl.Series(values=[None] * len(given), dtype=dtype)
    return given.cast(dtype, strict=False)


def _from_text(given: pl.Series, dtype: pl.DataType) -> pl.Series:
    if dtype == pl.Boolean:
        words = {"true": True, "false": False}
        return given.str.to_lowercase().replace_strict(words, default=None, return_dtype=pl.Boolean)
    if dtype == pl.Date:
        return given.str.to_date("%Y-%m-%d", strict=False)
    if dtype == pl.Binary:
        return given.cast(pl.Binary)
    return given.str.strip_chars().cast(dtype, strict=False)


def _instants(given: pl.Series) -> pl.Series:
    """Instants of ISO 8601 texts (UTC where they name no zone), datetimes or dates."""
    if given.dtype == pl.String:
        known = _plain_instants(given)
        return _any_instants(given) if known is None else known
    if isinstance(given.dtype, pl.Datetime):
        aware = given.dt.replace_time_zone("UTC") if given.dtype.time_zone is None else given
        return aware.dt.convert_time_zone("UTC").cast(INSTANT)
    if given.dtype == pl.Date:
        return given.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    return pl.Series(values=[None] * len(given), dtype=INSTANT)


def _plain_instants(texts: pl.Series) -> pl.Series | None:
    """All texts at once, ten times as fast; None where they are not all of one form.

    Arrow would take a mere date or hour too. Short texts go the other way, so that
    what is taken does not depend on the rows beside it.
    """
    shortest = texts.str.len_bytes().min()
    if not isinstance(shortest, int) or shortest < len("2024-01-01T09:00:00"):
        return None
    array = texts.to_arrow().cast(pa.string())
    for type_ in (TIMESTAMP, pa.timestamp("us")):  # with a zone, or without one
        try:
            return pl.Series(array.cast(type_).cast(pa.int64())).cast(INSTANT)
        except pa.ArrowInvalid:
            continue
    return None


def _any_instants(texts: pl.Series) -> pl.Series:
    """Text by text; NULL where one is no instant."""
    trimmed = pl.col("t").str.strip_chars()
    zoned = trimmed.str.contains(r"(?i)(Z|[+-]\d\d:?\d\d)$")
    whole = pl.when(zoned).then(trimmed).otherwise(trimmed + "Z")
    text = texts.to_frame("t").select(whole.str.replace(r"^(\d{4}-\d\d-\d\d) ", "${1}T"))
    return text.to_series().str.to_datetime(
        "%Y-%m-%dT%H:%M:%S%.f%#z", time_unit="us", time_zone="UTC", strict=False
    )


def _from_dicts(rows: Sequence[Any], columns: Schema) -> pl.DataFrame:
    """Dicts as columns, each of its declared type where all values fit, else of text."""
    for at, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"row {at} is not a dict but {type(row).__name__}")
    names = dict.fromkeys(name for row in rows for name in row)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"a column's name is a str, not {name!r}")
    types = {column.name: column.type for column in columns}
    data = {name: _column([row.get(name) for row in rows], types.get(name)) for name in names}
    if not data:
        return pl.DataFrame({c.name: _column([None] * len(rows), c.type) for c in columns})
    return pl.DataFrame(data)


def _column(values: list[Any], type_: pa.DataType | None) -> pl.Series:
    if type_ is not None and pa.types.is_nested(type_):
        made = fitted(values, type_)
        return made if made.null_count() == values.count(None) else _texts(values)
    if type_ is not None and pa.types.is_integer(type_):
        values = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
    if type_ is not None and not pa.types.is_timestamp(type_) and all(map(_plain(type_), values)):
        try:
            return pl.Series(values=values, dtype=polars_type(type_), strict=True)
        except (pl.exceptions.PolarsError, TypeError, OverflowError, UnicodeEncodeError):
            pass
    return _texts(values)


def _texts(values: list[Any]) -> pl.Series:
    return pl.Series(values=[None if v is None else _text(v) for v in values], dtype=pl.String)


def _plain(type_: pa.DataType) -> Any:
    """Whether Python's own value may stand for the type; a bool is no number."""
    numeric = pa.types.is_integer(type_) or pa.types.is_floating(type_)
    if numeric:
        return lambda v: v is None or (isinstance(v, int | float) and not isinstance(v, bool))
    if pa.types.is_decimal(type_):
        return lambda v: v is None or (isinstance(v, Decimal) and v.is_finite())
    return lambda v: v is None or not isinstance(v, Decimal | float | int) or isinstance(v, bool)


def _text(value: Any) -> str:
    if isinstance(value, str):
        # half of a surrogate pair, which JSON can spell, is no text
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
        return aware.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping | list | tuple | bool):
        return json.dumps(value, default=str)
    return str(value)
