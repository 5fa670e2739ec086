"""The schema of Avro that rows are written by, where none is given: each field may be null.

>>> fields = schema_of(pl.DataFrame({"n": [1]}), "my-topic")["fields"]
>>> fields
[{'name': 'n', 'type': ['null', 'long'], 'default': None}]
"""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from sqlwin.errors import QueryError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPES: dict[type[pl.DataType], str] = {
    **dict.fromkeys((pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16), "int"),
    **dict.fromkeys((pl.Int64, pl.UInt32), "long"),
    pl.Float32: "float",
    pl.Float64: "double",
    pl.String: "string",
    pl.Boolean: "boolean",
    pl.Binary: "bytes",
}


def schema_of(rows: pl.DataFrame, topic: str) -> dict[str, Any]:
    """QueryError for a column that Avro has no name or no type for."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", topic)
    return _record(rows.schema, name if _NAME.fullmatch(name) else f"_{name}")


def _record(columns: Any, name: str) -> dict[str, Any]:
    for column in columns:
        if not _NAME.fullmatch(column):
            legal = "letters, digits and _: SELECT … AS name"
            raise QueryError(f"Avro has no field {column!r}", legal=legal)
    fields = [
        {"name": column, "type": ["null", _type(dtype, f"{name}_{column}")], "default": None}
        for column, dtype in columns.items()
    ]
    return {"type": "record", "name": name, "fields": fields}


def _type(dtype: pl.DataType, name: str) -> Any:
    if isinstance(dtype, pl.Datetime):
        local = "local-" if dtype.time_zone is None else ""
        return {"type": "long", "logicalType": f"{local}timestamp-micros"}
    if isinstance(dtype, pl.Date):
        return {"type": "int", "logicalType": "date"}
    if isinstance(dtype, pl.Decimal):
        scale = {"precision": dtype.precision or 38, "scale": dtype.scale}
        return {"type": "bytes", "logicalType": "decimal", **scale}
    if isinstance(dtype, pl.List | pl.Array):
        return {"type": "array", "items": ["null", _type(dtype.inner, name)]}  # type: ignore[arg-type]
    if isinstance(dtype, pl.Struct):
        return _record({field.name: field.dtype for field in dtype.fields}, name)
    known = _TYPES.get(type(dtype))
    if known is None:
        raise QueryError(f"Avro has no type for {dtype}", legal="a column of another type: CAST")
    return known
