"""How a function of Python is called: by row, with arrays of Arrow, or with series of Polars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa


def _by_row(function: Callable[..., Any], result: pa.DataType, arrays: Sequence[pa.Array]) -> Any:
    rows = zip(*(array.to_pylist() for array in arrays), strict=True)
    return pa.array([function(*row) for row in rows], result)


def _by_array(function: Callable[..., Any], result: pa.DataType, arrays: Sequence[pa.Array]) -> Any:
    made = function(*arrays)
    if isinstance(made, pa.ChunkedArray):
        made = made.combine_chunks()
    return _of_length(made if isinstance(made, pa.Array) else pa.array(made, result), arrays)


def _by_series(
    function: Callable[..., Any], result: pa.DataType, arrays: Sequence[pa.Array]
) -> Any:
    import polars as pl

    made = function(*map(pl.Series, arrays))
    if not isinstance(made, pl.Series):
        return _of_length(pa.array(made, result), arrays)
    return _of_length(made.to_arrow(compat_level=pl.CompatLevel.oldest()), arrays)


def _of_length(made: pa.Array, arrays: Sequence[pa.Array]) -> pa.Array:
    if len(made) != len(arrays[0]):
        raise ValueError(f"{len(made)} values of {len(arrays[0])} rows")
    return made


COMPUTED: dict[str | None, Callable[..., pa.Array]] = {
    None: _by_row,
    "arrow": _by_array,
    "polars": _by_series,
}
