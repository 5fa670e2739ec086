"""Maps that are made: of arguments, arrays, entries, other maps, or texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from typing import cast as as_type

import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.map_building import ENTRIES, built
from sqlwin.functions.core.nested_values import by_rows, identity, made, values
from sqlwin.functions.core.typed import Body, Refused, Typed
from sqlwin.functions.core.types import NULL, STRING, engine_name, is_float, is_map, is_struct, name
from sqlwin.functions.core.vectors import vector
from sqlwin.functions.core.widening import widest_of
from sqlwin.functions.regex.matching import split


def _map_type(args: tuple[Typed | Body, ...]) -> pa.DataType:
    return _of_pairs([arg.type for arg in args if isinstance(arg, Typed)])


def _of_pairs(types: Sequence[pa.DataType]) -> pa.DataType:
    found = []
    for part in (types[::2], types[1::2]):
        wide = widest_of(list(part))
        if wide is None:
            message = ", ".join(dict.fromkeys(name(type_).upper() for type_ in part))
            raise Refused(f"{message} have no type in common", legal="a CAST of one of them")
        found.append(wide)
    return map_of(found[0], found[1])


def map_of(key: pa.DataType, item: pa.DataType) -> pa.DataType:
    """Arrow has no keys of VOID: they are STRINGs, of which there are none."""
    _be_key(key)
    return pa.map_(STRING if key == NULL else key, item)


def _be_key(type_: pa.DataType) -> None:
    if is_map(type_):
        raise Refused("a map is no key of a map")


def _map(call: Call) -> str:
    parts = []
    for first, wanted in enumerate((call.result.key_type, call.result.item_type)):
        given = as_type("tuple[Typed, ...]", call.args[first::2])
        parts.append([cast(each, wanted, implicitly=True) for each in given])
    keys, items = parts
    if not keys:
        return f"CAST(MAP() AS {call.engine_type})"
    return built(call.result, _array(keys), _array(items))


def _array(parts: Sequence[Typed]) -> str:
    return f"list_value({', '.join(part.sql for part in parts)})"


PUTTING = ("map", "map_from_entries", "map_concat")
"""Of constants, Spark puts entries into these one by one before there is a row, without -0.0."""


def unsigned(made: Typed) -> Typed:
    """A map whose keys have no -0.0."""
    if not is_map(made.type) or not is_float(made.type.key_type):
        return made
    key = "lambda __k: CASE WHEN __k = 0 THEN 0 ELSE __k END"
    keys = f"list_transform(map_keys(__m), {key})"
    body = built(made.type, keys, "map_values(__m)")
    return replace(made, sql=f"list_apply([{made.sql}], lambda __m: {body})[1]")


def _arrays_type(keys: pa.DataType, items: pa.DataType) -> pa.DataType:
    return map_of(keys.value_type, items.value_type)


def _from_arrays(call: Call) -> str:
    """Of keys that are all NULL the map has texts, as Arrow has none of no type."""
    keys, items = call.texts
    return built(call.result, f"CAST({keys} AS {engine_name(call.result.key_type)}[])", items)


def _entries_type(array: pa.DataType) -> pa.DataType:
    item = array.value_type
    if not is_struct(item) or item.num_fields != 2:
        raise Refused("MAP_FROM_ENTRIES takes an array of structs of two fields")
    return map_of(item[0].type, item[1].type)


@vector("mapfromentries", typed=True)
def _from_entries(result: pa.DataType, entries: pa.Array) -> pa.Array:
    """NULL where one of the entries is."""
    key, item = (field.name for field in entries.type.value_type)
    rows = [row if row is None or None not in row else None for row in values(entries)]
    keys = [None if row is None else [each[key] for each in row] for row in rows]
    items = [None if row is None else [each[item] for each in row] for row in rows]
    parts = (made(keys, pa.list_(result.key_type)), made(items, pa.list_(result.item_type)))
    return ENTRIES.compute(result, *parts)


def _concat(call: Call) -> str:
    if not call.args:
        return f"CAST(MAP() AS {call.engine_type})"
    parts = [
        " || ".join(f"map_{part}({text})" for text in call.texts) for part in ("keys", "values")
    ]
    return built(call.result, *parts)


@vector("mapzipped", typed=True)
def ZIPPED(result: pa.DataType, one: pa.Array, other: pa.Array) -> pa.Array:  # noqa: N802
    """Structs of the keys of both maps, and of what each has of it."""
    same = identity(one.type.key_type)

    def zipped(mine: list[Any], yours: list[Any]) -> list[dict[str, Any]]:
        found = {same(key): {"key": key, "v1": value, "v2": None} for key, value in mine}
        for key, value in yours:
            found.setdefault(same(key), {"key": key, "v1": None})["v2"] = value
        return list(found.values())

    return by_rows(zipped, one, other, type=result)


@vector("strtomap", typed=True)
def _from_text(
    result: pa.DataType, texts: pa.Array, pairs: pa.Array, between: pa.Array
) -> pa.Array:
    """pairs, between: Java's regular expressions, of what is between pairs, and in each."""

    def entries(text: str, pair: str, value: str) -> list[tuple[str, str | None]]:
        found: dict[str, str | None] = {}
        for part in split(text, pair, -1):
            key, *rest = split(part, value, 2)
            if key in found:
                raise ValueError(f"[DUPLICATED_MAP_KEY] Duplicate map key {key} was found")
            found[key] = rest[0] if rest else None
        return list(found.items())

    return by_rows(entries, texts, pairs, between, type=result)


FUNCTIONS: tuple[Function, ...] = (
    function(
        "map",
        of("()", _map, typing=_map_type),
        *(
            of(f"({', '.join(['ANY, ANY'] * n)})", _map, typing=_map_type, fails=True)
            for n in range(1, 101)
        ),
        doc="A map of keys and values, in turns.",
    ),
    function(
        "map_from_arrays",
        of("(ARRAY<K>, ARRAY<V>)", _from_arrays, result=_arrays_type, fails=True),
        doc="A map of an array of keys and one of values.",
    ),
    function(
        "map_from_entries",
        of("(ARRAY<T>)", _from_entries, result=_entries_type),
        doc="A map of an array of structs of two fields: a key and a value.",
    ),
    function(
        "map_concat",
        of("() -> MAP<STRING, STRING>", _concat),
        of("(MAP<K, V>, MAP<K, V>...) -> MAP<K, V>", _concat, fails=True),
        doc="All entries of the maps.",
    ),
    function(
        "str_to_map",
        *(
            of(f"(STRING{', STRING' * more}) -> MAP<STRING, STRING>", how, fails=True)
            for more, how in (
                (0, lambda call: _told(call, "','", "':'")),
                (1, lambda call: _told(call, "':'")),
                (2, lambda call: _told(call)),
            )
        ),
        doc="A map of a text: pairs between commas, keys and values between colons, or others.",
    ),
)


def _told(call: Call, *more: str) -> str:
    named = _from_text.named([STRING] * 3, call.result)
    return f"{named}({', '.join((*call.texts, *more))})"
