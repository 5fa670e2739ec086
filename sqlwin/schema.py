"""Columns, their types, and the columns sqlwin adds.

A type is an Arrow type; SQL has its own name for each. Added columns begin
with two underscores, and no column of a user may.

| column       | type    | what it is |
|--------------|---------|------------|
| `__ts`       | int64   | event time, microseconds UTC |
| `__part`     | int32   | partition of the source |
| `__seq`      | int64   | position within the partition; ties of `__ts` go by it |
| `__op`       | string  | `+I -U +U -D`, a changelog's row kinds |
| `__emit`     | string  | `early full late` |
| `__revision` | int32   | 0 for the first emission of a `__row_key` |
| `__row_key`  | string  | which window, or which row, was emitted |
| `__weight`   | int8    | +1: inserted; -1: retracted; only where rows may be retracted |
"""

from __future__ import annotations

import re
from dataclasses import field

import pyarrow as pa

from sqlwin.added import ADDED
from sqlwin.lazy_dataclass import dataclass

TS, PART, SEQ = "__ts", "__part", "__seq"
OP, EMIT, REVISION, ROW_KEY = "__op", "__emit", "__revision", "__row_key"
WEIGHT = "__weight"
POSITION = (TS, PART, SEQ)
CHANGE = (OP, EMIT, REVISION, ROW_KEY)
CHANGELOG_NAMES = {OP: "op", EMIT: "emit", REVISION: "revision", ROW_KEY: "row_key"}
"""What they are called in results."""
RESERVED = "__"

TIMESTAMP = pa.timestamp("us", tz="UTC")
TIMESTAMP_NTZ = pa.timestamp("us")
"""What a clock shows, of no zone, and so no instant."""

_NAMES: dict[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "STRING": pa.string(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIMESTAMP": TIMESTAMP,
    "TIMESTAMP_NTZ": TIMESTAMP_NTZ,
}
_ALIASES = {
    "BOOL": "BOOLEAN",
    "INTEGER": "INT",
    "LONG": "BIGINT",
    "REAL": "FLOAT",
    "VARCHAR": "STRING",
    "TEXT": "STRING",
    "CHAR": "STRING",
    "JSON": "STRING",
    "JSONB": "STRING",
    "BYTES": "BINARY",
    "TIMESTAMP_LTZ": "TIMESTAMP",
    "TIMESTAMPTZ": "TIMESTAMP",
}
DECIMAL = ("DECIMAL", "NUMERIC", "DEC")
"""Names of the type of decimal numbers."""


@dataclass(frozen=True)
class Column:
    """A name and an Arrow type. zone: by whose clocks texts and times without an offset are read,
    in a column of a stream that holds TIMESTAMPs."""

    name: str
    type: pa.DataType
    zone: str = field(default="UTC", repr=False, compare=False, metadata=ADDED)


Schema = tuple[Column, ...]


@dataclass(frozen=True)
class Order:
    """A column that something is ordered by; ties go by position. Defaults as in Spark SQL."""

    column: str
    descending: bool = False
    nulls_last: bool = False


def type_named(name: str, precision: int | None = None, scale: int = 0) -> pa.DataType | None:
    """The Arrow type of a SQL type name, None where there is none."""
    upper = name.upper()
    if upper in DECIMAL:
        return pa.decimal128(10 if precision is None else precision, scale)
    return _NAMES.get(_ALIASES.get(upper, upper))


def type_of(text: str, maps: bool = False) -> pa.DataType | None:
    """The Arrow type of a whole SQL type, nested ones too; None where it is none.

    maps: MAP<…>, which no column of a table is, but a value within an expression.

    >>> str(type_of("ARRAY<STRUCT<name: STRING, price DECIMAL(10, 2)>>"))
    'list<item: struct<name: string, price: decimal128(10, 2)>>'
    >>> type_of("ARRAY<STRING") is type_of("POINT") is None
    True
    """
    found = re.fullmatch(r"\s*(\w+)\s*(?:<(.*)>|\((.*)\))?\s*", text, re.DOTALL)
    if found is None:
        return None
    name, inner, digits = found.groups()
    if inner is not None:
        return _nested(name.upper(), split_types(inner), maps)
    if digits is None:
        return type_named(name)
    if not re.fullmatch(r"\s*\d+\s*(,\s*\d+\s*)?", digits):
        return None
    precision, *scale = (int(digit) for digit in digits.split(","))
    known = 0 < precision <= 38 and all(digit <= precision for digit in scale)
    return type_named(name, precision, *scale) if known else None


_FIELD = r"\s*(?:`([^`]+)`|(\w+))(?:\s*:|\s)(.*)"


def _nested(name: str, parts: list[str], maps: bool) -> pa.DataType | None:
    if name == "ARRAY" and len(parts) == 1:
        item = type_of(parts[0], maps)
        return None if item is None else pa.list_(item)
    if name == "MAP" and len(parts) == 2 and maps:
        key, value = (type_of(part, maps) for part in parts)
        known = key is not None and value is not None and not pa.types.is_map(key)
        return pa.map_(key, value) if known else None
    if name != "STRUCT":
        return None
    fields = [re.fullmatch(_FIELD, part, re.DOTALL) for part in parts]
    types = [(f[1] or f[2], type_of(f[3], maps)) for f in fields if f is not None]
    whole = len(types) == len(parts) and all(type_ is not None for _, type_ in types)
    return pa.struct(types) if whole else None


def split_types(text: str) -> list[str]:
    """A list of types, or of fields, cut at the commas that stand in no bracket and no quotes.

    >>> split_types("a INT COMMENT 'x, y', b MAP<STRING, INT>")
    ["a INT COMMENT 'x, y'", ' b MAP<STRING, INT>']
    """
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if letter in "'\"`" and quote in ("", letter):
            quote = "" if quote else letter
        if not quote:
            depth += (letter in "<([") - (letter in ">)]")
        if letter == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def type_name(type_: pa.DataType) -> str:
    """SQL's name of an Arrow type.

    >>> type_name(pa.list_(pa.int64())), type_name(pa.struct([("a", pa.string())]))
    ('ARRAY<BIGINT>', 'STRUCT<a: STRING>')
    """
    if pa.types.is_decimal(type_):
        return f"DECIMAL({type_.precision}, {type_.scale})"
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return f"ARRAY<{type_name(type_.value_type)}>"
    if pa.types.is_struct(type_):
        return f"STRUCT<{', '.join(f'{field.name}: {type_name(field.type)}' for field in type_)}>"
    if pa.types.is_map(type_):
        return f"MAP<{type_name(type_.key_type)}, {type_name(type_.item_type)}>"
    return next((name for name, known in _NAMES.items() if known == type_), str(type_).upper())


def a_type(type_: pa.DataType) -> str:
    """With its article.

    >>> a_type(pa.int32()), a_type(pa.int64()), a_type(pa.list_(pa.int64()))
    ('an INT', 'a BIGINT', 'an ARRAY<BIGINT>')
    """
    return with_article(type_name(type_))


def with_article(name: str) -> str:
    return f"an {name}" if name[:1] in "AEIO" else f"a {name}"


def type_names() -> tuple[str, ...]:
    """Every SQL type name, for messages."""
    return (*_NAMES, "DECIMAL(p, s)")


def type_aliases(name: str) -> tuple[str, ...]:
    """Other names of a SQL type.

    >>> type_aliases("INT"), type_aliases("DECIMAL")
    (('INTEGER',), ('NUMERIC', 'DEC'))
    """
    if name == DECIMAL[0]:
        return DECIMAL[1:]
    return tuple(alias for alias, to in _ALIASES.items() if to == name)


def arrow_schema(columns: Schema) -> pa.Schema:
    return pa.schema([(column.name, column.type) for column in columns])
