"""TO_JSON: a struct, map or array as a text of JSON.

A field that is NULL is left out, unless `ignoreNullFields` is false. Instants are in UTC with
milliseconds; NaN and the infinities are strings.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin.functions.core.nested_values import values
from sqlwin.functions.core.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    STRING,
    is_list,
    is_map,
    is_struct,
)
from sqlwin.functions.core.vectors import vector
from sqlwin.functions.json.by_columns import Columns
from sqlwin.functions.json.time_options import printers
from sqlwin.functions.json.write import java_digits, java_double, quoted
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

Leaf = Callable[[Any], str]
Shape = Any
"""Text of a leaf, a list, or a tuple of pairs of a name and a shape."""


@vector("tojson")
def TO_JSON(given: pa.Array, options: pa.Array) -> pa.Array:  # noqa: N802
    chosen = json.loads(options[0].as_py()) if len(options) else {}
    without_nulls = chosen.get("ignorenullfields", "true").lower() == "true"
    leaves = leaves_of(chosen)
    if chosen.get("pretty", "false").lower() != "true":
        iso = frozenset(type_ for type_, option in _FORMATS if option not in chosen)
        return Columns(leaves, key_text, without_nulls, iso).texts(given)
    shape = shaped(given.type, without_nulls, leaves)
    found = [None if value is None else _pretty(shape(value)) for value in values(given)]
    return pa.array(found, STRING)


_FORMATS = (
    (DATE, "dateformat"),
    (TIMESTAMP, "timestampformat"),
    (TIMESTAMP_NTZ, "timestampntzformat"),
)


def leaves_of(options: Mapping[str, str]) -> Mapping[pa.DataType, Leaf]:
    times = printers(options)
    return {
        **_LEAVES,
        DATE: lambda value: quoted(times[DATE](value)),
        TIMESTAMP: lambda value: quoted(times[TIMESTAMP](value)),
        TIMESTAMP_NTZ: lambda value: quoted(times[TIMESTAMP_NTZ](value)),
    }


def shaped(
    type_: pa.DataType, without_nulls: bool, leaves: Mapping[pa.DataType, Leaf]
) -> Callable[[Any], Shape]:
    def nested(part: pa.DataType) -> Callable[[Any], Shape]:
        inner = shaped(part, without_nulls, leaves)
        return lambda value: "null" if value is None else inner(value)

    if is_struct(type_):
        fields = [(field.name, nested(field.type)) for field in type_]
        return lambda value: tuple(
            (name, shape(value[name]))
            for name, shape in fields
            if value[name] is not None or not without_nulls
        )
    if is_map(type_):
        key, item = key_text(type_.key_type), nested(type_.item_type)
        return lambda value: tuple((key(k), item(v)) for k, v in value)
    if is_list(type_):
        each = nested(type_.value_type)
        return lambda value: list(map(each, value))
    return leaves.get(type_, str)


def _pretty(shape: Shape, indent: str = "") -> str:
    if isinstance(shape, str):
        return shape
    if isinstance(shape, list):
        return f"[ {', '.join(_pretty(part, indent) for part in shape)} ]" if shape else "[ ]"
    if not shape:
        return "{ }"
    deeper = indent + "  "
    parts = (f"{deeper}{quoted(name)} : {_pretty(part, deeper)}" for name, part in shape)
    return "{\n" + ",\n".join(parts) + f"\n{indent}}}"


@cache
def key_text(type_: pa.DataType) -> Leaf:
    """Of a map's key; dates and instants are the numbers that Spark has inside."""
    if type_ in (FLOAT, DOUBLE):
        return _single if type_ == FLOAT else java_double
    return _truth if type_ == BOOLEAN else str


def _single(value: float) -> str:
    return java_digits(str(np.float32(value)), f"{value:.1e}")


def _number(value: float) -> str:
    return _odd(java_double(value))


def _odd(text: str) -> str:
    return f'"{text}"' if text[-1].isalpha() else text


def _truth(value: bool) -> str:
    return "true" if value else "false"


_LEAVES: Mapping[pa.DataType, Leaf] = {
    STRING: quoted,
    BINARY: lambda value: f'"{base64.b64encode(value).decode()}"',
    BOOLEAN: _truth,
    DOUBLE: _number,
    FLOAT: lambda value: _odd(_single(value)),
}
