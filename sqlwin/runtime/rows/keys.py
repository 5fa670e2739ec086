"""Keys as people give them: a dict by column, a tuple in order, or a single value.

>>> from sqlwin.schema import Column
>>> columns = (Column("product", pa.string()), Column("paid", pa.bool_()))
>>> key_of({"paid": True, "product": "tea"}, columns).rows()
[('tea', True)]
>>> key_of(("tea", 1), columns)
Traceback (most recent call last):
sqlwin.errors.InputError: ('tea', 1) is no key: its paid is a BOOLEAN, not 1
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa

from sqlwin.errors import InputError
from sqlwin.runtime.rows.conform import conform, frame_of
from sqlwin.schema import Schema, a_type, type_name

Key = Any
"""A dict by column, a tuple in the order of the keys, or the value of the only key."""

_FITS: tuple[tuple[Any, tuple[type, ...]], ...] = (
    (pa.types.is_boolean, (bool,)),
    (pa.types.is_integer, (int,)),
    (pa.types.is_floating, (int, float)),
    (pa.types.is_decimal, (int, float, Decimal, str)),
    (pa.types.is_string, (str,)),
    (pa.types.is_binary, (bytes, str)),
    (pa.types.is_timestamp, (datetime, str)),
    (pa.types.is_date, (date, str)),
)


def key_of(key: Key, columns: Schema) -> pl.DataFrame:
    """One line of these columns; NULL is a value. InputError, with what is legal, for others."""
    if not columns:
        raise InputError("the query has no keys: ask windows(start, end)")
    values = _by_name(key, [column.name for column in columns])
    if values is None:
        legal = ", ".join(f"{c.name} {type_name(c.type)}" for c in columns)
        raise InputError(f"{key!r} is no key of this query: legal is a value for {legal}")
    for column in columns:
        value = values[column.name]
        if not _fits(value, column.type):
            reason = f"{column.name} is {a_type(column.type)}, not {value!r}"
            raise InputError(f"{key!r} is no key: its {reason}")
    found = conform(frame_of([values], columns), columns)
    for _, reason in found.malformed:
        raise InputError(f"{key!r} is no key: its {reason}")
    return found.rows


def _by_name(key: Key, names: list[str]) -> dict[str, Any] | None:
    """The values of a key by column; None where they are others, or of another number."""
    if isinstance(key, Mapping):
        return dict(key) if set(key) == set(names) else None
    parts = tuple(key) if isinstance(key, tuple | list) else (key,)
    return dict(zip(names, parts, strict=True)) if len(parts) == len(names) else None


def _fits(value: Any, type_: pa.DataType) -> bool:
    """Whether a Python value may stand for a value of the type; a bool is no number."""
    legal = next((kinds for of, kinds in _FITS if of(type_)), None)
    if value is None or legal is None:
        return True
    return isinstance(value, legal) and isinstance(value, bool) == (legal == (bool,))
