"""Functions of maps. No map has a key twice, and no key is NULL: what would make one raises."""

from __future__ import annotations

from typing import cast as as_type

import pyarrow as pa

from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.map_building import built
from sqlwin.functions.core.typed import Body
from sqlwin.functions.core.types import NULL, engine_name
from sqlwin.functions.nested import map_making

_KEY = "struct_extract({0}, 'key')"
_ENTRY = (_KEY, "struct_extract({0}, 'value')")
_BOTH = (_KEY, "struct_extract({0}, 'v1')", "struct_extract({0}, 'v2')")

_FILTER = "map_from_entries(list_filter(map_entries({0}), {1}))"
_VALUES = "MAP(map_keys({0}), list_transform(map_entries({0}), {1}))"
_CONTAINS = "CASE WHEN {1} IS NOT NULL THEN map_contains({0}, {1}) END"


def _transform_keys(call: Call) -> str:
    keys = call.filled("list_transform(map_entries({0}), {1})")
    if call.type(1) == NULL:  # of which no map has keys: its type has others
        keys = f"CAST({keys} AS {engine_name(pa.list_(call.result.key_type))})"
    return built(call.result, keys, f"map_values({call.texts[0]})")


def _zip_with(call: Call) -> str:
    one, other, merge = call.args
    types = [call.type(0), call.type(1)]
    row = [("key", types[0].key_type), ("v1", types[0].item_type), ("v2", types[1].item_type)]
    zipped = map_making.ZIPPED.named(types, pa.list_(pa.struct(row)))
    body = as_type(Body, merge)
    text = f"{zipped}({one.sql}, {other.sql})"
    keys = f"list_transform(__m, lambda __e: {_KEY.format('__e')})"
    bound = f"MAP({keys}, list_transform(__m, {body.sql}))"
    return f"list_apply([{text}], lambda __m: {bound})[1]"


FUNCTIONS: tuple[Function, ...] = (
    function("map_keys", of("(MAP<K, V>) -> ARRAY<K>", "map_keys({0})"), doc="All keys of a map."),
    function(
        "map_values", of("(MAP<K, V>) -> ARRAY<V>", "map_values({0})"), doc="All values of a map."
    ),
    function(
        "map_entries",
        of(
            "(MAP<K, V>)",
            "map_entries({0})",
            result=lambda of_: pa.list_(
                pa.struct([("key", of_.key_type), ("value", of_.item_type)])
            ),
        ),
        doc="An array of structs of the keys and values.",
    ),
    function(
        "map_contains_key",
        of("(MAP<K, V>, K) -> BOOLEAN", _CONTAINS, strict=True),
        doc="Whether the map has a key.",
    ),
    function(
        "map_filter",
        of("(MAP<K, V>, (K, V) => BOOLEAN) -> MAP<K, V>", _FILTER, parameters=_ENTRY),
        doc="The entries for which a lambda of key and value is true.",
    ),
    function(
        "transform_values",
        of("(MAP<K, V>, (K, V) => U) -> MAP<K, U>", _VALUES, parameters=_ENTRY),
        doc="The map with values that a lambda makes of each key and value.",
    ),
    function(
        "transform_keys",
        of("(MAP<K, V>, (K, V) => U) -> MAP<U, V>", _transform_keys, fails=True, parameters=_ENTRY),
        doc="The map with keys that a lambda makes of each key and value.",
    ),
    function(
        "map_zip_with",
        of(
            "(MAP<K, V>, MAP<K, U>, (K, V, U) => T) -> MAP<K, T>",
            _zip_with,
            parameters=_BOTH,
        ),
        doc="A map of the keys of both, with values that a lambda makes of a key's two.",
    ),
    *map_making.FUNCTIONS,
)
