"""FORMAT_STRING as a function of the table: its values come as texts, with their types beside."""

from __future__ import annotations

import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import (
    BIGINT,
    BINARY,
    DATE,
    INT,
    NULL,
    STRING,
    is_float,
    is_nested,
    name,
)
from sqlwin.functions.core.vectors import only, vector
from sqlwin.functions.texts.format_columns import columns
from sqlwin.functions.texts.java_format import formatted
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ


@vector("formatstring")
def _format(formats: pa.Array, types: pa.Array, *values: pa.Array) -> pa.Array:
    """NULL where the format is; a value that is NULL is written so."""
    names = types[0].as_py().split(";") if len(types) else []
    one = only(formats)
    if one is not None and values:
        return columns(one, values, names)
    rows = zip(formats.to_pylist(), *(array.to_pylist() for array in values), strict=True)
    return pa.array(
        [None if row[0] is None else formatted(row[0], row[1:], names) for row in rows], STRING
    )


def _format_text(call: Call) -> str:
    """Reals as Spark's texts, dates and instants as numbers."""
    format_, *values = [arg for arg in call.args if isinstance(arg, Typed)]
    given = [_given(arg, at) for at, arg in enumerate(values, 1)]
    kinds = literal(";".join(_kind(arg.type) for arg in values), STRING).sql
    named = _format.named([STRING, STRING, *(arg.type for arg in given)], STRING)
    return f"{named}({', '.join([format_.sql, kinds, *(arg.sql for arg in given)])})"


def _kind(type_: pa.DataType) -> str:
    if type_ in (TIMESTAMP, TIMESTAMP_NTZ):
        return "bigint"
    return {DATE: "int", NULL: "string"}.get(type_, name(type_))


def _given(arg: Typed, at: int) -> Typed:
    if is_nested(arg.type) or arg.type == BINARY:
        legal = "a CAST to STRING"
        raise Refused(f"FORMAT_STRING does not take {name(arg.type).upper()}", legal, at=at)
    if arg.type == DATE:
        return Typed(f"CAST({arg.sql} - DATE '1970-01-01' AS INTEGER)", INT)
    if arg.type in (TIMESTAMP, TIMESTAMP_NTZ):
        return Typed(f"CAST(epoch_us({arg.sql}) AS BIGINT)", BIGINT)
    if is_float(arg.type):
        return cast(arg, STRING, implicitly=True)
    return arg


FUNCTIONS: tuple[Function, ...] = (
    function(
        "format_string printf",
        of("(STRING, ANY...) -> STRING", _format_text, fails=True),
        doc="Values in a format of Java's: %d, %5s, %.2f, %x and others.",
    ),
)
