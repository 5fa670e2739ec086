"""JSON in texts: read, written, and what is in them."""

from __future__ import annotations

from typing import Any
from typing import cast as as_type

import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Body, Refused, Typed
from sqlwin.functions.core.types import (
    NULL,
    STRING,
    is_list,
    is_map,
    is_nested,
    is_struct,
    name,
)
from sqlwin.functions.json import path as json_path
from sqlwin.functions.json import schema as json_schema
from sqlwin.functions.json.options import NO_ZONES, options, printable, schema
from sqlwin.functions.json.quick import by_engine
from sqlwin.functions.json.read import FROM_JSON
from sqlwin.functions.json.text import TO_JSON
from sqlwin.functions.json.time_options import FORMATS

_READING = (
    *("mode", "columnNameOfCorruptRecord", "allowSingleQuotes", "allowUnquotedControlChars"),
    *("allowNonNumericNumbers", "allowUnquotedFieldNames", "allowNumericLeadingZeros"),
    *("allowBackslashEscapingAnyCharacter", "allowComments", *FORMATS),
)
_WRITING = ("ignoreNullFields", "pretty", *FORMATS)
_INFERRING = (*_READING[2:], "primitivesAsString", "prefersDecimal")


def _to_json(call: Call) -> str:
    given = as_type(Typed, call.args[0])
    if given.type == NULL:
        return "CAST(NULL AS VARCHAR)"
    if not is_nested(given.type):
        message = f"a struct, map or array, not {name(given.type).upper()}"
        raise Refused(f"TO_JSON takes {message}", legal="TO_JSON(STRUCT(a, b))", at=0)
    chosen = options(_behind(call.args, 1), _WRITING, (*NO_ZONES, "sortKeys"), reads=False)
    wanted = cast(given, printable(given.type), implicitly=True)
    named = TO_JSON.named([wanted.type, STRING], STRING)
    return f"{named}({wanted.sql}, {literal(chosen, STRING).sql})"


def _get(call: Call) -> str:
    exact = f"{json_path.GET.named([STRING, STRING], STRING)}({{0}}, {{1}})"
    path = as_type(Typed, call.args[1]).value
    return call.filled((by_engine(path, exact) if isinstance(path, str) else None) or exact)


def _behind(args: tuple[Any, ...], at: int) -> Typed | None:
    return args[at] if len(args) > at else None


def _from_json_type(args: tuple[Typed | Body, ...]) -> pa.DataType:
    made = schema(str(as_type(Typed, args[1]).value))
    if not is_nested(made):
        raise Refused(f"FROM_JSON makes no {name(made).upper()}", legal="'a INT, b STRING'", at=1)
    _string_keys(made)
    return made


def _string_keys(type_: pa.DataType) -> None:
    if is_map(type_) and type_.key_type != STRING:
        raise Refused("keys of a map of JSON are STRINGs", legal="MAP<STRING, INT>", at=1)
    parts = list(type_) if is_struct(type_) else []
    nested = [field.type for field in parts]
    nested += [type_.value_type] if is_list(type_) else []
    nested += [type_.item_type] if is_map(type_) else []
    for part in nested:
        _string_keys(part)


def _from_json(call: Call) -> str:
    chosen = options(_behind(call.args, 2), _READING, NO_ZONES)
    named = FROM_JSON.named([STRING, STRING], call.result)
    return f"{named}({call.texts[0]}, {literal(chosen, STRING).sql})"


def _schema_of_json(call: Call) -> str:
    text = as_type(Typed, call.args[0]).value
    chosen = options(_behind(call.args, 1), _INFERRING, NO_ZONES)
    return literal(json_schema.inferred(text, chosen), STRING).sql


FUNCTIONS: tuple[Function, ...] = (
    function(
        "get_json_object",
        of("(STRING, STRING) -> STRING", _get),
        doc="What a path such as `$.a[0].b` leads to in a text of JSON.",
    ),
    function(
        "json_array_length",
        of("(STRING) -> INT", json_path.LENGTH, fails=False, strict=True),
        doc="How many elements an array of JSON has.",
    ),
    function(
        "json_object_keys",
        of("(STRING) -> ARRAY<STRING>", json_path.KEYS, fails=False, strict=True),
        doc="The keys of an object of JSON, those of the outermost.",
    ),
    function(
        "to_json",
        of("(ANY, STRING!?) -> STRING", _to_json),
        doc="A struct, map or array as a text of JSON.",
    ),
    function(
        "from_json",
        of("(STRING, STRING!, STRING!?)", _from_json, typing=_from_json_type, fails=True),
        doc="A text of JSON as a value of a schema; what does not fit is NULL.",
    ),
    function(
        "schema_of_json",
        of("(STRING!, STRING!?) -> STRING", _schema_of_json),
        doc="The schema of a constant text of JSON.",
    ),
)
