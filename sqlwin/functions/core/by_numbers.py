"""Vectors over numpy: numbers in, numbers out, NULL where any of them is NULL.

>>> import pyarrow as pa
>>> by_numbers(np.hypot, pa.array([3.0, None]), pa.array([4.0, 1.0]), type=pa.float64()).to_pylist()
[5.0, None]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.vectors import Vector, vector

Numbers = np.ndarray[Any, Any]


def by_numbers(compute: Callable[..., Any], *arrays: pa.Array, type: pa.DataType) -> pa.Array:
    """compute: of numpy's arrays to one. Where a row has a NULL, its values are any numbers: 1."""
    absent = reduce(pc.or_, [array.is_null() for array in arrays])
    filled = [array.fill_null(1) if array.null_count else array for array in arrays]
    values = [array.to_numpy(zero_copy_only=False) for array in filled]
    with np.errstate(all="ignore"):
        made = compute(*values)
    return pa.array(made, type, mask=absent.to_numpy(zero_copy_only=False), from_pandas=False)


def of_doubles(name: str, compute: Callable[..., Any]) -> Vector:
    """A vector over DOUBLEs."""

    @vector(name)
    def made(*arrays: pa.Array) -> pa.Array:
        return by_numbers(compute, *arrays, type=pa.float64())

    return made
