"""Arrays of other sizes than their arguments: repeated, inserted into, zipped, counted up."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.nested_values import bounded, by_rows, made, values
from sqlwin.functions.core.typed import Body, Refused, Typed
from sqlwin.functions.core.types import NULL
from sqlwin.functions.core.vectors import vector
from sqlwin.functions.nested import sequences


@vector("arrayrepeat", typed=True)
def _repeat(result: pa.DataType, elements: pa.Array, counts: pa.Array) -> pa.Array:
    size = elements.nbytes // max(len(elements), 1)
    rows = zip(values(elements), counts.to_pylist(), strict=True)
    return made(
        [
            None if count is None else [value] * bounded(max(count, 0), "ARRAY_REPEAT", size)
            for value, count in rows
        ],
        result,
    )


@vector("arrayinsert", typed=True)
def _insert(
    result: pa.DataType, arrays: pa.Array, positions: pa.Array, elements: pa.Array
) -> pa.Array:
    rows = zip(values(arrays), positions.to_pylist(), values(elements), strict=True)
    return made([_inserted(*row) for row in rows], result)


def _inserted(array: list[Any] | None, position: int | None, value: Any) -> list[Any] | None:
    """From 1, or from the end: -1 is behind the last. NULLs fill what is between."""
    if array is None or position is None:
        return None
    if position == 0:
        raise ValueError("[INVALID_INDEX_OF_ZERO] The index 0 is invalid: it is from 1, or from -1")
    gap = abs(position) - 1 - len(array)
    if gap > 0:
        nulls = [None] * bounded(gap, "ARRAY_INSERT")
        return [*array, *nulls, value] if position > 0 else [value, *nulls, *array]
    at = position - 1 if position > 0 else len(array) + position + 1
    return [*array[:at], value, *array[at:]]


@vector("arrayszip", typed=True)
def _zip(result: pa.DataType, *arrays: pa.Array) -> pa.Array:
    names = [field.name for field in result.value_type]

    def zipped(*row: list[Any]) -> list[dict[str, Any]]:
        longest = max(map(len, row))
        padded = [[*array, *[None] * (longest - len(array))] for array in row]
        return [dict(zip(names, each, strict=True)) for each in zip(*padded, strict=True)]

    return by_rows(zipped, *arrays, type=result)


def _zip_type(args: tuple[Typed | Body, ...]) -> pa.DataType:
    names = [str(getattr(arg, "value", "")) for arg in args[::2]]
    if len(set(map(str.lower, names))) < len(names):
        raise Refused("two of these arrays have one name", legal="arrays of columns of other names")
    types = [_item(arg.type) for arg in args[1::2] if isinstance(arg, Typed)]
    return pa.list_(pa.struct(list(zip(names, types, strict=True))))


def _item(type_: pa.DataType) -> pa.DataType:
    """Of the elements; a NULL in the place of an array has NULLs."""
    return type_ if type_ == NULL else type_.value_type


def _zip_text(call: Call) -> str:
    if any(call.type(at) == NULL for at in range(1, len(call.args), 2)):
        return f"CAST(NULL AS {call.engine_type})"
    types = [call.type(at) for at in range(1, len(call.args), 2)]
    return f"{_zip.named(types, call.result)}({', '.join(call.texts[1::2])})"


FUNCTIONS: tuple[Function, ...] = (
    function(
        "array_repeat",
        of("(T, INT) -> ARRAY<T>", _repeat),
        doc="An array that has one value so many times.",
    ),
    function(
        "array_insert",
        of("(ARRAY<T>, INT, T) -> ARRAY<T>", _insert, strict=True),
        doc="The array with one more element at a position from 1, or from the end.",
    ),
    function(
        "arrays_zip",
        *(
            of(f"({', '.join(['STRING!, ARRAY'] * n)})", _zip_text, typing=_zip_type)
            for n in range(1, 9)
        ),
        doc="An array of structs, with a field for each array; the shorter ones end in NULLs.",
    ),
    *sequences.FUNCTIONS,
)
