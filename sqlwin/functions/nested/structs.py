"""Structs and their fields."""

from __future__ import annotations

import pyarrow as pa

from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.typed import Body, Refused, Typed


def _struct_type(args: tuple[Typed | Body, ...]) -> pa.DataType:
    names = [_named(arg, at) for at, arg in list(enumerate(args))[::2]]
    if len(set(map(str.lower, names))) < len(names):
        raise Refused("two fields of a struct have one name", legal="other names for them")
    types = [arg.type for arg in args[1::2] if isinstance(arg, Typed)]
    return pa.struct(list(zip(names, types, strict=True)))


def _named(arg: Typed | Body, at: int) -> str:
    value = arg.value if isinstance(arg, Typed) else None
    if not isinstance(value, str):
        raise Refused("a field's name is a text", legal="NAMED_STRUCT('a', 1)", at=at)
    return value


def _struct(call: Call) -> str:
    fields = zip(call.result, call.texts[1::2], strict=True)
    message = ", ".join(f"{_quoted(field.name)} := {text}" for field, text in fields)
    return f"struct_pack({message})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


MOST = 100
"""Fields of a struct that an expression makes."""

FUNCTIONS: tuple[Function, ...] = (
    function(
        "named_struct struct",
        *(
            of(f"({', '.join(['STRING!, ANY'] * n)})", _struct, typing=_struct_type)
            for n in range(1, MOST + 1)
        ),
        doc="A struct of names and values, or of values with the names they have.",
    ),
)
