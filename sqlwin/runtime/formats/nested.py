"""Lists, structs and maps from outside, as values of a declared type.

A value fits as a whole or its row is malformed, each value by itself: a list is a list, a
struct a dict of its fields (one that is missing is NULL), a map a dict or a list of pairs.
What is within goes by the rule of columns, `of_values`: all elements of a level at once, as one
column of their type.

>>> type_ = pa.map_(pa.string(), pa.int64())
>>> from sqlwin.runtime.formats.values import of_values
>>> given = pl.Series([{"a": 1}, [["b", 2]], {"c": "x"}, 5, None], dtype=pl.Object)
>>> of_values(given, type_).to_list()
[{'a': 1}, {'b': 2}, None, None, None]
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import polars_type

Given: TypeAlias = pl.Series | Sequence[Any]
"""A column, or values of Python."""
Leaves: TypeAlias = Callable[[Given, pa.DataType], pl.Series]
Flags: TypeAlias = npt.NDArray[np.bool_]
MISSING = ("NaTType", "NAType")
"""What pandas has for NULL."""
DEEPEST = 500
"""Levels of lists and objects that a row may have, itself included."""


def fitted(given: Given, type_: pa.DataType, leaves: Leaves) -> pl.Series:
    """The values, NULL where one does not fit. leaves: the rule of what is not nested."""
    fit = _fit(given, type_, leaves)
    return pl.Series(values=fit.array).cast(polars_type(type_))


def of_text(text: str | None) -> Any:
    """The value that a JSON text is; the text itself where it is none."""
    try:
        return None if text is None else _LOADED(text)
    except ValueError:
        return text


def _no_number(word: str) -> Any:
    raise ValueError(word)


_LOADED = partial(json.loads, parse_float=Decimal, parse_constant=_no_number)


def is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in MISSING


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


# --- one level at a time ---------------------------------------------------------------


@dataclass(frozen=True)
class _Fit:
    """array: NULL where `given` was, and where it is lost: no value of the type."""

    array: pa.Array
    lost: Flags


def _fit(given: Given, type_: pa.DataType, leaves: Leaves) -> _Fit:
    if pa.types.is_map(type_):
        return _map(given, type_, leaves)
    if pa.types.is_struct(type_):
        return _struct(given, type_, leaves)
    if pa.types.is_nested(type_):
        return _list(_lists(given), type_.value_type, leaves)
    taken = leaves(given, type_)
    return _Fit(taken.to_arrow(), taken.is_null().to_numpy() & ~_null(given))


def _list(lists: _Lists, type_: pa.DataType, leaves: Leaves) -> _Fit:
    inner = _fit(lists.elements, type_, leaves)
    return _gathered(lists, inner, inner.lost)


def _gathered(lists: _Lists, inner: _Fit, lost: Flags) -> _Fit:
    """Elements back in their lists. lost: of them; a list is lost with one of its elements."""
    owners = np.repeat(np.arange(len(lists.null)), lists.lengths)
    gone = ~lists.null & ~lists.shaped
    gone[owners[lost]] = True
    offsets = pa.array(np.concatenate([[0], np.cumsum(lists.lengths)]), pa.int64())
    mask = pa.array(lists.null | gone)
    return _Fit(pa.LargeListArray.from_arrays(offsets, inner.array, mask=mask), gone)


def _map(given: Given, type_: pa.MapType, leaves: Leaves) -> _Fit:
    """As Polars has it: a list of entries. None of them has a NULL for its key."""
    entries = pa.struct([("key", type_.key_type), ("value", type_.item_type)])
    lists = _lists(given, of_map=True)
    inner = _fit(lists.elements, entries, leaves)
    keys = inner.array.field(0).is_null().to_numpy(zero_copy_only=False)
    return _gathered(lists, inner, inner.lost | keys | _null(lists.elements))


def _struct(given: Given, type_: pa.StructType, leaves: Leaves) -> _Fit:
    names = [field.name for field in type_]
    null, shaped = _null(given), _structs(given, names)
    fits = [_fit(_field(given, field.name), field.type, leaves) for field in type_]
    lost = ~null & ~shaped
    for fit in fits:
        lost |= shaped & fit.lost
    mask = pa.array(null | lost)
    return _Fit(pa.StructArray.from_arrays([fit.array for fit in fits], names, mask=mask), lost)


# --- of Python's values, and of a column -------------------------------------------------


@dataclass(frozen=True)
class _Lists:
    """shaped: what is a list; lengths: 0 of all else. elements: of all lists, in order."""

    null: Flags
    shaped: Flags
    lengths: Any
    elements: Given


def _null(given: Given) -> Flags:
    if isinstance(given, pl.Series):
        return given.is_null().to_numpy()
    return np.array([is_missing(value) for value in given], bool)


def _lists(given: Given, of_map: bool = False) -> _Lists:
    null = _null(given)
    if isinstance(given, pl.Series):
        return _of_column(given, null, of_map)
    lists = [_entries(value) if of_map else _elements(value) for value in given]
    shaped = np.array([each is not None for each in lists], bool)
    lengths = np.array([len(each or ()) for each in lists], np.int64)
    return _Lists(null, shaped, lengths, [each for one in lists for each in one or ()])


def _of_column(given: pl.Series, null: Flags, of_map: bool) -> _Lists:
    if isinstance(given.dtype, pl.Array):
        given = given.arr.to_list()
    if of_map and isinstance(given.dtype, pl.Map):
        entry = pl.Struct({"key": given.dtype.key, "value": given.dtype.value})
        given = given.cast(pl.List(entry))
    if not isinstance(given.dtype, pl.List):
        no = np.zeros(len(given), np.int64)
        return _Lists(null, no.astype(bool), no, [])
    lengths = given.list.len().fill_null(0).cast(pl.Int64)
    elements = given.filter(lengths > 0).explode()
    if of_map and isinstance(elements.dtype, pl.Struct):
        elements = elements.struct.rename_fields(["key", "value"])
    return _Lists(null, ~null, lengths.to_numpy(), elements)


def _elements(value: Any) -> Sequence[Any] | None:
    return value if isinstance(value, list | tuple) else None


def _entries(value: Any) -> list[Any] | None:
    if isinstance(value, Mapping):
        return [{"key": key, "value": item} for key, item in value.items()]
    if not isinstance(value, list | tuple):
        return None
    pairs = [pair for pair in value if isinstance(pair, list | tuple) and len(pair) == 2]
    if len(pairs) == len(value):
        return [{"key": key, "value": item} for key, item in pairs]
    return list(value)


def _structs(given: Given, names: list[str]) -> Flags:
    """Which values have no field but these."""
    if not isinstance(given, pl.Series):
        return np.array([isinstance(v, Mapping) and set(v) <= set(names) for v in given], bool)
    known = isinstance(given.dtype, pl.Struct) and {f.name for f in given.dtype.fields} <= {*names}
    return np.full(len(given), known)


def _field(given: Given, name: str) -> Given:
    """The field of each, NULL where there is none."""
    if not isinstance(given, pl.Series):
        return [value.get(name) if isinstance(value, Mapping) else None for value in given]
    if isinstance(given.dtype, pl.Struct) and name in [each.name for each in given.dtype.fields]:
        return given.struct.field(name)
    return pl.Series(values=[None] * len(given), dtype=pl.Null)
