"""Types as functions: `bigint(x)` is `CAST(x AS BIGINT)`."""

from __future__ import annotations

import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
)
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

_TYPES = {
    "boolean": BOOLEAN,
    "tinyint": TINYINT,
    "smallint": SMALLINT,
    "int": INT,
    "bigint": BIGINT,
    "float": FLOAT,
    "double": DOUBLE,
    "decimal": pa.decimal128(10, 0),
    "string": STRING,
    "binary": BINARY,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "timestamp_ntz": TIMESTAMP_NTZ,
}


def _cast(call: Call) -> str:
    (given,) = call.args
    assert isinstance(given, Typed)
    return cast(given, call.result).sql


def _function(name: str, type_: pa.DataType) -> Function:
    overload = of("(ANY)", _cast, result=lambda _: type_, fails=True)
    return function(name, overload, doc=f"The value as {name.upper()}.")


FUNCTIONS: tuple[Function, ...] = tuple(_function(name, type_) for name, type_ in _TYPES.items())
