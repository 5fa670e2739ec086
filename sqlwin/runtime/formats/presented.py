"""Values as people see them: as text where no column of a file or a cell could hold them."""

from __future__ import annotations

import base64

import polars as pl
import pyarrow as pa

from sqlwin.runtime.formats.python_values import json_text, shown
from sqlwin.runtime.formats.texts import only
from sqlwin.schema import Schema

FARTHEST = {"ns": 2**63 - 1, "us": 4 * 10**18, "ms": 4 * 10**15}
"""From 1970, by unit: about the year 128,000, before what `sqlwin.instants.END` stands for."""


def in_the_calendar(given: pl.Series) -> pl.Series:
    """NULL for instants that no calendar has, which Polars fails to compute with."""
    dtype = given.dtype
    assert isinstance(dtype, pl.Datetime)
    reach = FARTHEST[dtype.time_unit]
    physical = given.cast(pl.Int64)  # no query, as `to_physical` is one
    least, greatest = physical.min(), physical.max()
    if least is None or (least >= -reach and greatest <= reach):  # type: ignore[operator]
        return given
    return only(given, physical.is_between(-reach, reach))


def with_years(values: pl.Series) -> pl.Series:
    """Instants that Python has not, within lists, as numbers."""
    try:
        values.to_list()
    except (ValueError, OverflowError):
        return values.to_physical()
    return values


def text_of(line: bytes) -> str:
    """A line as the error stream keeps it: as it came, or in base64 where it is no text.

    >>> text_of(b"tea"), text_of(b"caf\\xe9")
    ('tea', 'Y2Fm6Q==')
    """
    try:
        return line.decode()
    except UnicodeDecodeError:
        return base64.b64encode(line).decode()


def presentable(rows: pl.DataFrame, columns: Schema) -> pl.DataFrame:
    """Rows as the error stream keeps them: bytes that stand for text as text, or in base64."""
    types = {column.name: column.type for column in columns}
    return rows.select(_presentable(rows[name], types.get(name)) for name in rows.columns)


def _presentable(values: pl.Series, type_: pa.DataType | None) -> pl.Series:
    if values.dtype == pl.Binary and (type_ is None or not pa.types.is_binary(type_)):
        shown = [None if value is None else text_of(value) for value in values.to_list()]
        return pl.Series(values.name, shown, dtype=pl.String)
    if (
        isinstance(values.dtype, pl.Datetime)
        and in_the_calendar(values).null_count() > values.null_count()
    ):
        return values.to_physical()
    if values.dtype.is_nested():
        return with_years(values)
    if values.dtype == pl.Object:
        texts = [None if value is None else _kept_text(value) for value in values.to_list()]
        return pl.Series(values.name, texts, dtype=pl.String)
    return values


def as_texts(values: pl.Series) -> pl.Series:
    """Values of Python as the texts that a column is read from: of what is no text, JSON."""
    texts = [
        value if value is None or isinstance(value, str) else _kept_text(value)
        for value in values.to_list()
    ]
    return pl.Series(values.name, texts, dtype=pl.String)


def _kept_text(value: object) -> str:
    """As JSON; halves of surrogate pairs escaped, which no text of Polars has."""
    try:
        return json_text(value).encode("utf-8", "backslashreplace").decode()
    except ValueError:  # an int of thousands of digits
        return shown(value)
