"""Lists, structs and maps from outside, as values of a declared type.

A value fits as a whole or its row is malformed, each value by itself: a list is a list, a
struct a dict of its fields (one that is missing is NULL), a map a dict or a list of pairs.

>>> type_ = pa.map_(pa.string(), pa.int64())
>>> fitted([{"a": 1}, [["b", 2]], {"c": "x"}, 5, None], type_).to_list()
[{'a': 1}, {'b': 2}, None, None, None]
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from sqlwin.schema import polars_type

DEEPEST = 500
"""Levels of lists and objects that a row may have, itself included."""


def fitted(values: Sequence[Any], type_: pa.DataType) -> pl.Series:
    """The values, NULL where one does not fit."""
    dtype = polars_type(type_)
    shaped = [_shaped(value, type_) for value in values]
    try:
        return pl.Series(values=shaped, dtype=dtype, strict=True)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        alone = [_alone(value, dtype) for value in shaped]
        return pl.Series(values=alone, dtype=dtype)


def of_text(text: str | None) -> Any:
    """The value that a JSON text is; the text itself where it is none."""
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        return text


def _alone(value: Any, dtype: pl.DataType) -> Any:
    try:
        return pl.Series(values=[value], dtype=dtype, strict=True).to_list()[0]
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        return None


def too_deep(value: Any, levels: int) -> bool:
    """Whether lists and dicts are nested deeper, or contain themselves.

    >>> too_deep([{"a": []}], 3), too_deep([{"a": []}], 2)
    (False, True)
    """
    layer = [value] if _is_nested(value) else []
    for _ in range(levels):
        inner = (each for one in layer for each in _items(one))
        layer = list({id(each): each for each in inner if _is_nested(each)}.values())
        if not layer:
            return False
    return bool(layer)


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple)


def _items(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, Mapping) else value


def _shaped(value: Any, type_: pa.DataType) -> Any:
    """As Polars has it: a map as a list of its entries. None where the shape is another."""
    if value is None or not pa.types.is_nested(type_):
        return _leaf(value, type_)
    if pa.types.is_map(type_):
        entries = _entries(value)
        return None if entries is None else _each(entries, _entry_type(type_))
    if pa.types.is_struct(type_):
        return _struct(value, type_)
    return _each(value, type_.value_type) if isinstance(value, list | tuple) else None


def _leaf(value: Any, type_: pa.DataType) -> Any:
    """A list is no leaf, a bool no number and a number no date."""
    if isinstance(value, bool) and not pa.types.is_boolean(type_):
        return None
    if isinstance(value, int | float) and pa.types.is_temporal(type_):
        return None
    return None if _is_nested(value) else value


def _each(values: Sequence[Any], type_: pa.DataType) -> list[Any] | None:
    shaped = [_shaped(value, type_) for value in values]
    lost = any(one is None and other is not None for one, other in zip(shaped, values, strict=True))
    return None if lost else shaped


def _struct(value: Any, type_: pa.StructType) -> dict[str, Any] | None:
    names = [field.name for field in type_]
    if not isinstance(value, Mapping) or not set(value) <= set(names):
        return None
    given = [value.get(name) for name in names]
    made = [_shaped(one, field.type) for one, field in zip(given, type_, strict=True)]
    lost = any(one is None and other is not None for one, other in zip(made, given, strict=True))
    return None if lost else dict(zip(names, made, strict=True))


def _entries(value: Any) -> list[Any] | None:
    if isinstance(value, Mapping):
        return [{"key": key, "value": item} for key, item in value.items()]
    if not isinstance(value, list | tuple):
        return None
    pairs = [pair for pair in value if isinstance(pair, list | tuple) and len(pair) == 2]
    if len(pairs) == len(value):
        return [{"key": key, "value": item} for key, item in pairs]
    return list(value)


def _entry_type(type_: pa.MapType) -> pa.DataType:
    return pa.struct([("key", type_.key_type), ("value", type_.item_type)])
