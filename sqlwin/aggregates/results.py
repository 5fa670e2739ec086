"""Result types of aggregates: argument types in, the result out, None where none such is taken.

They are Spark's: SUM of any integer is a BIGINT, of a DECIMAL one of 10 more digits.

>>> str(summed((pa.decimal128(10, 2),))), str(mean((pa.decimal128(10, 2),)))
('decimal128(20, 2)', 'decimal128(14, 6)')
>>> ordered((pa.list_(pa.int32()),)), plain((pa.list_(pa.int32()),))
(ListType(list<item: int32>), None)
"""

from __future__ import annotations

import pyarrow as pa
from pyarrow import types as is_

BIGINT, DOUBLE, BOOLEAN, STRING = pa.int64(), pa.float64(), pa.bool_(), pa.string()
BINARY = pa.binary()
Types = tuple[pa.DataType, ...]


def summed(types: Types) -> pa.DataType | None:
    if is_.is_integer(types[0]):
        return BIGINT
    if is_.is_decimal(types[0]):
        return pa.decimal128(min(38, types[0].precision + 10), types[0].scale)
    return DOUBLE if is_.is_floating(types[0]) else None


def mean(types: Types) -> pa.DataType | None:
    if is_.is_decimal(types[0]):
        grown = min(38, types[0].precision + 4)
        return pa.decimal128(grown, min(types[0].scale + 4, grown))
    return double(types)


def double(types: Types) -> pa.DataType | None:
    return DOUBLE if all(map(is_numeric, types)) else None


def regressed(types: Types) -> pa.DataType | None:
    """How many pairs."""
    return None if double(types) is None else BIGINT


def mean_x(types: Types) -> pa.DataType | None:
    return double(types) and mean(types[1:])


def mean_y(types: Types) -> pa.DataType | None:
    return double(types) and mean(types[:1])


def nearest(types: Types) -> pa.DataType | None:
    return double(types) or plain(types)


def integral(types: Types) -> pa.DataType | None:
    return types[0] if is_.is_integer(types[0]) else None


def sketched(types: Types) -> pa.DataType | None:
    """What Apache's sketches hash as Spark does."""
    known = (pa.int32(), BIGINT, STRING, BINARY)
    return BINARY if types[0] in known else None


def theta_sketched(types: Types) -> pa.DataType | None:
    return BINARY if types[0] in (pa.float32(), DOUBLE) else sketched(types)


def of_integers(types: Types) -> pa.DataType | None:
    return BINARY if is_.is_integer(types[0]) else None


def of_floats(types: Types) -> pa.DataType | None:
    return BINARY if is_.is_float32(types[0]) else None


def of_doubles(types: Types) -> pa.DataType | None:
    return BINARY if is_.is_floating(types[0]) else None


def united(types: Types) -> pa.DataType | None:
    return BINARY if types[0] == BINARY else None


def measured(types: Types) -> pa.DataType | None:
    """A number, or a time: what a sketch of doubles can hold."""
    return types[0] if is_numeric(types[0]) or is_.is_temporal(types[0]) else None


def boolean(types: Types) -> pa.DataType | None:
    return BOOLEAN if is_.is_boolean(types[0]) else None


def same(types: Types) -> pa.DataType | None:
    return types[0]


def ordered(types: Types) -> pa.DataType | None:
    return types[0] if is_orderable(types[0]) else None


def plain(types: Types) -> pa.DataType | None:
    return None if is_.is_nested(types[0]) else types[0]


def by(types: Types) -> pa.DataType | None:
    return types[0] if is_orderable(types[1]) else None


def count_of_plain(types: Types) -> pa.DataType | None:
    return None if is_.is_nested(types[0]) else BIGINT


def listed(types: Types) -> pa.DataType | None:
    return pa.list_(types[0])


def listed_ordered(types: Types) -> pa.DataType | None:
    return pa.list_(types[0]) if is_orderable(types[0]) else None


def counted_by_value(types: Types) -> pa.DataType | None:
    return mapped((types[0], BIGINT))


def mapped(types: Types) -> pa.DataType | None:
    """Of keys and values; Polars has no value of a map whose keys are nested."""
    return None if is_.is_nested(types[0]) else pa.map_(types[0], types[1])


def text(types: Types) -> pa.DataType | None:
    """BINARY of BINARY; what is another type is cast to STRING first."""
    if types[0] == BINARY:
        return BINARY
    return None if is_.is_nested(types[0]) else STRING


def is_numeric(type_: pa.DataType) -> bool:
    return bool(is_.is_integer(type_) or is_.is_floating(type_) or is_.is_decimal(type_))


def is_orderable(type_: pa.DataType) -> bool:
    """All but MAPs, and what has one inside: of ARRAYs and STRUCTs the first difference decides."""
    if is_.is_map(type_):
        return False
    return all(is_orderable(type_.field(at).type) for at in range(type_.num_fields))


def counted(types: Types) -> pa.DataType:
    return BIGINT
