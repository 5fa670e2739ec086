"""The aggregate functions: their names, arguments and result types.

All of these are incremental: an accumulator of fixed size, lifted from rows,
merged with others, finished into a value. Result types follow Spark SQL.

>>> signature("max_by").name
'arg_max'
>>> str(signature("sum").result((pa.decimal128(10, 2),)))
'decimal128(20, 2)'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import types as is_

BIGINT, DOUBLE, BOOLEAN = pa.int64(), pa.float64(), pa.bool_()
Types = tuple[pa.DataType, ...]


@dataclass(frozen=True)
class Signature:
    """name: canonical. arity: least and greatest number of arguments.

    result: argument types to result type, None where they are not accepted.
    accepts: in words, for messages. example: a legal call.
    """

    name: str
    arity: tuple[int, int]
    result: Callable[[Types], pa.DataType | None]
    accepts: str
    example: str


def _sum(types: Types) -> pa.DataType | None:
    if is_.is_integer(types[0]):
        return BIGINT
    if is_.is_decimal(types[0]):
        return pa.decimal128(min(38, types[0].precision + 10), types[0].scale)
    return DOUBLE if is_.is_floating(types[0]) else None


def _avg(types: Types) -> pa.DataType | None:
    if is_.is_decimal(types[0]):
        grown = min(38, types[0].precision + 4)
        return pa.decimal128(grown, min(types[0].scale + 4, grown))
    return _double(types)


def _double(types: Types) -> pa.DataType | None:
    return DOUBLE if is_numeric(types[0]) else None


def _bool(types: Types) -> pa.DataType | None:
    return BOOLEAN if is_.is_boolean(types[0]) else None


def _same(types: Types) -> pa.DataType | None:
    return types[0]


def _ordered(types: Types) -> pa.DataType | None:
    return types[0] if is_orderable(types[0]) else None


def _by(types: Types) -> pa.DataType | None:
    return types[0] if is_orderable(types[1]) else None


def is_numeric(type_: pa.DataType) -> bool:
    return bool(is_.is_integer(type_) or is_.is_floating(type_) or is_.is_decimal(type_))


def is_orderable(type_: pa.DataType) -> bool:
    return not is_.is_nested(type_)


_NUMERIC, _ORDERABLE = "a number", "a value with an order"

SIGNATURES: tuple[Signature, ...] = (
    Signature("count", (0, 1), lambda types: BIGINT, "anything, or *", "COUNT(*)"),
    Signature("sum", (1, 1), _sum, _NUMERIC, "SUM(value)"),
    Signature("avg", (1, 1), _avg, _NUMERIC, "AVG(value)"),
    Signature("min", (1, 1), _ordered, _ORDERABLE, "MIN(value)"),
    Signature("max", (1, 1), _ordered, _ORDERABLE, "MAX(value)"),
    Signature("stddev_samp", (1, 1), _double, _NUMERIC, "STDDEV(value)"),
    Signature("stddev_pop", (1, 1), _double, _NUMERIC, "STDDEV_POP(value)"),
    Signature("var_samp", (1, 1), _double, _NUMERIC, "VARIANCE(value)"),
    Signature("var_pop", (1, 1), _double, _NUMERIC, "VAR_POP(value)"),
    Signature("first", (1, 1), _same, "anything", "FIRST(value)"),
    Signature("last", (1, 1), _same, "anything", "LAST(value)"),
    Signature("bool_and", (1, 1), _bool, "a BOOLEAN", "BOOL_AND(value > 0)"),
    Signature("bool_or", (1, 1), _bool, "a BOOLEAN", "BOOL_OR(value > 0)"),
    Signature("arg_min", (2, 2), _by, "anything, then " + _ORDERABLE, "ARG_MIN(name, value)"),
    Signature("arg_max", (2, 2), _by, "anything, then " + _ORDERABLE, "ARG_MAX(name, value)"),
)

ALIASES = {
    "mean": "avg",
    "stddev": "stddev_samp",
    "std": "stddev_samp",
    "variance": "var_samp",
    "first_value": "first",
    "last_value": "last",
    "every": "bool_and",
    "some": "bool_or",
    "min_by": "arg_min",
    "max_by": "arg_max",
    "argmin": "arg_min",
    "argmax": "arg_max",
}

_BY_NAME = {known.name: known for known in SIGNATURES}


def signature(name: str) -> Signature | None:
    """The signature of a function or of an alias, in any case; None for no aggregate."""
    lower = name.lower()
    return _BY_NAME.get(ALIASES.get(lower, lower))
