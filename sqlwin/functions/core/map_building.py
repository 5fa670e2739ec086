"""A map of an array of keys and one of values, checked: no key is NULL, or there twice.

>>> ENTRIES.compute(
...     pa.map_(pa.string(), pa.int32()),
...     pa.array([["a", "a"]]), pa.array([[1, 2]], pa.list_(pa.int32())),
... )
Traceback (most recent call last):
ValueError: [DUPLICATED_MAP_KEY] Duplicate map key a was found
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.nested_values import identity, valid, values
from sqlwin.functions.core.types import STRING, is_nested
from sqlwin.functions.core.vectors import vector

_NO_KEY = "[NULL_MAP_KEY] Cannot use null as map key"


@vector("mapof", typed=True)
def ENTRIES(result: pa.DataType, keys: pa.Array, items: pa.Array) -> pa.Array:  # noqa: N802
    """Of arrays of keys and of values, in pairs."""
    both = valid(keys) & valid(items)
    sizes, others = (pc.fill_null(array.value_lengths(), 0).to_numpy() for array in (keys, items))
    if (both & (sizes != others)).any():
        raise ValueError("the arrays of keys and of values of a map are of different lengths")
    if not both.all():
        keys, items = (pc.if_else(pa.array(both), array, None) for array in (keys, items))
        sizes = np.where(both, sizes, 0)
    flat = keys.flatten()
    if flat.null_count:
        raise ValueError(_NO_KEY)
    _no_key_twice(flat, pc.list_parent_indices(keys))
    offsets = np.zeros(len(keys) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    mask = None if both.all() else pa.array(~both)
    parts = pa.array(offsets), flat, items.flatten()
    return pa.MapArray.from_arrays(*parts, type=result, mask=mask)


def _no_key_twice(keys: pa.Array, rows: pa.Array) -> None:
    """keys: of all rows. rows: which each belongs to."""
    same = identity(keys.type)
    if is_nested(keys.type) or pa.types.is_floating(keys.type):
        codes = pa.array([str(same(value)) for value in values(keys)], STRING)
    else:
        codes = keys
    numbers = pc.dictionary_encode(codes).indices.to_numpy().astype(np.int64)
    pairs = rows.to_numpy().astype(np.int64) * (len(keys) + 1) + numbers
    _, first = np.unique(pairs, return_index=True)
    if len(first) < len(pairs):
        (again,) = np.setdiff1d(np.arange(len(pairs)), first)[:1]
        raise ValueError(f"[DUPLICATED_MAP_KEY] Duplicate map key {keys[again].as_py()} was found")


def built(result: pa.DataType, keys: str, items: str) -> str:
    """Text that makes a map of two arrays."""
    types = [pa.list_(result.key_type), pa.list_(result.item_type)]
    return f"{ENTRIES.named(types, result)}({keys}, {items})"
