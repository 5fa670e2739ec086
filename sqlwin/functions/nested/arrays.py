"""Functions of arrays: what DuckDB has, with Spark's NULLs and errors.

Which elements are the same, and those that make arrays of their own, are in `array_sets` and
`array_making`; functions with lambdas are in `lambdas`.
"""

from __future__ import annotations

from typing import cast as as_type

import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, Overload, function, of
from sqlwin.functions.core.typed import Body, Refused, Typed
from sqlwin.functions.core.types import NULL, name
from sqlwin.functions.core.widening import implicit, widest_of
from sqlwin.functions.nested import array_making, array_sets, array_sorts, float_vectors, lambdas


def _array(call: Call) -> str:
    if not call.args:
        return f"CAST([] AS {call.engine_type})"
    return f"list_value({', '.join(call.texts)})"


_SIZE = "CAST(len({0}) AS INTEGER)"
_APPEND = "CASE WHEN {0} IS NOT NULL THEN list_append({0}, {1}) END"
_PREPEND = "CASE WHEN {0} IS NOT NULL THEN list_prepend({1}, {0}) END"
_POSITION = (
    "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL"
    " THEN CAST(coalesce(list_position({0}, {1}), 0) AS BIGINT) END"
)
_CONTAINS = (
    "CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL WHEN list_contains({0}, {1}) THEN true"
    " WHEN list_position({0}, NULL) IS NULL THEN false END"
)
_FLATTEN = "CASE WHEN list_position({0}, NULL) IS NULL THEN flatten({0}) END"
_GET = "CASE WHEN {1} >= 0 THEN list_extract({0}, CAST({1} AS BIGINT) + 1) END"
_COUNT = "' is out of bounds. The array has ' || len({0}) || ' elements.'"
_ITEM = (
    "CASE WHEN {1} < 0 OR {1} >= len({0})"
    " THEN error('[INVALID_ARRAY_INDEX] The index ' || {1} || " + _COUNT + ")"
    " ELSE list_extract({0}, CAST({1} AS BIGINT) + 1) END"
)
_ZERO = (
    "WHEN {1} = 0 AND {0} IS NOT NULL THEN error('[INVALID_INDEX_OF_ZERO] The index 0 is invalid."
    " An index shall be either < 0 or > 0 (the first element has index 1).')"
)
_ELEMENT_AT = (
    f"CASE {_ZERO} WHEN abs(CAST({{1}} AS BIGINT)) > len({{0}})"
    " THEN error('[INVALID_ARRAY_INDEX_IN_ELEMENT_AT] The index ' || {1} || "
    f"{_COUNT}) ELSE list_extract({{0}}, {{1}}) END"
)
_TRY_ELEMENT_AT = f"CASE {_ZERO} ELSE list_extract({{0}}, {{1}}) END"
_VALUE = "map_extract_value({0}, {1})"
_FROM = "CASE WHEN {1} < 0 THEN len({0}) + {1} + 1 ELSE CAST({1} AS BIGINT) END"
_OUT = "error('[INVALID_PARAMETER_VALUE.{0}] The value of parameter(s) in `slice` is invalid: {1}')"
_SLICE = (
    "CASE WHEN {0} IS NULL OR {1} IS NULL OR {2} IS NULL THEN NULL WHEN {1} = 0 THEN "
    + _OUT.format("START", "the start is 0, positions begin at 1.")
    + " WHEN {2} < 0 THEN "
    + _OUT.format("LENGTH", "the length is negative.")
    + " WHEN -CAST({1} AS BIGINT) > len({0}) THEN CAST([] AS {result})"
    f" ELSE list_slice({{0}}, {_FROM}, {_FROM} + {{2}} - 1) END"
)


def _concat(call: Call) -> str:
    parts = as_type("tuple[Typed, ...]", call.args)
    texts = [cast(part, call.result, implicitly=True).sql for part in parts]
    return f"({' || '.join(texts)})"


def _concat_type(args: tuple[Typed | Body, ...]) -> pa.DataType:
    types = [arg.type for arg in args if isinstance(arg, Typed) and arg.type != NULL]
    wide = widest_of([type_.value_type for type_ in types])
    if wide is None:
        message = ", ".join(name(type_).upper() for type_ in types)
        raise Refused(f"{message} have no type in common", legal="a CAST of one of them")
    return pa.list_(wide)


def _key_cast(call: Call) -> str:
    """A key in brackets becomes what the keys of the map are."""
    map_, key = as_type("tuple[Typed, Typed]", call.args)
    if not implicit(key.type, map_.type.key_type, loose=True):
        message = f"{name(map_.type.key_type).upper()}, not {name(key.type).upper()}"
        raise Refused(f"a key of this map is {message}", at=1)
    wanted = cast(key, map_.type.key_type, implicitly=True)
    return Call((map_, wanted), call.result).filled(_VALUE)


def _item_of(args: tuple[Typed | Body, ...]) -> pa.DataType:
    (map_, _) = as_type("tuple[Typed, Typed]", args)
    return map_.type.item_type


def _field_typed(args: tuple[Typed | Body, ...]) -> pa.DataType:
    return _field(args)[1]


def _field(args: tuple[Typed | Body, ...]) -> tuple[str, pa.DataType]:
    struct, wanted = as_type("tuple[Typed, Typed]", args)
    known = [field for field in struct.type if field.name.lower() == str(wanted.value).lower()]
    if len(known) != 1:
        legal = ", ".join(field.name for field in struct.type)
        raise Refused(f"there is no field {wanted.value}", legal=legal, at=1)
    return known[0].name, known[0].type


def _field_text(call: Call) -> str:
    quoted = _field(call.args)[0].replace("'", "''")
    return f"struct_extract({call.texts[0]}, '{quoted}')"


FUNCTIONS: tuple[Function, ...] = (
    function("array", of("(T...) -> ARRAY<T>", _array), doc="An array of the arguments."),
    function(
        "size cardinality",
        of("(ARRAY<T>) -> INT", _SIZE),
        of("(MAP) -> INT", "CAST(cardinality({0}) AS INTEGER)"),
        doc="How many elements an array, or entries a map has.",
    ),
    function("array_size", of("(ARRAY<T>) -> INT", _SIZE), doc="How many elements an array has."),
    function(
        "array_append",
        of("(ARRAY<T>, T) -> ARRAY<T>", _APPEND, strict=True),
        doc="The array with one more element behind the others.",
    ),
    function(
        "array_prepend",
        of("(ARRAY<T>, T) -> ARRAY<T>", _PREPEND, strict=True),
        doc="The array with one more element before the others.",
    ),
    function(
        "array_position",
        of("(ARRAY<T>, T) -> BIGINT", _POSITION, strict=True),
        doc="Where the element is first, from 1; 0 where it is not.",
    ),
    function(
        "array_contains",
        of("(ARRAY<T>, T) -> BOOLEAN", _CONTAINS, strict=True),
        doc="Whether the element is in the array; NULL where it is not, but a NULL is.",
    ),
    function("array_max", of("(ARRAY<O>) -> O", array_sorts.MAXIMUM), doc="The greatest element."),
    function("array_min", of("(ARRAY<O>) -> O", array_sorts.MINIMUM), doc="The least element."),
    function(
        "flatten",
        of("(ARRAY<ARRAY<T>>) -> ARRAY<T>", _FLATTEN),
        doc="The elements of all arrays in the array; NULL where one of them is NULL.",
    ),
    function(
        "get",
        of("(ARRAY<T>, I) -> T", _GET),
        doc="The element at an index from 0; NULL where there is none.",
    ),
    function(
        "element_at",
        of("(ARRAY<T>, INT) -> T", _ELEMENT_AT, fails=True, strict=True),
        of("(MAP<K, V>, K) -> V", _VALUE, strict=True),
        doc="The element at an index from 1, from the end where it is negative; a map's value.",
    ),
    function(
        "try_element_at",
        of("(ARRAY<T>, INT) -> T", _TRY_ELEMENT_AT, fails=True, strict=True),
        of("(MAP<K, V>, K) -> V", _VALUE, strict=True),
        doc="The element at an index from 1, NULL where there is none; a map's value.",
    ),
    function(
        "[]",
        of("(ARRAY<T>, I) -> T", _ITEM, fails=True, strict=True),
        of("(MAP, ANY)", _key_cast, typing=_item_of),
        of("(STRUCT, STRING!)", _field_text, typing=_field_typed),
        doc="`a[0]`: the element at an index from 0; a map's value of a key; a struct's field.",
    ),
    function(
        "slice",
        of("(ARRAY<T>, INT, INT) -> ARRAY<T>", _SLICE, fails=True),
        doc="So many elements from a position, which is counted from the end where it is negative.",
    ),
    *array_sets.FUNCTIONS,
    *array_making.FUNCTIONS,
    *array_sorts.FUNCTIONS,
    *lambdas.FUNCTIONS,
    *float_vectors.FUNCTIONS,
)

_CONCAT = (of("(ARRAY, ARRAY...)", _concat, typing=_concat_type),)
MORE: dict[str, tuple[Overload, ...]] = {
    "reverse": (of("(ARRAY<T>) -> ARRAY<T>", "list_reverse({0})"),),
    "concat": _CONCAT,
    "||": _CONCAT,
}
