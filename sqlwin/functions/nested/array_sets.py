"""Which elements two arrays have: NaN is NaN, 0.0 is -0.0, and a NULL is an element.

>>> DISTINCT.compute(pa.list_(pa.int32()), pa.array([[1, None, 1, None]], pa.list_(pa.int32())))
<pyarrow.lib.ListArray object at ...>
[
  [
    1,
    null
  ]
]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from typing import cast as as_type

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.nested_values import Identity, by_rows, counted, identity, valid, values
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import STRING
from sqlwin.functions.core.vectors import Vector, vector

Row = Callable[..., list[Any]]
"""Of the identity of the elements, and of the arrays, to the elements of another."""


def _distinct(same: Identity, *arrays: list[Any]) -> list[Any]:
    found: dict[Any, Any] = {}
    for array in arrays:
        for value in array:
            found.setdefault(same(value), value if value else _unsigned(value))
    return list(found.values())


def _unsigned(value: Any) -> Any:
    """0.0 for -0.0: Spark puts it into its sets as that."""
    return 0.0 if isinstance(value, float) else value


def _except(same: Identity, one: list[Any], other: list[Any]) -> list[Any]:
    without = set(map(same, other))
    return [value for value in _distinct(same, one) if same(value) not in without]


def _intersect(same: Identity, one: list[Any], other: list[Any]) -> list[Any]:
    both = set(map(same, other))
    return [value for value in _distinct(same, one) if same(value) in both]


def _of_rows(name: str, compute: Row) -> Vector:
    def computed(result: pa.DataType, *arrays: pa.Array) -> pa.Array:
        same = identity(result.value_type)
        return by_rows(lambda *row: compute(same, *row), *arrays, type=result)

    return vector(name, typed=True)(computed)


DISTINCT = _of_rows("arraydistinct", _distinct)
_UNION = _of_rows("arrayunion", _distinct)
_EXCEPT = _of_rows("arrayexcept", _except)
_INTERSECT = _of_rows("arrayintersect", _intersect)


@vector("arraysoverlap")
def _overlap(one: pa.Array, other: pa.Array) -> pa.Array:
    same = identity(one.type.value_type)

    def overlap(mine: list[Any], yours: list[Any]) -> bool | None:
        both = set(map(same, mine)) & set(map(same, yours)) - {None}
        unknown = mine and yours and (None in mine or None in yours)
        return True if both else None if unknown else False

    return by_rows(overlap, one, other, type=pa.bool_())


@vector("arrayremove")
def _remove(arrays: pa.Array, elements: pa.Array) -> pa.Array:
    same = identity(arrays.type.value_type)

    def without(array: list[Any], element: Any) -> list[Any]:
        known = same(element)
        return [value for value in array if same(value) != known]

    return by_rows(without, arrays, elements, type=arrays.type)


@vector("arraycompact")
def _compact(arrays: pa.Array) -> pa.Array:
    items, rows = arrays.flatten(), pc.list_parent_indices(arrays)
    kept = pc.is_valid(items)
    counts = np.bincount(rows.filter(kept).to_numpy(), minlength=len(arrays))
    return counted(counts, items.filter(kept), valid(arrays), arrays.type)


@vector("arrayjoin")
def _join(arrays: pa.Array, between: pa.Array) -> pa.Array:
    return pc.binary_join(_compact.compute(arrays), between)


@vector("arrayjoinfilled")
def _join_filled(arrays: pa.Array, between: pa.Array, instead: pa.Array) -> pa.Array:
    """instead: of a NULL in the array."""
    rows = zip(values(arrays), between.to_pylist(), instead.to_pylist(), strict=True)
    made = [_joined(*row) if None not in row else None for row in rows]
    return pa.array(made, pa.string())


def _joined(array: list[str | None], between: str, instead: str) -> str:
    return between.join(instead if value is None else value for value in array)


def _joined_text(call: Call) -> str:
    texts = cast(as_type(Typed, call.args[0]), pa.list_(STRING), implicitly=True)
    chosen = _join if len(call.args) == 2 else _join_filled
    types = [texts.type, *[STRING] * (len(call.args) - 1)]
    return f"{chosen.named(types, STRING)}({', '.join((texts.sql, *call.texts[1:]))})"


FUNCTIONS: tuple[Function, ...] = (
    function(
        "array_distinct",
        of("(ARRAY<T>) -> ARRAY<T>", DISTINCT),
        doc="The elements, each once, in the order in which they are first.",
    ),
    function(
        "array_union",
        of("(ARRAY<T>, ARRAY<T>) -> ARRAY<T>", _UNION),
        doc="The elements of both arrays, each once.",
    ),
    function(
        "array_except",
        of("(ARRAY<T>, ARRAY<T>) -> ARRAY<T>", _EXCEPT),
        doc="The elements of the first array that are not in the second, each once.",
    ),
    function(
        "array_intersect",
        of("(ARRAY<T>, ARRAY<T>) -> ARRAY<T>", _INTERSECT),
        doc="The elements that are in both arrays, each once.",
    ),
    function(
        "arrays_overlap",
        of("(ARRAY<T>, ARRAY<T>) -> BOOLEAN", _overlap),
        doc="Whether one element is in both arrays; NULL where none is, but a NULL may be.",
    ),
    function(
        "array_remove",
        of("(ARRAY<T>, T) -> ARRAY<T>", _remove, strict=True),
        doc="The array without the elements that are equal to one.",
    ),
    function(
        "array_compact",
        of("(ARRAY<T>) -> ARRAY<T>", _compact),
        doc="The array without its NULLs.",
    ),
    function(
        "array_join",
        of("(ARRAY<T>, STRING) -> STRING", _joined_text),
        of("(ARRAY<T>, STRING, STRING) -> STRING", _joined_text),
        doc="The elements as one text, with a text between them, and one in place of NULLs.",
    ),
)
