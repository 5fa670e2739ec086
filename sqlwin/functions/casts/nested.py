"""Casts of arrays, maps and structs: of what they hold, and to text.

As text they are `[1, 2]`, `{a -> 1}` and `{1, b}`. Types are brought together part by part;
fields of structs by their place, whatever their names.
"""

from __future__ import annotations

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.casts.casting import Casting, How
from sqlwin.functions.core.map_building import built
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import NULL, STRING, engine_name, name
from sqlwin.functions.core.vectors import vector
from sqlwin.functions.core.widening import implicit


def _made(cast: Casting, sql: str, *parts: Typed) -> Typed:
    fails = cast.given.fails or any(part.fails for part in parts)
    return Typed(sql, cast.to, fails=fails)


def _inner(cast: Casting, text: str, of: pa.DataType, to: pa.DataType) -> Typed:
    return cast.inner(Typed(text, of), to)


def _array(cast: Casting) -> Typed:
    of, to = cast.given.type.value_type, cast.to.value_type
    if of == to:  # the names of items alone differ
        return _made(cast, cast.given.sql)
    item = _inner(cast, "__c", of, to)
    return _made(cast, f"list_transform({cast.given.sql}, lambda __c: {item.sql})", item)


def _map(cast: Casting) -> Typed:
    of, to = cast.given.type, cast.to
    key = _inner(cast, "__c", of.key_type, to.key_type)
    item = _inner(cast, "__c", of.item_type, to.item_type)
    if cast.safe and to.key_type != STRING and not implicit(of.key_type, to.key_type):
        raise Refused(f"a key of {name(to).upper()} may be NULL", legal="CAST")
    keys = f"list_transform(map_keys(__n), lambda __c: {key.sql})"
    items = f"list_transform(map_values(__n), lambda __c: {item.sql})"
    made = built(to, keys, items) if of.key_type != to.key_type else f"MAP({keys}, {items})"
    return _made(cast, f"list_apply([{cast.given.sql}], lambda __n: {made})[1]", key, item)


def _struct(cast: Casting) -> Typed:
    of, to = cast.given.type, cast.to
    if of.num_fields != to.num_fields:
        raise Refused(f"{name(of).upper()} cannot be cast to {name(to).upper()}")
    fields = [_inner(cast, _field(of, at), of[at].type, to[at].type) for at in range(of.num_fields)]
    parts = (f"{_quoted(f.name)} := {part.sql}" for f, part in zip(to, fields, strict=True))
    made = f"CASE WHEN __n IS NOT NULL THEN struct_pack({', '.join(parts)}) END"
    return _made(cast, f"list_apply([{cast.given.sql}], lambda __n: {made})[1]", *fields)


def _field(struct: pa.DataType, at: int) -> str:
    return f"struct_extract(__n, '{struct[at].name.replace(chr(39), chr(39) * 2)}')"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@vector("printed")
def _printed(parts: pa.Array, opening: pa.Array, closing: pa.Array) -> pa.Array:
    """An array's texts between brackets, with `null` for a NULL."""
    if not len(parts):
        return pa.array([], STRING)
    offsets = parts.offsets
    known = pc.fill_null(parts.values[offsets[0].as_py() : offsets[-1].as_py()], "null")
    texts = pc.binary_join(pa.ListArray.from_arrays(pc.subtract(offsets, offsets[0]), known), ", ")
    made = pc.binary_join_element_wise(opening, texts, closing, "")
    return pc.if_else(parts.is_valid(), made, pa.scalar(None, STRING))


def _text(cast: Casting, parts: str, brackets: str, *made: Typed) -> Typed:
    named = _printed.named([pa.list_(STRING), STRING, STRING], STRING)
    return _made(cast, f"{named}({parts}, '{brackets[0]}', '{brackets[1]}')", *made)


def _array_text(cast: Casting) -> Typed:
    item = _as_text(cast, "__c", cast.given.type.value_type)
    parts = f"list_transform({cast.given.sql}, lambda __c: {item.sql})"
    return _text(cast, parts, "[]", item)


def _map_text(cast: Casting) -> Typed:
    of = cast.given.type
    key = _as_text(cast, "struct_extract(__c, 'key')", of.key_type)
    item = _as_text(cast, "struct_extract(__c, 'value')", of.item_type)
    entry = f"{key.sql} || ' ->' || coalesce(' ' || {item.sql}, ' null')"
    parts = f"list_transform(map_entries({cast.given.sql}), lambda __c: {entry})"
    return _text(cast, parts, "{}", key, item)


def _struct_text(cast: Casting) -> Typed:
    of = cast.given.type
    fields = [_as_text(cast, _field(of, at), of[at].type) for at in range(of.num_fields)]
    listed = f"list_value({', '.join(field.sql for field in fields)})"
    row = f"CASE WHEN __n IS NOT NULL THEN {listed} END"
    parts = f"list_apply([{cast.given.sql}], lambda __n: {row})[1]"
    return _text(cast, parts, "{}", *fields)


def _as_text(cast: Casting, text: str, of: pa.DataType) -> Typed:
    if of == NULL:
        return Typed(f"CAST(NULL AS {engine_name(STRING)})", STRING)
    return _inner(cast, text, of, STRING)


CASTS: dict[tuple[str, str], How] = {
    ("array", "array"): _array,
    ("map", "map"): _map,
    ("struct", "struct"): _struct,
    ("array", "string"): _array_text,
    ("map", "string"): _map_text,
    ("struct", "string"): _struct_text,
}
