"""One form for a value, whoever computed it: what JSON can hold, told apart exactly.

| type | form |
|---|---|
| BOOLEAN, integers | as they are |
| FLOAT, DOUBLE | the shortest text that reads back the same, `"NaN"`, `"-0.0"`, `"inf"` |
| DECIMAL | its digits with the scale, `"1.50"` |
| STRING | as it is; `{"bytes": …}` where it is no UTF-8 |
| BINARY | `"c3a9"` |
| DATE, TIMESTAMP | days, microseconds since 1970 |
| intervals | months; microseconds; `[months, days, microseconds]` |
| ARRAY, STRUCT | a list |
| MAP | a list of pairs, ordered by the keys' forms |

A row that raises has `{"!": Spark's error class}` instead.

>>> canonical(pa.scalar(0.1, pa.float32())), canonical(pa.scalar([1.0, None]))
('0.1', ['1.0', None])
>>> decoded([4607182418800017408, None], {"array": "double"})
['1.0', None]
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

Json = Any
"""What json.loads gives."""


def double(value: float) -> str:
    return "NaN" if value != value else repr(float(value))


def single(value: float) -> str:
    return "NaN" if value != value else str(np.float32(value))


def canonical(value: pa.Scalar, type_: pa.DataType | None = None) -> Json:
    """The form of an Arrow value. type_: what it stands for, where a list of pairs is a map."""
    if not value.is_valid:
        return None
    type_ = type_ or value.type
    for known, form in _FORMS:
        if known(type_):
            return form(value)
    return _nested(value, type_)


def _nested(value: pa.Scalar, type_: pa.DataType) -> Json:
    if pa.types.is_map(type_):
        pairs = ((each["key"], each["value"]) for each in value.values)
        forms = [[canonical(k, type_.key_type), canonical(v, type_.item_type)] for k, v in pairs]
        return ordered(forms)
    if pa.types.is_struct(type_):
        return [canonical(value[at], type_[at].type) for at in range(type_.num_fields)]
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return [canonical(each, type_.value_type) for each in value.values]
    return str(value.as_py())


def ordered(pairs: list[Json]) -> list[Json]:
    return sorted(pairs, key=json.dumps)


def _plain(value: pa.Scalar) -> Json:
    return value.as_py()


_FORMS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Scalar], Json]], ...] = (
    (pa.types.is_boolean, _plain),
    (pa.types.is_integer, _plain),
    (pa.types.is_float32, lambda value: single(value.as_py())),
    (pa.types.is_float64, lambda value: double(value.as_py())),
    (pa.types.is_decimal, lambda value: f"{value.as_py():f}"),
    (pa.types.is_string, _plain),
    (pa.types.is_large_string, _plain),
    (pa.types.is_binary, lambda value: value.as_py().hex()),
    (pa.types.is_large_binary, lambda value: value.as_py().hex()),
    (pa.types.is_date, lambda value: value.cast(pa.int32()).as_py()),
    (pa.types.is_timestamp, lambda value: value.cast(pa.int64()).as_py()),
    (pa.types.is_duration, lambda value: value.cast(pa.int64()).as_py()),
    (pa.types.is_interval, lambda value: [*value.as_py()[:2], value.as_py()[2] // 1000]),
)


def decoded(value: Json, type_: Json) -> Json:
    """The form of what Evaluator.java gives: floats come as bits, maps in any order.

    type_: Spark's, as its JSON.
    """
    if value is None or isinstance(value, dict):
        return value
    if type_ in ("float", "double"):
        return _from_bits(value, type_)
    if not isinstance(type_, dict):
        return value
    if "array" in type_:
        return [decoded(each, type_["array"]) for each in value]
    if "map" in type_:
        key, of = type_["map"]
        return ordered([[decoded(k, key), decoded(v, of)] for k, v in value])
    return [decoded(each, of) for each, of in zip(value, type_["struct"], strict=True)]


def _from_bits(bits: int, type_: str) -> str:
    if type_ == "float":
        return single(struct.unpack("<f", struct.pack("<i", bits))[0])
    return double(struct.unpack("<d", struct.pack("<q", bits))[0])


def shape(type_: Json) -> Json:
    """What `decoded` needs of a type in Spark's own JSON."""
    if isinstance(type_, str):
        return type_
    if type_["type"] == "array":
        return {"array": shape(type_["elementType"])}
    if type_["type"] == "map":
        return {"map": [shape(type_["keyType"]), shape(type_["valueType"])]}
    if type_["type"] == "struct":
        return {"struct": [shape(field["type"]) for field in type_["fields"]]}
    return str(type_["type"])


_NAMES = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_int8, "tinyint"),
    (pa.types.is_int16, "smallint"),
    (pa.types.is_int32, "int"),
    (pa.types.is_int64, "bigint"),
    (pa.types.is_float32, "float"),
    (pa.types.is_float64, "double"),
    (pa.types.is_string, "string"),
    (pa.types.is_large_string, "string"),
    (pa.types.is_binary, "binary"),
    (pa.types.is_large_binary, "binary"),
    (pa.types.is_date, "date"),
    (lambda type_: type_ == pa.timestamp("us"), "timestamp_ntz"),
    (pa.types.is_timestamp, "timestamp"),
    (pa.types.is_null, "void"),
)


def type_name(type_: pa.DataType) -> str:
    """Spark's simple name of an Arrow type: `array<struct<a:int>>`."""
    if pa.types.is_decimal(type_):
        return f"decimal({type_.precision},{type_.scale})"
    if pa.types.is_map(type_):
        return f"map<{type_name(type_.key_type)},{type_name(type_.item_type)}>"
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return f"array<{type_name(type_.value_type)}>"
    if pa.types.is_struct(type_):
        return f"struct<{','.join(f'{field.name}:{type_name(field.type)}' for field in type_)}>"
    return next((name for known, name in _NAMES if known(type_)), str(type_))
