"""Options of functions that read and write texts, and schemas given as texts: constants both."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

import pyarrow as pa

from sqlwin.functions.core.typed import Body, Refused, Typed
from sqlwin.functions.core.types import (
    BINARY,
    STRING,
    is_interval,
    is_list,
    is_map,
    is_nested,
    is_struct,
    name,
)
from sqlwin.functions.json.time_options import checked
from sqlwin.functions.never import why_type
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


NO_ZONES = (
    *("timeZone", "locale", "inferTimestamp"),
    "enableDateTimeParsingFallback",
)
"""Options of Spark that are not supported: times are in UTC."""
_MODES = ("PERMISSIVE", "FAILFAST")


def options(
    arg: Typed | Body | None,
    known: Collection[str],
    never: Collection[str] = (),
    reads: bool = True,
) -> str:
    """Checked, as the text of a JSON object with names in lower case. never: those of Spark that
    are not supported. reads: texts are read, not written."""
    if arg is None:
        return "{}"
    assert isinstance(arg, Typed)
    try:
        given = json.loads(str(arg.value))
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise Refused("options are a map of constant texts", legal="MAP('mode', 'PERMISSIVE')")
    chosen = {str(key).lower(): str(value) for key, value in given.items()}
    for name_ in chosen:
        if name_ in map(str.lower, never):
            raise Refused(f"the option {name_} is not supported", legal=", ".join(sorted(known)))
    if chosen.get("mode", "PERMISSIVE").upper() not in _MODES:
        raise Refused(f"there is no mode {chosen['mode']} here", legal=" or ".join(_MODES))
    checked(chosen, reads)
    return json.dumps(chosen)


_INTERVAL = re.compile(r"\bINTERVAL\s+(?:YEAR|MONTH|DAY|HOUR|MINUTE|SECOND)\b", re.I)


def schema(text: str) -> pa.DataType:
    """`a INT, b STRING`, `ARRAY<INT>`, or Spark's own JSON of a type. Refused where it is none.

    >>> str(schema("a INT NOT NULL, b STRING"))
    'struct<a: int32, b: string>'
    >>> str(schema('{"type": "array", "elementType": "long"}'))
    'list<item: int64>'
    """
    found = _of_json(text) if text.lstrip().startswith(("{", '"')) else _of_ddl(text)
    if found is None or _has_twice(found):
        never = why_type(text) if found is None else ""
        if _INTERVAL.search(text):
            never = "an interval is read as a STRING, of which a CAST makes one"
        message = f"{text!r} is no schema" + (f": {never}" if never else "")
        raise Refused(message, legal="'a INT, b ARRAY<STRING>'")
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


def printable(type_: pa.DataType, key: bool = False) -> pa.DataType:
    """What is written as JSON: an interval as its text. Refused for keys that have no text."""
    if is_interval(type_):
        return STRING
    if key and (is_nested(type_) or type_ == BINARY):
        raise Refused(f"{name(type_).upper()} is no key of JSON", legal="a map with other keys")
    if is_list(type_):
        return pa.list_(printable(type_.value_type))
    if is_map(type_):
        return pa.map_(printable(type_.key_type, key=True), printable(type_.item_type))
    if is_struct(type_):
        return pa.struct([(field.name, printable(field.type)) for field in type_])
    return type_
