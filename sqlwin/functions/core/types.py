"""Types of expressions, their names in Spark and in DuckDB.

A type is an Arrow type, as a column's is. Three more occur only within expressions:

| Spark                  | here                                 | computed as                   |
|------------------------|--------------------------------------|-------------------------------|
| VOID                   | `NULL`                               | DuckDB's INTEGER, always NULL |
| INTERVAL YEAR TO MONTH | `YEAR_MONTH`, `Interval("YEAR")`, …  | INTEGER, months               |
| INTERVAL DAY TO SECOND | `DAY_TIME`, `Interval("DAY")`, …     | BIGINT, microseconds          |

>>> name(pa.list_(pa.struct([("a", pa.int32())])))
'array<struct<a:int>>'
"""

from __future__ import annotations

import re
from functools import cache

import pyarrow as pa

from sqlwin.functions.core.typed import Refused
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

NULL = pa.null()
UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
"""Of intervals: the first two are one family, the others another."""


class Interval(pa.ExtensionType):  # type: ignore[misc]
    """The fields that an interval has, from `first` to `last`: they say how it is printed, and
    whether a DATE stays one when it is added.

    >>> Interval("DAY", "HOUR") == Interval("DAY", "HOUR"), name(Interval("MONTH"))
    (True, 'interval month')
    """

    def __init__(self, first: str, last: str | None = None) -> None:
        self.first, self.last = first, last or first
        super().__init__(pa.int32() if first in UNITS[:2] else pa.int64(), "sqlwin.interval")

    def __arrow_ext_serialize__(self) -> bytes:
        return f"{self.first} {self.last}".encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, _: pa.DataType, serialized: bytes) -> Interval:
        return cls(*serialized.decode().split())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Interval) and self.fields == other.fields

    def __hash__(self) -> int:
        return hash(self.fields)

    def __reduce__(self) -> tuple[type[Interval], tuple[str, str]]:
        return Interval, self.fields

    @property
    def fields(self) -> tuple[str, str]:
        return self.first, self.last

    @property
    def is_months(self) -> bool:
        return self.first in UNITS[:2]

    @property
    def whole(self) -> Interval:
        """With all fields of its family."""
        return YEAR_MONTH if self.is_months else DAY_TIME

    def __str__(self) -> str:
        return "interval " + " to ".join(dict.fromkeys(self.fields)).lower()


YEAR_MONTH, DAY_TIME = Interval("YEAR", "MONTH"), Interval("DAY", "SECOND")


def interval_named(text: str) -> Interval | None:
    """`INTERVAL DAY TO SECOND` and the like; None where it is no interval's name."""
    found = re.fullmatch(r"\s*INTERVAL\s+(\w+)(?:\s+TO\s+(\w+))?\s*", text, re.IGNORECASE)
    first, last = (found[1].upper(), (found[2] or found[1]).upper()) if found else ("", "")
    if first not in UNITS or last not in UNITS or UNITS.index(first) > UNITS.index(last):
        return None
    return Interval(first, last) if (first in UNITS[:2]) == (last in UNITS[:2]) else None


BOOLEAN, STRING, BINARY, DATE = pa.bool_(), pa.string(), pa.binary(), pa.date32()
TINYINT, SMALLINT, INT, BIGINT = pa.int8(), pa.int16(), pa.int32(), pa.int64()
FLOAT, DOUBLE = pa.float32(), pa.float64()
MOST_DIGITS = 38
_DIGITS = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
"""Of a decimal that holds every value of an integral type."""

_NAMES: dict[pa.DataType, tuple[str, str]] = {
    NULL: ("void", "INTEGER"),
    BOOLEAN: ("boolean", "BOOLEAN"),
    TINYINT: ("tinyint", "TINYINT"),
    SMALLINT: ("smallint", "SMALLINT"),
    INT: ("int", "INTEGER"),
    BIGINT: ("bigint", "BIGINT"),
    FLOAT: ("float", "FLOAT"),
    DOUBLE: ("double", "DOUBLE"),
    STRING: ("string", "VARCHAR"),
    BINARY: ("binary", "BLOB"),
    DATE: ("date", "DATE"),
    TIMESTAMP: ("timestamp", "TIMESTAMPTZ"),
    TIMESTAMP_NTZ: ("timestamp_ntz", "TIMESTAMP"),
}
"""Spark's name and DuckDB's."""


def is_integral(type_: pa.DataType) -> bool:
    return type_ in _DIGITS


def is_float(type_: pa.DataType) -> bool:
    """FLOAT or DOUBLE."""
    return bool(pa.types.is_floating(type_))


def is_decimal(type_: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(type_))


def is_numeric(type_: pa.DataType) -> bool:
    return is_integral(type_) or is_float(type_) or is_decimal(type_)


def is_interval(type_: pa.DataType) -> bool:
    return isinstance(type_, Interval)


def holds_interval(type_: pa.DataType) -> bool:
    """It is one, or has one within."""
    if is_list(type_):
        return holds_interval(type_.value_type)
    if is_map(type_):
        return holds_interval(type_.key_type) or holds_interval(type_.item_type)
    if is_struct(type_):
        return any(holds_interval(field.type) for field in type_)
    return is_interval(type_)


def holds_wall_clock(type_: pa.DataType) -> bool:
    """It is a TIMESTAMP_NTZ, or has one within."""
    inner = (type_.field(at).type for at in range(type_.num_fields))
    return type_ == TIMESTAMP_NTZ or any(map(holds_wall_clock, inner))


def intervals_as_text(type_: pa.DataType) -> pa.DataType:
    """STRING for each INTERVAL, which has no place in a column."""
    if is_list(type_):
        return pa.list_(intervals_as_text(type_.value_type))
    if is_map(type_):
        return pa.map_(intervals_as_text(type_.key_type), intervals_as_text(type_.item_type))
    if is_struct(type_):
        return pa.struct([(field.name, intervals_as_text(field.type)) for field in type_])
    return STRING if is_interval(type_) else type_


def is_list(type_: pa.DataType) -> bool:
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_))


def is_map(type_: pa.DataType) -> bool:
    return bool(pa.types.is_map(type_))


def is_struct(type_: pa.DataType) -> bool:
    return bool(pa.types.is_struct(type_))


def is_nested(type_: pa.DataType) -> bool:
    return is_list(type_) or is_map(type_) or is_struct(type_)


def is_atomic(type_: pa.DataType) -> bool:
    return type_ != NULL and not is_nested(type_)


def is_orderable(type_: pa.DataType) -> bool:
    """Maps are not, nor what holds one."""
    if is_list(type_):
        return is_orderable(type_.value_type)
    if is_struct(type_):
        return all(is_orderable(field.type) for field in type_)
    return not is_map(type_)


def name(type_: pa.DataType) -> str:
    """What Spark calls it: its `simpleString`."""
    if is_decimal(type_):
        return f"decimal({type_.precision},{type_.scale})"
    if is_list(type_):
        return f"array<{name(type_.value_type)}>"
    if is_map(type_):
        return f"map<{name(type_.key_type)},{name(type_.item_type)}>"
    if is_struct(type_):
        return f"struct<{','.join(f'{field.name}:{name(field.type)}' for field in type_)}>"
    known = _NAMES.get(type_)
    return str(type_) if known is None else known[0]


@cache
def engine_name(type_: pa.DataType) -> str:
    """What DuckDB calls the type that its values are computed as."""
    if is_decimal(type_):
        return f"DECIMAL({type_.precision}, {type_.scale})"
    if is_list(type_):
        return f"{engine_name(type_.value_type)}[]"
    if is_map(type_):
        return f"MAP({engine_name(type_.key_type)}, {engine_name(type_.item_type)})"
    if is_struct(type_):
        fields = (f"{_quoted(field.name)} {engine_name(field.type)}" for field in type_)
        return f"STRUCT({', '.join(fields)})"
    known = _NAMES.get(computed_as(type_))
    if known is None:
        raise Refused(f"expressions have no values of {type_}", legal="a CAST in the source")
    return known[1]


def computed_as(type_: pa.DataType) -> pa.DataType:
    """The Arrow type of the values while they are computed: of intervals, a number's."""
    if is_list(type_):
        return pa.list_(computed_as(type_.value_type))
    if is_map(type_):
        return pa.map_(computed_as(type_.key_type), computed_as(type_.item_type))
    if is_struct(type_):
        return pa.struct([(field.name, computed_as(field.type)) for field in type_])
    if is_interval(type_):
        return type_.storage_type
    return INT if type_ == NULL else type_


def as_decimal(type_: pa.DataType) -> pa.DataType:
    """The decimal that holds every value of an integral type, or a decimal itself."""
    return type_ if is_decimal(type_) else pa.decimal128(_DIGITS[type_], 0)


def bounded_decimal(precision: int, scale: int) -> pa.DataType:
    """Of a result: where 38 digits do not do, fractions are given up, but for 6 of them."""
    if precision <= MOST_DIGITS:
        return pa.decimal128(precision, scale)
    whole = precision - scale
    return pa.decimal128(MOST_DIGITS, max(MOST_DIGITS - whole, min(scale, 6)))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
