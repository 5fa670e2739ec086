"""Nested values in Python: how they are read, distinguished, put in order, and made.

Instants and dates are numbers here, since Python's own end with the year 9999; a struct is a
dict, a map a list of pairs. Two values are the same where their `identity` is: NaN is NaN, 0.0
is -0.0, NULL is NULL. `order` is a key to sort by: NULL first, NaN last.

>>> values(pa.array([[0], None], pa.list_(pa.date32())))
[[0], None]
>>> same = identity(pa.list_(pa.float64()))
>>> same([float("nan"), 0.0]) == same([float("nan"), -0.0])
True
>>> sorted([None, float("nan"), 1.0], key=order(pa.float64()))
[None, 1.0, nan]
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.limits import BYTES, ELEMENTS
from sqlwin.functions.core.types import BIGINT, DATE, INT, is_float, is_list, is_map, is_struct
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

Identity = Callable[[Any], Hashable]
Order = Callable[[Any], Any]


@cache
def plain(type_: pa.DataType) -> pa.DataType:
    """With numbers for dates and instants."""
    if is_list(type_):
        return pa.list_(plain(type_.value_type))
    if is_map(type_):
        return pa.map_(plain(type_.key_type), plain(type_.item_type))
    if is_struct(type_):
        return pa.struct([(field.name, plain(field.type)) for field in type_])
    return {DATE: INT, TIMESTAMP: BIGINT, TIMESTAMP_NTZ: BIGINT}.get(type_, type_)


def values(array: pa.Array) -> list[Any]:
    wanted = plain(array.type)
    return (array if wanted == array.type else array.cast(wanted)).to_pylist()  # type: ignore[no-any-return]


def made(found: Sequence[Any], type_: pa.DataType) -> pa.Array:
    wanted = plain(type_)
    array = pa.array(found, wanted)
    return array if wanted == type_ else array.cast(type_)


def by_rows(compute: Callable[..., Any], *arrays: pa.Array, type: pa.DataType) -> pa.Array:
    """Python's function of each row's values; NULL where any of them is NULL."""
    rows = zip(*map(values, arrays), strict=True)
    return made([None if _any_null(row) else compute(*row) for row in rows], type)


def _any_null(row: tuple[Any, ...]) -> bool:
    return any(value is None for value in row)


@cache
def identity(type_: pa.DataType) -> Identity:
    if is_list(type_):
        item = identity(type_.value_type)
        return lambda value: value if value is None else tuple(map(item, value))
    if is_struct(type_):
        fields = [(field.name, identity(field.type)) for field in type_]
        return lambda value: (
            value if value is None else tuple(same(value[name]) for name, same in fields)
        )
    if is_float(type_):
        return _float_identity
    return lambda value: value


def _float_identity(value: float | None) -> Hashable:
    if value is None or value != value:
        return None if value is None else "NaN"
    return value + 0.0  # which -0.0 is not any more


@cache
def order(type_: pa.DataType) -> Order:
    """A NULL comes before all else, as it does within Spark's nested values."""
    inner = _order(type_)
    return lambda value: (0,) if value is None else (1, inner(value))


def _order(type_: pa.DataType) -> Order:
    if is_list(type_):
        item = order(type_.value_type)
        return lambda value: [item(each) for each in value]
    if is_struct(type_):
        fields = [(field.name, order(field.type)) for field in type_]
        return lambda value: [key(value[name]) for name, key in fields]
    if is_float(type_):
        return lambda value: (1, 0.0) if value != value else (0, value)
    return lambda value: value


def counted(counts: np.ndarray, items: pa.Array, valid: np.ndarray, type_: pa.DataType) -> pa.Array:
    """Lists of so many items each, one after the other; NULL where not valid."""
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), items, type=type_, mask=pa.array(~valid))


def valid(array: pa.Array) -> np.ndarray:
    return pc.is_valid(array).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def bounded(count: int, function: str, size: int = 0) -> int:
    """A number of elements, each of so many bytes. ValueError where they are too many."""
    if count > ELEMENTS:
        message = f"{function} makes more than {ELEMENTS} elements"
        raise ValueError(f"[COLLECTION_SIZE_LIMIT_EXCEEDED] {message}")
    if count * size > BYTES:
        message = f"{function} makes a value of more than {BYTES} bytes"
        raise ValueError(f"[COLLECTION_SIZE_LIMIT_EXCEEDED] {message}")
    return count
