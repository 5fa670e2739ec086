"""Options of functions that read and write texts, and schemas given as texts: constants both."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

import pyarrow as pa

from sqlwin.functions.typed import Body, Refused, Typed
from sqlwin.functions.types import is_list, is_map, is_struct
from sqlwin.schema import type_of

_NOT_NULL = re.compile(r"\s+NOT\s+NULL", re.IGNORECASE)
_COMMENT = re.compile(r"\s+COMMENT\s+'(?:[^'\\]|\\.)*'", re.IGNORECASE)
_JSON_NAMES = {
    "integer": "INT",
    "long": "BIGINT",
    "short": "SMALLINT",
    "byte": "TINYINT",
    "null": "VOID",
}


def options(arg: Typed | Body | None, known: Collection[str], never: Collection[str] = ()) -> str:
    """Checked, as the text of a JSON object with names in lower case. never: those of Spark that
    are not supported."""
    if arg is None:
        return "{}"
    assert isinstance(arg, Typed)
    try:
        given = json.loads(str(arg.value))
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise Refused("options are a map of constant texts", legal="MAP('mode', 'PERMISSIVE')")
    chosen = {str(name).lower(): str(value) for name, value in given.items()}
    for name in chosen:
        if name in map(str.lower, never):
            raise Refused(f"the option {name} is not supported", legal=", ".join(sorted(known)))
    return json.dumps(chosen)


def schema(text: str) -> pa.DataType:
    """`a INT, b STRING`, `ARRAY<INT>`, or Spark's own JSON of a type. Refused where it is none.

    >>> str(schema("a INT NOT NULL, b STRING"))
    'struct<a: int32, b: string>'
    >>> str(schema('{"type": "array", "elementType": "long"}'))
    'list<item: int64>'
    """
    found = _of_json(text) if text.lstrip().startswith(("{", '"')) else _of_ddl(text)
    if found is None or _has_twice(found):
        raise Refused(f"{text!r} is no schema", legal="'a INT, b ARRAY<STRING>'")
    return found


def _has_twice(type_: pa.DataType) -> bool:
    """Whether a struct in it has a name twice."""
    if is_struct(type_):
        names = {field.name.lower() for field in type_}
        return len(names) < type_.num_fields or any(_has_twice(field.type) for field in type_)
    if is_list(type_):
        return _has_twice(type_.value_type)
    return is_map(type_) and _has_twice(type_.item_type)


def _of_ddl(text: str) -> pa.DataType | None:
    plain = _COMMENT.sub("", _NOT_NULL.sub("", text))
    return type_of(plain, maps=True) or type_of(f"STRUCT<{plain}>", maps=True)


def _of_json(text: str) -> pa.DataType | None:
    try:
        return _of_parts(json.loads(text))
    except (ValueError, KeyError, TypeError):
        return None


def _of_parts(parts: Any) -> pa.DataType | None:
    if isinstance(parts, str):
        return type_of(_JSON_NAMES.get(parts, parts))
    if parts["type"] == "struct":
        fields = [(field["name"], _of_parts(field["type"])) for field in parts["fields"]]
        return None if any(type_ is None for _, type_ in fields) else pa.struct(fields)
    if parts["type"] == "array":
        item = _of_parts(parts["elementType"])
        return None if item is None else pa.list_(item)
    key, item = _of_parts(parts["keyType"]), _of_parts(parts["valueType"])
    return None if key is None or item is None else pa.map_(key, item)
