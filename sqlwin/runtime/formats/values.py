"""Values of Arrow, pandas, Polars and Python as values of a declared type.

A value is converted where it means the same in both types: a whole float is an
integer, midnight is a date, a number's shortest text a DECIMAL. It is never
wrapped, cut or rounded to fit; a bool is no number and a number no date. What
cannot be converted is NULL. Each value is judged by itself, as in `texts`.

>>> of_values(pl.Series([7.0, 7.5, 1e300]), pa.int64()).to_list()
[7, None, None]
>>> of_values(pl.Series([1.5, 1e300]), pa.float32()).to_list()
[1.5, None]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from sqlwin.polars_frames import INSTANT, iso, polars_type
from sqlwin.runtime.formats.instants import at_clocks, clocks_of
from sqlwin.runtime.formats.nested import fitted, of_text
from sqlwin.runtime.formats.presented import in_the_calendar
from sqlwin.runtime.formats.python_values import column_of, is_foreign, json_text
from sqlwin.runtime.formats.texts import of_texts, only
from sqlwin.schema import TIMESTAMP_NTZ


def fits(given: pl.Series, type_: pa.DataType) -> bool:
    """Whether these are values of the type as they stand, which needs no look at each of them, but
    at the least and the greatest of instants."""
    dtype = polars_type(type_)
    if given.dtype != dtype or dtype.is_nested():
        return False
    return not isinstance(dtype, pl.Datetime) or in_the_calendar(given) is given


def of_values(given: pl.Series, type_: pa.DataType) -> pl.Series:
    dtype = polars_type(type_)
    if given.dtype == pl.Object:
        return _of_objects(given.to_list(), type_)
    if given.dtype in (pl.Categorical, pl.Enum):
        given = given.cast(pl.String)
    if isinstance(given.dtype, pl.Datetime):
        given = in_the_calendar(given)
    if given.dtype == dtype and not (dtype.is_nested() and _has_instants(type_)):
        return given
    if given.dtype == pl.Null:
        return given.cast(dtype)
    if given.dtype == pl.String and not dtype.is_nested():
        return of_texts(given, type_)
    if given.dtype == pl.Binary and pa.types.is_string(type_):
        return decoded_texts(given)
    return _OF[_kind(type_)](given, type_)


def _has_instants(type_: pa.DataType) -> bool:
    """Within a list, a struct or a map, where some may lie in no calendar."""
    inner = [type_.field(at).type for at in range(type_.num_fields)]
    return any(pa.types.is_timestamp(each) or _has_instants(each) for each in inner)


def _kind(type_: pa.DataType) -> str:
    kinds = {
        "integer": pa.types.is_integer,
        "float": pa.types.is_floating,
        "decimal": pa.types.is_decimal,
        "string": pa.types.is_string,
        "date": pa.types.is_date,
        "wall clock": lambda type_: type_ == TIMESTAMP_NTZ,
        "instant": pa.types.is_timestamp,
        "nested": pa.types.is_nested,
    }
    return next((name for name, holds in kinds.items() if holds(type_)), "other")


def _nothing(given: pl.Series, type_: pa.DataType) -> pl.Series:
    return pl.Series(values=[None] * len(given), dtype=polars_type(type_))


def _integers(given: pl.Series, type_: pa.DataType) -> pl.Series:
    if not given.dtype.is_numeric():
        return _nothing(given, type_)
    whole = only(given, given % 1 == 0) if not given.dtype.is_integer() else given
    return whole.cast(polars_type(type_), strict=False)


def _floats(given: pl.Series, type_: pa.DataType) -> pl.Series:
    if not given.dtype.is_numeric():
        return _nothing(given, type_)
    found = given.cast(polars_type(type_), strict=False)
    beyond = found.is_infinite()
    if given.dtype.is_float():
        beyond &= given.is_finite()
    return only(found, ~beyond) if beyond.any() else found


def _decimals(given: pl.Series, type_: pa.DataType) -> pl.Series:
    if not given.dtype.is_numeric():
        return _nothing(given, type_)
    return of_texts(given.cast(pl.String), type_)


def _strings(given: pl.Series, type_: pa.DataType) -> pl.Series:
    if isinstance(given.dtype, pl.Datetime):
        return given.to_frame("v").select(iso(pl.col("v"))).to_series()
    if given.dtype.is_nested():
        texts = [None if value is None else json_text(value) for value in given.to_list()]
        return pl.Series(values=texts, dtype=pl.String)
    return given.cast(pl.String)


def _days(given: pl.Series, type_: pa.DataType) -> pl.Series:
    if not isinstance(given.dtype, pl.Datetime):
        return _nothing(given, type_)
    with clocks_of("UTC"):  # midnight of a time without a zone is its date
        instants = _instants(given, type_).dt.replace_time_zone(None)
    days = instants.cast(pl.Date)
    return only(days, days.cast(pl.Datetime("us")) == instants)


def _instants(given: pl.Series, type_: pa.DataType) -> pl.Series:
    if given.dtype == pl.Date:
        given = given.cast(pl.Datetime("us"))
    if not isinstance(given.dtype, pl.Datetime):
        return _nothing(given, type_)
    if given.dtype.time_zone is None:
        return at_clocks(given.dt.replace_time_zone("UTC").cast(INSTANT))
    return given.dt.convert_time_zone("UTC").cast(INSTANT)


def _wall_clocks(given: pl.Series, type_: pa.DataType) -> pl.Series:
    """An instant is none, for it says nothing of a clock."""
    known = given.dtype == pl.Date
    if isinstance(given.dtype, pl.Datetime):
        known = given.dtype.time_zone is None
    return given.cast(pl.Datetime("us")) if known else _nothing(given, type_)


def _nested(given: pl.Series, type_: pa.DataType) -> pl.Series:
    if given.dtype == pl.String:
        return fitted([of_text(text) for text in given.to_list()], type_, _elements)
    return fitted(given, type_, _elements)


def _elements(given: pl.Series | Sequence[Any], type_: pa.DataType) -> pl.Series:
    return of_values(given if isinstance(given, pl.Series) else column_of(given, type_), type_)


def _of_objects(values: list[Any], type_: pa.DataType) -> pl.Series:
    if pa.types.is_nested(type_):
        read = [of_text(value) if isinstance(value, str) else value for value in values]
        return fitted(read, type_, _elements)
    return _elements([None if is_foreign(value) else value for value in values], type_)


_OF = {
    "integer": _integers,
    "float": _floats,
    "decimal": _decimals,
    "string": _strings,
    "date": _days,
    "instant": _instants,
    "wall clock": _wall_clocks,
    "nested": _nested,
    "other": _nothing,
}


def decoded_texts(given: pl.Series) -> pl.Series:
    """Bytes as UTF-8; NULL where they are none. Never U+FFFD."""
    try:
        return given.cast(pl.String)
    except pl.exceptions.PolarsError:
        texts = [None if value is None else _text_or_none(value) for value in given.to_list()]
        return pl.Series(values=texts, dtype=pl.String)


def _text_or_none(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None
