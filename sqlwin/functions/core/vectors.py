"""Functions that DuckDB does not have: computed in Python, over columns of Arrow.

A `Vector` takes one Arrow array for each argument, all of one length, and gives one. DuckDB
calls it in the middle of its own work, some thousand rows at a time. Its name there says
everything that another process needs to call it, too:

    spark_initcap_<the types it is called with, and of what it gives>

Invariant: whatever a name says, `register` finds the same function for it on every host.

>>> upper = vector("example_upper")(lambda texts: pc.utf8_upper(texts))
>>> upper.named([pa.string()], pa.string())[:20]
'spark_example_upper_'
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core import limits
from sqlwin.functions.core.types import (
    BINARY,
    STRING,
    computed_as,
    engine_name,
    is_list,
    is_map,
    is_struct,
    name,
)
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import type_of

if TYPE_CHECKING:
    import duckdb

PREFIX = "spark_"
_KNOWN: dict[str, Vector] = {}


@dataclass(frozen=True)
class Vector:
    """compute: arrays to an array. typed: it is given the type of the result first."""

    name: str
    compute: Callable[..., pa.Array]
    typed: bool = False

    def named(self, types: Sequence[pa.DataType], result: pa.DataType) -> str:
        """Its name in DuckDB, for arguments and a result of these types."""
        of = [_coded(computed_as(type_)) for type_ in (*types, result)]
        packed = zlib.compress(json.dumps(of, separators=(",", ":")).encode())
        return f"{PREFIX}{self.name}_{base64.b32encode(packed).decode().rstrip('=').lower()}"


def vector(name: str, typed: bool = False) -> Callable[[Callable[..., pa.Array]], Vector]:
    """Decorates the function that computes it. Names are unique, and have letters and digits."""

    def made(compute: Callable[..., pa.Array]) -> Vector:
        assert name not in _KNOWN or _KNOWN[name].compute.__module__ == compute.__module__, name
        _KNOWN[name] = Vector(name, compute, typed)
        return _KNOWN[name]

    return made


def known_as(made: Vector) -> None:
    """Have a function that is not of the table known by its name in this process."""
    assert made.name not in _KNOWN, made.name
    _KNOWN[made.name] = made


def register(con: duckdb.DuckDBPyConnection, called: str) -> None:
    """Make the function of a name known to a connection. KeyError where there is none."""
    compute, types, result = computing(called)
    create(con, called, compute, types, result)


def computing(called: str) -> tuple[Callable[..., pa.Array], list[pa.DataType], pa.DataType]:
    """What a name stands for: arrays to an array, with their types. KeyError where nothing."""
    found, types, result = _read(called)

    def compute(*arrays: Any) -> pa.Array:
        limits.begin()
        plain = [_plain(array) for array in arrays]
        made = found.compute(result, *plain) if found.typed else found.compute(*plain)
        return made if made.type == result else made.cast(result)

    return compute, types, result


def create(
    con: duckdb.DuckDBPyConnection,
    called: str,
    compute: Callable[..., pa.Array],
    types: Sequence[pa.DataType],
    result: pa.DataType,
) -> None:
    """A function of that name over Arrow arrays, which is given NULLs, too."""

    from duckdb.func import FunctionNullHandling, PythonUDFType

    def counted(*arrays: Any) -> pa.Array:
        return compute(*arrays)

    # DuckDB counts the parameters, which are to have names
    own = [Parameter(f"a{at}", Parameter.POSITIONAL_OR_KEYWORD) for at in range(len(types))]
    counted.__signature__ = Signature(own)  # type: ignore[attr-defined]
    con.create_function(
        called,
        counted,
        [engine_name(type_) for type_ in types],
        engine_name(result),
        type=PythonUDFType.ARROW,
        null_handling=FunctionNullHandling.SPECIAL,
    )


def _plain(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


@lru_cache(maxsize=4096)
def _read(called: str) -> tuple[Vector, list[pa.DataType], pa.DataType]:
    own, _, packed = called.removeprefix(PREFIX).rpartition("_")
    if own not in _KNOWN:  # named by another process
        import_module("sqlwin.functions.table").rooms()
    found = _KNOWN[own]
    padded = packed.upper() + "=" * (-len(packed) % 8)
    *types, result = map(_decoded, json.loads(zlib.decompress(base64.b32decode(padded))))
    return found, types, result


def _coded(type_: pa.DataType) -> Any:
    if is_list(type_):
        return ["array", _coded(type_.value_type)]
    if is_map(type_):
        return ["map", _coded(type_.key_type), _coded(type_.item_type)]
    if is_struct(type_):
        return ["struct", *([field.name, _coded(field.type)] for field in type_)]
    return name(type_)


def _decoded(coded: Any) -> pa.DataType:
    if isinstance(coded, str):
        found = type_of(coded)
        assert found is not None, coded
        return found
    kind, *parts = coded
    if kind == "struct":
        return pa.struct([(field, _decoded(part)) for field, part in parts])
    made = [_decoded(part) for part in parts]
    return pa.list_(*made) if kind == "array" else pa.map_(*made)


def by_value(compute: Callable[..., Any], *arrays: pa.Array, type: pa.DataType) -> pa.Array:
    """Python's function of values, once for each different row; NULL where any of them is NULL.

    Where one argument varies and the others are constants, Arrow finds its different values.
    """
    fixed = [only(array) if _hashable(array.type) else None for array in arrays]
    varying = [at for at, value in enumerate(fixed) if value is None]
    if len(varying) > 1 or not all(_hashable(arrays[at].type) for at in varying):
        return _by_row(compute, arrays, type)
    at = varying[0] if varying else 0
    before, after = fixed[:at], fixed[at + 1 :]
    encoded = arrays[at].dictionary_encode()
    different = encoded.dictionary.to_pylist()
    made = [None if value is None else compute(*before, value, *after) for value in different]
    return pa.array(made, type).take(encoded.indices)


def _hashable(type_: pa.DataType) -> bool:
    """Whether equal values of it are one value: 0.0 and -0.0 are equal, and print differently."""
    return type_ in (STRING, BINARY) or pa.types.is_integer(type_) or pa.types.is_decimal(type_)


def _by_row(
    compute: Callable[..., Any], arrays: Sequence[pa.Array], type_: pa.DataType
) -> pa.Array:
    columns = [array.to_pylist() for array in arrays]
    signed = any(pa.types.is_floating(array.type) for array in arrays)
    known: dict[Any, Any] = {}
    made: list[Any] = []
    for row in zip(*columns, strict=True):
        if None in row:
            made.append(None)
            continue
        key = repr(row) if signed else row
        if key not in known:
            known[key] = compute(*row)
        made.append(known[key])
    return pa.array(made, type_)


def valued(name: str) -> Callable[[Callable[..., Any]], Vector]:
    """Decorates a function of values, to be called as `by_value` does; NULL of any is NULL."""

    def made(compute: Callable[..., Any]) -> Vector:
        def all_of(result: pa.DataType, *arrays: pa.Array) -> pa.Array:
            return by_value(compute, *arrays, type=result)

        return vector(name, typed=True)(all_of)

    return made


def only(array: pa.Array) -> Any:
    """The value that all rows have, None where they differ, are none or are NULL."""
    if len(array) == 0 or array.null_count:
        return None
    first = array[0]
    return first.as_py() if pc.all(pc.equal(array, first)).as_py() else None
