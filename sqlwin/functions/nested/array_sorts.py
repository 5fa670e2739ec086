"""Arrays in order, by what their elements are or by a lambda that compares two of them.

A lambda of DuckDB's cannot be called from Python; so a comparator is computed for every pair of
elements first, and the elements are then sorted by that table.
"""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

import pyarrow as pa

from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.nested_values import by_rows, made, order, values
from sqlwin.functions.core.types import is_float, is_nested
from sqlwin.functions.core.vectors import Vector, vector

COMPARED = 1000
"""Elements that a comparator sorts at most: it is computed for each pair."""


def _by_order(name: str, descending: bool, nulls_last: bool) -> Vector:
    """Within nested elements a NULL is the least."""

    def sort(arrays: pa.Array) -> pa.Array:
        key = order(arrays.type.value_type)

        def sorted_(array: list[Any]) -> list[Any]:
            nulls = [None] * array.count(None)
            rest = sorted((v for v in array if v is not None), key=key, reverse=descending)
            return [*rest, *nulls] if nulls_last else [*nulls, *rest]

        return by_rows(sorted_, arrays, type=arrays.type)

    return vector(name)(sort)


_SORTS = {
    ("ASC", "LAST"): _by_order("sortasclast", descending=False, nulls_last=True),
    ("ASC", "FIRST"): _by_order("sortascfirst", descending=False, nulls_last=False),
    ("DESC", "LAST"): _by_order("sortdesclast", descending=True, nulls_last=True),
}


def _sorted(call: Call, way: str, nulls: str) -> str:
    if is_nested(call.result.value_type):
        return f"{_SORTS[way, nulls].named([call.result], call.result)}({call.texts[0]})"
    return f"list_sort({call.texts[0]}, '{way}', 'NULLS {nulls}')"


def _array_sort(call: Call) -> str:
    return _sorted(call, "ASC", "LAST")


def _sort_array(call: Call) -> str:
    ascending = getattr(call.args[1], "value", None) if len(call.args) == 2 else True
    if ascending is None:
        return f"CAST(NULL AS {call.engine_type})"
    descending = ascending is False
    return _sorted(call, "DESC", "LAST") if descending else _sorted(call, "ASC", "FIRST")


def _extreme(last: bool) -> Vector:
    def extreme(result: pa.DataType, arrays: pa.Array) -> pa.Array:
        key, choose = order(result), max if last else min

        def chosen(array: list[Any]) -> Any:
            return choose((v for v in array if v is not None), key=key, default=None)

        return by_rows(chosen, arrays, type=result)

    return vector("arraymax" if last else "arraymin", typed=True)(extreme)


def _extreme_text(function_: str, nested: Vector) -> Any:
    def text(call: Call) -> str:
        if is_nested(call.result) or is_float(call.result):  # of 0.0 and -0.0 the first
            return f"{nested.named([call.type(0)], call.result)}({call.texts[0]})"
        return f"{function_}({call.texts[0]})"

    return text


MAXIMUM = _extreme_text("list_max", _extreme(last=True))
MINIMUM = _extreme_text("list_min", _extreme(last=False))


@vector("arraycompared")
def _compared(arrays: pa.Array, tables: pa.Array) -> pa.Array:
    """tables: for each element, how it compares with each of them."""
    rows = zip(values(arrays), tables.to_pylist(), strict=True)
    return made([None if array is None else _by_table(array, t) for array, t in rows], arrays.type)


def _by_table(array: list[Any], table: list[list[int | None]]) -> list[Any]:
    def compare(one: int, other: int) -> int:
        found = table[one][other]
        if found is None:
            raise ValueError("[COMPARATOR_RETURNS_NULL] The comparator of ARRAY_SORT gave a NULL")
        return found

    return [array[at] for at in sorted(range(len(array)), key=cmp_to_key(compare))]


@vector("arraycomparable")
def _comparable(arrays: pa.Array) -> pa.Array:
    for size in arrays.value_lengths().to_pylist():
        if (size or 0) > COMPARED:
            raise ValueError(f"ARRAY_SORT with a comparator takes at most {COMPARED} elements")
    return arrays


def _with_comparator(call: Call) -> str:
    one, other = call.args[1].names  # type: ignore[union-attr]
    inner = f"list_transform(__s.a, lambda {other}: {call.args[1].result.sql})"  # type: ignore[union-attr]
    arrays = call.result
    table = pa.list_(pa.list_(pa.int32()))
    compared = _compared.named([arrays, table], arrays)
    given = f"{_comparable.named([arrays], arrays)}({call.texts[0]})"
    text = f"{compared}(__s.a, list_transform(__s.a, lambda {one}: {inner}))"
    return f"list_apply([{{'a': {given}}}], lambda __s: {text})[1]"


FUNCTIONS: tuple[Function, ...] = (
    function(
        "array_sort",
        of("(ARRAY<O>) -> ARRAY<O>", _array_sort),
        of("(ARRAY<T>, (T, T) => INT) -> ARRAY<T>", _with_comparator, fails=True),
        doc="The elements in order, NULLs last; or in that of a comparator, below, at or above 0.",
    ),
    function(
        "sort_array",
        of("(ARRAY<O>, BOOLEAN!?) -> ARRAY<O>", _sort_array, strict=True),
        doc="The elements in order, NULLs first; FALSE: the greatest first, NULLs last.",
    ),
)
