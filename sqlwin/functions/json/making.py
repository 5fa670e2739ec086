"""JSON made of values: what each value is in JSON is what TO_JSON has of a struct's field.

The grammar calls JSON_OBJECT and JSON_ARRAY with what is said of NULLs first, and behind each value
whether it is JSON already, of which no string is made.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast as as_type

import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import NULL, STRING
from sqlwin.functions.core.vectors import valued
from sqlwin.functions.json.documents import NoJson, quoted, read, whole
from sqlwin.functions.json.options import printable
from sqlwin.functions.json.text import TO_JSON

JSON, ABSENT = "JSON", "ABSENT"
_WITH_NULLS = json.dumps({"ignorenullfields": "false"})


@valued("jsonquote")
def QUOTE(text: str) -> str:  # noqa: N802
    return quoted(text)


@valued("jsonunquote")
def UNQUOTE(text: str) -> str:  # noqa: N802
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    try:
        return whole(read(text))
    except NoJson:
        return text


def _text(given: Typed) -> str:
    """Of DuckDB: the JSON of a value, NULL for NULL."""
    if given.type == NULL:
        return "CAST(NULL AS VARCHAR)"
    wanted = cast(given, printable(given.type), implicitly=True)
    named = TO_JSON.named([pa.struct([("v", wanted.type)]), STRING], STRING)
    made = f"{named}(struct_pack(v := {wanted.sql}), {literal(_WITH_NULLS, STRING).sql})"
    return f"CASE WHEN {given.sql} IS NOT NULL THEN ({made})[6:-2] END"


def _value(given: Typed, kind: Typed, absent: bool) -> str:
    """NULL where it is left out."""
    made = given.sql if kind.value == JSON and given.type == STRING else _text(given)
    return made if absent else f"coalesce({made}, 'null')"


def _arguments(call: Call) -> tuple[bool, Sequence[Typed]]:
    first, *given = (as_type(Typed, arg) for arg in call.args)
    return first.value == ABSENT, given


def _object(call: Call) -> str:
    absent, given = _arguments(call)
    members = []
    for key, value, kind in zip(given[::3], given[1::3], given[2::3], strict=True):
        if key.type != STRING or not isinstance(key.value, str):
            raise Refused("a key of JSON_OBJECT is a constant text", "JSON_OBJECT('id' VALUE id)")
        name = literal(quoted(key.value) + ":", STRING).sql
        members.append(f"{name} || {_value(value, kind, absent)}")
    return _joined("{", members, "}")


def _array(call: Call) -> str:
    absent, given = _arguments(call)
    pairs = zip(given[::2], given[1::2], strict=True)
    return _joined("[", [_value(value, kind, absent) for value, kind in pairs], "]")


def _joined(opening: str, parts: Sequence[str], closing: str) -> str:
    """concat_ws passes over NULLs."""
    within = f"concat_ws(',', {', '.join(parts)})" if parts else "''"
    return f"('{opening}' || {within} || '{closing}')"


FUNCTIONS: tuple[Function, ...] = (
    function(
        "json_string",
        of("(ANY) -> STRING", lambda call: _text(as_type(Typed, call.args[0]))),
        doc="Any value as JSON: a text with its quotes; an array, map or struct as TO_JSON has it.",
    ),
    function("json_quote", of("(STRING) -> STRING", QUOTE, fails=False), doc="A text as JSON."),
    function(
        "json_unquote",
        of("(STRING) -> STRING", UNQUOTE, fails=False),
        doc="The text of a string of JSON; any other text as it is.",
    ),
    function(
        "json_object json_build_object jsonb_build_object",
        of("(ANY...) -> STRING", _object),
        doc="`([KEY] 'a' VALUE x [FORMAT JSON], …)` or `('a', x, …)` as JSON, then `NULL ON NULL` "
        "or `ABSENT ON NULL`; what makes JSON itself is not quoted.",
    ),
    function(
        "json_array json_build_array jsonb_build_array",
        of("(ANY...) -> STRING", _array),
        doc="Its arguments as an array of JSON, then `ABSENT ON NULL` or `NULL ON NULL`.",
    ),
)
