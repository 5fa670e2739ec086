"""Which types Spark turns into one another by itself, in ANSI mode.

`widest` is the type that two operands are brought to; `implicit` says whether an argument of one
type is taken for a parameter of another: of numbers where the parameter is wider, of anything
atomic and STRING where `loose`.

>>> str(widest(pa.int32(), pa.decimal128(3, 1))), str(widest(pa.string(), pa.int8()))
('decimal128(11, 1)', 'int64')
>>> implicit(pa.int32(), pa.int64()), implicit(pa.int64(), pa.int32())
(True, False)
"""

from __future__ import annotations

import pyarrow as pa

from sqlwin.functions.core.types import (
    BIGINT,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    MOST_DIGITS,
    NULL,
    SMALLINT,
    STRING,
    TINYINT,
    UNITS,
    Interval,
    as_decimal,
    is_atomic,
    is_decimal,
    is_float,
    is_integral,
    is_interval,
    is_list,
    is_map,
    is_nested,
    is_numeric,
    is_struct,
)
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ


def _joined(one: Interval, other: Interval) -> Interval | None:
    """With the fields of both, where they are of one family."""
    if one.is_months != other.is_months:
        return None
    first, last = zip(one.fields, other.fields, strict=True)
    return Interval(min(first, key=UNITS.index), max(last, key=UNITS.index))


_TIMES = (DATE, TIMESTAMP_NTZ, TIMESTAMP)
_PRECEDENCE = (TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE)


def widest(one: pa.DataType, other: pa.DataType, loose: bool = True) -> pa.DataType | None:
    """The type both operands become; None where there is none. loose: of a STRING, too."""
    if one == other or other == NULL:
        return one
    if one == NULL:
        return other
    if is_numeric(one) and is_numeric(other):
        return _widest_number(one, other)
    if one in _TIMES and other in _TIMES:
        return max(one, other, key=_TIMES.index)
    if is_interval(one) and is_interval(other):
        return _joined(one, other)
    if STRING in (one, other):
        return _beside_string(other if one == STRING else one) if loose else None
    return _widest_nested(one, other, loose)


def widest_of(types: list[pa.DataType], loose: bool = True) -> pa.DataType | None:
    """Of all of them; VOID where there are none. STRINGs come first, as in Spark."""
    found: pa.DataType | None = NULL
    for type_ in sorted(types, key=lambda type_: type_ != STRING):
        found = None if found is None else widest(found, type_, loose)
    return found


def _widest_number(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    if is_decimal(one) or is_decimal(other):
        if is_float(one) or is_float(other):
            return DOUBLE
        return _widest_decimal(as_decimal(one), as_decimal(other))
    wider = max(one, other, key=_PRECEDENCE.index)
    return DOUBLE if wider == FLOAT and one != other else wider


def _widest_decimal(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    scale = max(one.scale, other.scale)
    whole = max(one.precision - one.scale, other.precision - other.scale)
    kept = min(scale, max(0, MOST_DIGITS - whole))
    return pa.decimal128(min(whole + kept, MOST_DIGITS), kept)


def _beside_string(other: pa.DataType) -> pa.DataType | None:
    if is_integral(other):
        return BIGINT
    if is_numeric(other):
        return DOUBLE
    return other if is_atomic(other) and not is_interval(other) else None


def _widest_nested(one: pa.DataType, other: pa.DataType, loose: bool) -> pa.DataType | None:
    if is_list(one) and is_list(other):
        item = widest(one.value_type, other.value_type, loose)
        return None if item is None else pa.list_(item)
    if is_map(one) and is_map(other):
        key = widest(one.key_type, other.key_type, loose)
        item = widest(one.item_type, other.item_type, loose)
        return None if key is None or item is None else pa.map_(key, item)
    if is_struct(one) and is_struct(other) and one.num_fields == other.num_fields:
        pairs = list(zip(one, other, strict=True))
        types = [widest(mine.type, yours.type, loose) for mine, yours in pairs]
        same = all(mine.name.lower() == yours.name.lower() for mine, yours in pairs)
        if same and None not in types:
            return pa.struct([(field.name, t) for field, t in zip(one, types, strict=True)])
    return None


def implicit(given: pa.DataType, wanted: pa.DataType, loose: bool = False) -> bool:
    """Whether a value is taken for a parameter. loose: also a STRING for anything atomic,
    anything atomic for a STRING, and any number for any other."""
    if given in (wanted, NULL):
        return True
    if is_numeric(given) and is_numeric(wanted):
        return loose or _widens(given, wanted)
    if given in _TIMES and wanted in _TIMES:
        return _TIMES.index(given) < _TIMES.index(wanted)
    if is_nested(given) or is_nested(wanted):
        return bool(widest(given, wanted, loose=False) == wanted)
    if is_interval(given) or is_interval(wanted):
        if wanted == STRING:
            return loose
        return is_interval(given) and is_interval(wanted) and given.is_months == wanted.is_months
    return loose and STRING in (given, wanted)


def _widens(given: pa.DataType, wanted: pa.DataType) -> bool:
    if is_decimal(wanted):
        if is_float(given):
            return False
        exact = as_decimal(given)
        whole = exact.precision - exact.scale <= wanted.precision - wanted.scale
        return bool(whole and exact.scale <= wanted.scale)
    if is_decimal(given):
        return is_float(wanted)
    return _PRECEDENCE.index(given) <= _PRECEDENCE.index(wanted)
