"""The aggregate functions: their names, arguments, constants and result types.

An *incremental* aggregate keeps an accumulator of bounded size, lifted from rows,
merged with others, finished into a value. A *full state* one needs the values
themselves. Result types follow Spark SQL; `docs/aggregates.md` is the table.

>>> signature("max_by").name
'arg_max'
>>> str(signature("sum").result((pa.decimal128(10, 2),)))
'decimal128(20, 2)'
>>> median = signature("percentile_approx")
>>> median.name, median.params, str(median.returns((pa.int32(),), listed=True))
('approx_percentile', (<Param.FRACTION: 'a fraction from 0 to 1'>,), 'list<item: int32>')
>>> signature("sum").keeps_values(distinct=True), signature("min").keeps_values(distinct=True)
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import pyarrow as pa
from pyarrow import types as is_

BIGINT, DOUBLE, BOOLEAN, STRING = pa.int64(), pa.float64(), pa.bool_(), pa.string()
Types = tuple[pa.DataType, ...]


class Param(Enum):
    """The kinds of constants; the value says it in words, for messages."""

    FRACTION = "a fraction from 0 to 1"
    COUNT = "a positive integer"
    TEXT = "a string"

    def accepts(self, value: object) -> bool:
        if self is Param.TEXT:
            return isinstance(value, str)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        return isinstance(value, int) and value > 0 if self is Param.COUNT else 0 <= value <= 1


class Distinct(Enum):
    """What DISTINCT in front of the argument does."""

    REFUSED = "refused"
    SAME = "changes nothing"
    CHANGES = "equal arguments count once"


class Nothing(Enum):
    """The value where no row takes part."""

    NULL = "NULL"
    ZERO = "0"
    EMPTY = "an empty list"


@dataclass(frozen=True)
class Signature:
    """name: canonical. arity: least and greatest number of arguments, constants aside.

    result: argument types to result type, None where they are not accepted.
    accepts: in words, for messages. example: a legal call.
    params: constants after the arguments. defaults: of the last ones, where left out.
    listed: a FRACTION may also be an array of them, and the result then is an array.
    distinct: what DISTINCT does. sorts: ORDER BY (or WITHIN GROUP) is allowed.
    casts: what arguments are cast to before. full_state: all values are kept.
    invertible: a row can be taken out again exactly (sums: integers and DECIMAL).
    exact: False for sketches; bound then tells the error. nothing: of no rows.
    """

    name: str
    arity: tuple[int, int]
    result: Callable[[Types], pa.DataType | None]
    accepts: str
    example: str
    params: tuple[Param, ...] = ()
    defaults: tuple[int | float | str, ...] = ()
    listed: bool = False
    distinct: Distinct = Distinct.REFUSED
    sorts: bool = False
    casts: pa.DataType | None = None
    full_state: bool = False
    invertible: bool = False
    exact: bool = True
    bound: str = ""
    nothing: Nothing = Nothing.NULL

    def returns(self, types: Types, listed: bool = False) -> pa.DataType | None:
        """The result type; listed: the fractions were written as an array."""
        one = self.result(types)
        return one if one is None or not (listed and self.listed) else pa.list_(one)

    @property
    def numeric(self) -> bool:
        """Whether its arguments are numbers: a STRING then is read as a DOUBLE, as in Spark."""
        return self.accepts in (_NUMERIC, _PAIR)

    def keeps_values(self, distinct: bool = False) -> bool:
        """Whether a call keeps all (distinct) values instead of a small accumulator."""
        return self.full_state or (distinct and self.name in _FULL_IF_DISTINCT)


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
    return DOUBLE if all(map(is_numeric, types)) else None


def _nearest(types: Types) -> pa.DataType | None:
    return _double(types) or _ordered(types)


def _measured(types: Types) -> pa.DataType | None:
    """A number, or a time: what a sketch of doubles can hold."""
    return types[0] if is_numeric(types[0]) or is_.is_temporal(types[0]) else None


def _bool(types: Types) -> pa.DataType | None:
    return BOOLEAN if is_.is_boolean(types[0]) else None


def _same(types: Types) -> pa.DataType | None:
    return types[0]


def _ordered(types: Types) -> pa.DataType | None:
    return types[0] if is_orderable(types[0]) else None


def _by(types: Types) -> pa.DataType | None:
    return types[0] if is_orderable(types[1]) else None


def _count_of_ordered(types: Types) -> pa.DataType | None:
    return BIGINT if is_orderable(types[0]) else None


def _list(types: Types) -> pa.DataType | None:
    return pa.list_(types[0])


def _list_of_ordered(types: Types) -> pa.DataType | None:
    return pa.list_(types[0]) if is_orderable(types[0]) else None


def _text(types: Types) -> pa.DataType | None:
    return STRING if is_orderable(types[0]) else None


def is_numeric(type_: pa.DataType) -> bool:
    return bool(is_.is_integer(type_) or is_.is_floating(type_) or is_.is_decimal(type_))


def is_orderable(type_: pa.DataType) -> bool:
    return not is_.is_nested(type_)


_NUMERIC, _ORDERABLE = "a number", "a value with an order"
_PAIR = "two numbers"
_FULL_IF_DISTINCT = ("count", "sum", "avg", "try_sum", "try_avg")

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "count", (0, 1), lambda types: BIGINT, "anything, or *", "COUNT(*)",
        distinct=Distinct.CHANGES, invertible=True, nothing=Nothing.ZERO,
    ),
    Signature(
        "sum", (1, 1), _sum, _NUMERIC, "SUM(value)",
        distinct=Distinct.CHANGES, invertible=True,
    ),
    Signature(
        "avg", (1, 1), _avg, _NUMERIC, "AVG(value)",
        distinct=Distinct.CHANGES, invertible=True,
    ),
    Signature(
        "try_sum", (1, 1), _sum, _NUMERIC, "TRY_SUM(value)",
        distinct=Distinct.CHANGES, invertible=True,
    ),
    Signature(
        "try_avg", (1, 1), _avg, _NUMERIC, "TRY_AVG(value)",
        distinct=Distinct.CHANGES, invertible=True,
    ),
    Signature("min", (1, 1), _ordered, _ORDERABLE, "MIN(value)", distinct=Distinct.SAME),
    Signature("max", (1, 1), _ordered, _ORDERABLE, "MAX(value)", distinct=Distinct.SAME),
    Signature("stddev_samp", (1, 1), _double, _NUMERIC, "STDDEV(value)"),
    Signature("stddev_pop", (1, 1), _double, _NUMERIC, "STDDEV_POP(value)"),
    Signature("var_samp", (1, 1), _double, _NUMERIC, "VARIANCE(value)"),
    Signature("var_pop", (1, 1), _double, _NUMERIC, "VAR_POP(value)"),
    Signature("covar_samp", (2, 2), _double, _PAIR, "COVAR_SAMP(y, x)"),
    Signature("covar_pop", (2, 2), _double, _PAIR, "COVAR_POP(y, x)"),
    Signature("corr", (2, 2), _double, _PAIR, "CORR(y, x)"),
    Signature("first", (1, 1), _same, "anything", "FIRST(value)"),
    Signature("last", (1, 1), _same, "anything", "LAST(value)"),
    Signature(
        "nth_value", (1, 1), _same, "anything", "NTH_VALUE(value, 2)", params=(Param.COUNT,)
    ),
    Signature("nth_last", (1, 1), _same, "anything", "NTH_LAST(value, 2)", params=(Param.COUNT,)),
    Signature(
        "bool_and", (1, 1), _bool, "a BOOLEAN", "BOOL_AND(value > 0)", distinct=Distinct.SAME
    ),
    Signature("bool_or", (1, 1), _bool, "a BOOLEAN", "BOOL_OR(value > 0)", distinct=Distinct.SAME),
    Signature("arg_min", (2, 2), _by, "anything, then " + _ORDERABLE, "ARG_MIN(name, value)"),
    Signature("arg_max", (2, 2), _by, "anything, then " + _ORDERABLE, "ARG_MAX(name, value)"),
    Signature(
        "top_k", (1, 1), _list_of_ordered, _ORDERABLE, "TOP_K(value, 3)",
        params=(Param.COUNT,), distinct=Distinct.CHANGES, nothing=Nothing.EMPTY,
    ),
    Signature(
        "approx_count_distinct", (1, 1), _count_of_ordered, _ORDERABLE,
        "APPROX_COUNT_DISTINCT(value)", distinct=Distinct.SAME, exact=False,
        bound="3.2 % in 95 of 100 cases; exact up to 300 values",
        nothing=Nothing.ZERO,
    ),
    Signature(
        "approx_percentile", (1, 1), _measured, "a number or a time",
        "APPROX_PERCENTILE(value, 0.9)", params=(Param.FRACTION,), listed=True, exact=False,
        bound="rank within 0.02 of the fraction, measured",
    ),
    Signature("median", (1, 1), _double, _NUMERIC, "MEDIAN(value)", full_state=True),
    Signature(
        "percentile_cont", (1, 1), _double, _NUMERIC, "PERCENTILE_CONT(value, 0.9)",
        params=(Param.FRACTION,), listed=True, sorts=True, full_state=True,
    ),
    Signature(
        "percentile_disc", (1, 1), _nearest, _ORDERABLE, "PERCENTILE_DISC(value, 0.9)",
        params=(Param.FRACTION,), listed=True, sorts=True, full_state=True,
    ),
    Signature("mode", (1, 1), _ordered, _ORDERABLE, "MODE(value)", full_state=True),
    Signature(
        "collect_list", (1, 1), _list, "anything", "COLLECT_LIST(value ORDER BY name)",
        distinct=Distinct.CHANGES, sorts=True, full_state=True, nothing=Nothing.EMPTY,
    ),
    Signature(
        "collect_set", (1, 1), _list_of_ordered, _ORDERABLE, "COLLECT_SET(value)",
        distinct=Distinct.SAME, full_state=True, nothing=Nothing.EMPTY,
    ),
    Signature(
        "string_agg", (1, 1), _text, "a value", "STRING_AGG(name, ', ' ORDER BY name)",
        params=(Param.TEXT,), defaults=("",), distinct=Distinct.CHANGES, sorts=True,
        casts=STRING, full_state=True,
    ),
)  # fmt: skip

ALIASES = {
    "mean": "avg",
    "stddev": "stddev_samp",
    "std": "stddev_samp",
    "variance": "var_samp",
    "first_value": "first",
    "last_value": "last",
    "any_value": "first",
    "earliest_by_offset": "first",
    "latest_by_offset": "last",
    "every": "bool_and",
    "some": "bool_or",
    "any": "bool_or",
    "min_by": "arg_min",
    "max_by": "arg_max",
    "argmin": "arg_min",
    "argmax": "arg_max",
    "topk": "top_k",
    "topkdistinct": "top_k",
    "approx_distinct": "approx_count_distinct",
    "percentile_approx": "approx_percentile",
    "approx_quantile": "approx_percentile",
    "percentile": "percentile_cont",
    "quantile_cont": "percentile_cont",
    "quantile": "percentile_disc",
    "quantile_disc": "percentile_disc",
    "array_agg": "collect_list",
    "list": "collect_list",
    "listagg": "string_agg",
    "group_concat": "string_agg",
}
MEAN_DISTINCT = frozenset({"topkdistinct"})
"""Spellings that say DISTINCT without the word."""
SKIP_NULLS = frozenset({"earliest_by_offset", "latest_by_offset"})
"""Spellings that say IGNORE NULLS without the words, as in ksqlDB."""

_BY_NAME = {known.name: known for known in SIGNATURES}


def signature(name: str) -> Signature | None:
    """The signature of a function or of an alias, in any case; None for no aggregate."""
    lower = name.lower()
    return _BY_NAME.get(ALIASES.get(lower, lower))
